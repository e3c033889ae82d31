// @ts-check
/**
 * The context report, opened by the meter: a bar with the parts of the request, notes, and the raw
 * numbers, folded at first.
 */

import { t } from "../strings.js";
import { number } from "../text/format.js";
import {
  reportDetails,
  reportLines,
  reportNotes,
  reportTriggers,
  usable,
} from "../text/report.js";
import { button, h, setText, show } from "./dom.js";

/** @typedef {import("../types.js").ContextReport} ContextReport */

/** @param {() => unknown} summarise starts a summary of older messages */
export function createReport(summarise) {
  // Kept when a new report is drawn.
  let unfolded = false;

  /** @param {ContextReport} report @param {boolean} busy */
  const actions = (report, busy) => {
    const facts = h(
      "dl",
      { class: "ca-facts", hidden: !unfolded },
      ...reportDetails(report).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    );
    const fold = button(words(unfolded), "quiet", () => {
      unfolded = !unfolded;
      show(facts, unfolded);
      setText(fold, words(unfolded));
      fold.setAttribute("aria-expanded", String(unfolded));
    });
    fold.setAttribute("aria-expanded", String(unfolded));
    const now = button(t("report.summarise"), "plain", summarise, { disabled: busy });
    return [h("div", { class: "ca-actions" }, now, fold), facts];
  };

  return {
    /**
     * @param {ContextReport | null} report
     * @param {boolean} busy whether a turn runs in the chat
     * @returns {HTMLElement[]}
     */
    content(report, busy) {
      const title = h("h3", {}, t("report.title"));
      if (!report) return [title, h("p", { class: "ca-quiet" }, t("report.empty"))];
      const window = usable(report);
      const values = { used: number(report.total.tokens), window: number(window) };
      const total = t("report.total", values);
      return [
        h("div", { class: "ca-popover__head" }, title, h("span", { class: "ca-quiet" }, total)),
        ...bar(report, window, total),
        h("p", { class: "ca-quiet ca-report__notes" }, reportNotes(report).join(" ")),
        ...limits(report),
        ...actions(report, busy),
      ];
    },
  };
}

/** @param {boolean} unfolded */
const words = (unfolded) => t(unfolded ? "report.fold" : "report.details");

/** @param {ContextReport} report */
function limits(report) {
  const triggers = reportTriggers(report);
  if (!triggers) return [];
  return [
    h("p", { class: "ca-quiet ca-report__notes" }, triggers.heading),
    h("ul", { class: "ca-quiet ca-report__limits" }, ...triggers.lines.map((line) => h("li", {}, line))),
    h("p", { class: "ca-quiet ca-report__notes" }, triggers.due),
  ];
}

/** @param {ContextReport} report @param {number} window @param {string} total */
function bar(report, window, total) {
  const lines = reportLines(report);
  const parts = lines.map((line) => {
    const part = h("span", { class: `ca-bar__part ca-color--${line.kind}`, title: line.label });
    part.style.width = `${Math.min(100, (line.tokens / window) * 100)}%`;
    return part;
  });
  const legend = lines.map((line) =>
    h(
      "li",
      {},
      h("span", { class: `ca-key ca-color--${line.kind}` }),
      h("span", { class: "ca-grow" }, line.label),
      h("span", { class: "ca-quiet" }, number(line.tokens)),
    ),
  );
  return [
    h("div", { class: "ca-bar", role: "img", "aria-label": total }, ...parts),
    h("ul", { class: "ca-legend" }, ...legend),
  ];
}
