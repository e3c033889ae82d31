// @ts-check
/**
 * How full the model's window is: a small bar with its percentage, and the report that it opens.
 */

import { t } from "../strings.js";
import { number, percent } from "../text/format.js";
import { reportDetails, reportLines, reportNotes, share, usable } from "../text/report.js";
import { h, setText, show } from "./dom.js";

/** @typedef {import("../types.js").ContextReport} ContextReport */

/** @param {() => void} onOpen */
export function createMeter(onOpen) {
  const fill = h("span", { class: "ca-meter__fill" });
  const words = h("span", { class: "ca-meter__words" });
  const element = h(
    "button",
    { type: "button", class: "ca-meter", hidden: true, onclick: onOpen, "aria-haspopup": "dialog" },
    h("span", { class: "ca-meter__bar" }, fill),
    words,
  );
  return {
    element,
    /** @param {ContextReport | null} report */
    update(report) {
      show(element, report !== null);
      if (!report) return;
      const used = percent(share(report));
      fill.style.width = `${Math.round(share(report) * 100)}%`;
      setText(words, used);
      const label = t("meter.label", { percent: used });
      element.setAttribute("aria-label", label);
      element.title = label;
    },
  };
}

/** @param {ContextReport | null} report @returns {HTMLElement[]} the content of the popover */
export function reportContent(report) {
  const title = h("h3", {}, t("report.title"));
  if (!report) return [title, h("p", { class: "ca-quiet" }, t("report.empty"))];
  const window = usable(report);
  const total = t("report.total", { used: number(report.total.tokens), window: number(window) });
  const lines = reportLines(report);
  const bar = h("div", { class: "ca-bar", role: "img", "aria-label": total });
  for (const line of lines) {
    const part = h("span", { class: `ca-bar__part ca-color--${line.kind}` });
    part.style.width = `${Math.min(100, (line.tokens / window) * 100)}%`;
    bar.append(part);
  }
  const legend = lines.map((line) =>
    h(
      "li",
      {},
      h("span", { class: `ca-key ca-color--${line.kind}` }),
      h("span", { class: "ca-grow" }, line.label),
      h("span", { class: "ca-quiet" }, number(line.tokens)),
    ),
  );
  const reserve = t("report.reserve", { count: number(report.reserve) });
  return [
    h("div", { class: "ca-popover__head" }, title, h("span", { class: "ca-quiet" }, total)),
    bar,
    h("ul", { class: "ca-legend" }, ...legend),
    h("p", { class: "ca-quiet" }, [...reportNotes(report), reserve].join(" ")),
    h(
      "details",
      { class: "ca-card__details ca-card__details--plain" },
      h("summary", {}, t("report.details")),
      h(
        "dl",
        { class: "ca-facts" },
        ...reportDetails(report).flatMap(([name, value]) => [
          h("dt", {}, name),
          h("dd", {}, value),
        ]),
      ),
    ),
  ];
}
