// @ts-check
/** What a request of the panel that failed is shown as: a sentence and what can be done. Pure. */

import { NetworkError } from "../services/api.js";
import { t } from "../strings.js";

/** @typedef {import("../types.js").Failure} Failure */

/**
 * @param {unknown} error
 * @param {"request" | "approval"} [during]
 * @returns {Failure}
 */
export function failureOf(error, during = "request") {
  const retry = during === "approval" ? [] : ["retry"];
  if (error instanceof NetworkError) {
    return { code: "server", message: t("error.server"), actions: retry };
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  if (code === "turn_running") {
    return { code, message: t("error.running"), actions: ["dismiss"] };
  }
  const said = error instanceof Error ? error.message : String(error);
  const message = during === "approval" ? `${t("approval.failed")} ${said}` : said;
  return { code, message, actions: retry };
}

/** @returns {Failure} for a stream that breaks its own rules */
export const brokenStream = () => ({
  code: "garbage",
  message: t("error.stream"),
  actions: ["retry"],
});

/** @param {string} message @returns {Failure} for an error that came without a code */
export const namelessError = (message) => ({ code: "internal", message, actions: ["retry"] });
