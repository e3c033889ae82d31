// @ts-check
/**
 * A row of buttons that is one tab stop: the arrow keys, Home and End go from button to button
 * (the toolbar pattern of the ARIA Authoring Practices).
 */

import { h } from "./dom.js";

const STEPS = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });

/**
 * @param {string} label
 * @param {Record<string, unknown>} attributes
 * @returns {{element: HTMLElement, fill(content: readonly (Node | string)[]): void}} `fill` replaces
 *   the row's content; a button that had the focus is found again by its label
 */
export function createToolbar(label, attributes) {
  const element = h("div", { role: "toolbar", "aria-label": label, ...attributes });

  const buttons = () =>
    /** @type {HTMLButtonElement[]} */ ([...element.querySelectorAll("button")]).filter(
      (one) => !one.disabled,
    );

  /** @param {HTMLButtonElement | undefined} stop */
  const setStop = (stop) => {
    for (const one of element.querySelectorAll("button")) one.tabIndex = one === stop ? 0 : -1;
  };

  element.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLButtonElement) setStop(target);
  });
  element.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    if (at < 0) return;
    const ends = /** @type {Record<string, number>} */ ({ Home: 0, End: all.length - 1 });
    const next = ends[event.key] ?? (at + (STEPS[event.key] ?? 0) + all.length) % all.length;
    if (!(event.key in ends) && !(event.key in STEPS)) return;
    event.preventDefault();
    all[next].focus();
  });

  return {
    element,
    fill(content) {
      const active = document.activeElement;
      const name = element.contains(active) ? active?.getAttribute("aria-label") : null;
      element.replaceChildren(...content);
      const same = name && buttons().find((one) => one.getAttribute("aria-label") === name);
      setStop(same || buttons()[0]);
      if (same) same.focus({ preventScroll: true });
    },
  };
}
