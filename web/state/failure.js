// @ts-check
/**
 * Turns an error of the panel's own request into the text and actions of an error card, and says
 * whether to repeat the request. Pure.
 */

import { ApiError, NetworkError } from "../services/api.js";
import { PASSING } from "../services/events.js";
import { t } from "../strings.js";

/** @typedef {import("../types.js").Failure} Failure */

/** The status of a request that is larger than the server takes. */
const TOO_LARGE = 413;
/**
 * Actions of the error card. A decision is repeated on its approval card, so its error card has no
 * button; other small actions can only be dismissed.
 */
const ACTIONS = { request: ["retry"], approval: [], action: ["dismiss"] };

/**
 * @param {unknown} error
 * @param {"request" | "approval" | "action"} [during]
 * @returns {Failure}
 */
export function failureOf(error, during = "request") {
  const actions = ACTIONS[during];
  const { code, said } = wordsOf(error);
  // The message is in the composer again, where its attachments can be removed.
  if (error instanceof ApiError && error.status === TOO_LARGE) {
    return { code: "request_too_large", message: said, actions: ["dismiss"] };
  }
  if (code === "turn_running") return { code, message: t("error.running"), actions: ["dismiss"] };
  const message = during === "approval" ? `${t("approval.failed")} ${said}` : said;
  return { code, message, actions };
}

/** @param {unknown} error @returns {boolean} whether the same request may be taken a moment later */
export const passes = (error) =>
  error instanceof NetworkError || (error instanceof ApiError && PASSING.has(error.status));

/** @param {unknown} error @returns {{code: string, said: string}} */
function wordsOf(error) {
  if (error instanceof NetworkError) return { code: "server", said: t("error.server") };
  if (!(error instanceof Error)) return { code: "failed", said: String(error) };
  return { code: "code" in error ? String(error.code) : "failed", said: error.message };
}
