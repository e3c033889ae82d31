// @ts-check
/**
 * A dialog above the composer, one at a time; closed by Escape, by a click elsewhere, or by the
 * button that opened it. The focus moves into the dialog and returns on closing.
 */

import { h, present } from "./dom.js";
import { isComposing } from "./isolation.js";

export function createPopover() {
  const element = h("div", { class: "ca-popover", role: "dialog", hidden: true, tabindex: "-1" });
  let name = "";
  /** @type {HTMLElement | null} */
  let opener = null;

  const close = () => {
    if (element.hidden) return;
    const inside = element.contains(document.activeElement);
    element.hidden = true;
    name = "";
    document.removeEventListener("pointerdown", outside, true);
    if (inside) opener?.focus();
  };

  /** @param {Event} event */
  const outside = (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!element.contains(target) && !opener?.contains(target)) close();
  };

  element.addEventListener("keydown", (event) => {
    if (isComposing(event) || event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });

  return {
    element,
    close,
    /** @returns {string} name of the content; "" if closed */
    name: () => name,
    /** @param {readonly import("./dom.js").Child[]} content replaces the content */
    fill: (content) => element.replaceChildren(...present(content)),
    /**
     * Opens the dialog, or closes it if it shows the content of that name.
     * @param {string} next
     * @param {string} label
     * @param {readonly import("./dom.js").Child[]} content
     * @param {HTMLElement | null} [from] gets the focus on closing
     */
    toggle(next, label, content, from = null) {
      if (name === next) {
        close();
        return;
      }
      const active = document.activeElement;
      opener = from ?? (active instanceof HTMLElement ? active : null);
      name = next;
      element.setAttribute("aria-label", label);
      element.replaceChildren(...present(content));
      element.hidden = false;
      document.addEventListener("pointerdown", outside, true);
      element.focus();
    },
  };
}
