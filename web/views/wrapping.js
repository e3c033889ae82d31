// @ts-check
/** Whether long lines of code are wrapped: one choice for all code blocks of the panel. */

import { t } from "../strings.js";
import { h } from "./dom.js";

let wraps = false;

/** A button that asks the panel to wrap lines, or to stop (the event `ca-wrap`). */
export function createWrapButton() {
  const button = h(
    "button",
    { type: "button", class: "ca-copy ca-wrap", "aria-pressed": String(wraps) },
    t("markdown.wrap"),
  );
  button.addEventListener("click", () =>
    button.dispatchEvent(new CustomEvent("ca-wrap", { bubbles: true, detail: !wraps })),
  );
  return button;
}

/**
 * Follows the buttons in the panel.
 * @param {HTMLElement} panel
 * @param {boolean} first the choice so far
 * @param {(wraps: boolean) => unknown} keep
 */
export function followWrapping(panel, first, keep) {
  /** @param {boolean} value */
  const set = (value) => {
    wraps = value;
    panel.classList.toggle("ca-panel--wrap", value);
    for (const one of panel.querySelectorAll(".ca-wrap")) {
      one.setAttribute("aria-pressed", String(value));
    }
  };
  panel.addEventListener("ca-wrap", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    set(detail);
    keep(detail);
  });
  set(first);
}
