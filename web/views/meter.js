// @ts-check
/** The context meter: a button with the used share of the model's window; opens the report. */

import { t } from "../strings.js";
import { percent } from "../text/format.js";
import { share } from "../text/report.js";
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
