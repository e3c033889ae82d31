// @ts-check
/** A switch: a button that is on or off (ARIA switch pattern). */

import { h } from "./dom.js";

/** @param {string} label @param {(checked: boolean) => unknown} change */
export function createSwitch(label, change) {
  const element = h(
    "button",
    {
      type: "button",
      role: "switch",
      class: "ca-switch",
      "aria-checked": "false",
      onclick: () => change(element.getAttribute("aria-checked") !== "true"),
    },
    h("span", { class: "ca-grow" }, label),
    h("span", { class: "ca-switch__track", "aria-hidden": "true" }),
  );
  return {
    element,
    /** @param {boolean} checked @param {boolean} disabled */
    update(checked, disabled) {
      element.setAttribute("aria-checked", String(checked));
      if (element.disabled !== disabled) element.disabled = disabled;
    },
  };
}
