// @ts-check
/** The result of a provider's test: one line for chat, one for tools. */

import { t } from "../strings.js";
import { duration, errorText } from "../text/format.js";
import { h, icon } from "./dom.js";

/** @typedef {import("../types.js").TestResult} TestResult */

/** @param {unknown} error */
export const failedLine = (error) =>
  h("p", { class: "ca-problem", role: "alert" }, errorText(error));

/** @param {() => Promise<TestResult>} test @returns {Promise<HTMLElement[]>} */
export async function outcomeOf(test) {
  try {
    const result = await test();
    return [line(t("settings.chat"), result.chat), line(t("settings.tools"), result.tools)];
  } catch (error) {
    return [failedLine(error)];
  }
}

/** @param {string} name @param {import("../types.js").TestLine} result */
const line = (name, result) =>
  h(
    "div",
    { class: `ca-test__line ca-test__line--${result.ok ? "ok" : "bad"}` },
    icon(result.ok ? "check" : "cross"),
    h("strong", {}, name),
    h("span", { class: "ca-grow" }, result.message),
    result.ms !== undefined && h("span", { class: "ca-quiet" }, duration(result.ms)),
  );
