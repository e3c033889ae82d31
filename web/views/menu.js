// @ts-check
/**
 * A menu below a button, one at a time, operated by mouse or keys (arrows, Home, End, Escape; ARIA
 * menu pattern). On closing, the focus returns to the button.
 */

import { h } from "./dom.js";
import { isComposing } from "./isolation.js";

/** @typedef {{label: string, run: () => unknown, danger?: boolean}} MenuItem */

/** Pixels between the button and the menu, and from the panel's edges. */
const GAP = 4;

export function createMenu() {
  const element = h("div", { class: "ca-menu", role: "menu", hidden: true });
  /** @type {HTMLElement | null} */
  let opener = null;

  /** @param {boolean} [back] whether the focus returns to the button */
  const close = (back = true) => {
    if (!opener) return;
    opener.setAttribute("aria-expanded", "false");
    if (back) opener.focus();
    opener = null;
    element.hidden = true;
    element.replaceChildren();
    document.removeEventListener("pointerdown", outside, true);
  };

  /** @param {Event} event */
  const outside = (event) => {
    const target = /** @type {Node} */ (event.target);
    if (!element.contains(target) && !opener?.contains(target)) close(false);
  };

  /** @param {HTMLElement} button */
  const place = (button) => {
    const panel = element.offsetParent?.getBoundingClientRect();
    const box = button.getBoundingClientRect();
    if (!panel) return;
    const below = box.bottom - panel.top + GAP;
    const above = box.top - panel.top - GAP - element.offsetHeight;
    const fits = below + element.offsetHeight + GAP <= panel.height;
    element.style.top = `${Math.max(GAP, fits ? below : above)}px`;
    element.style.right = `${Math.max(GAP, panel.right - box.right)}px`;
  };

  /** @param {MenuItem} item */
  const row = (item) =>
    h(
      "button",
      {
        type: "button",
        role: "menuitem",
        tabindex: "-1",
        class: `ca-menu__item${item.danger ? " ca-menu__item--danger" : ""}`,
        onclick: () => {
          close();
          item.run();
        },
      },
      item.label,
    );

  element.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    const rows = /** @type {HTMLElement[]} */ ([...element.children]);
    const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (event.key === "ArrowDown") rows[(at + 1) % rows.length].focus();
    else if (event.key === "ArrowUp") rows[(at - 1 + rows.length) % rows.length].focus();
    else if (event.key === "Home") rows[0].focus();
    else if (event.key === "End") rows[rows.length - 1].focus();
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") close();
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  });

  return {
    element,
    close: () => close(false),
    /**
     * Opens the menu below the button, or closes it if this button opened it.
     * @param {HTMLElement} button
     * @param {readonly MenuItem[]} items
     */
    toggle(button, items) {
      const again = opener === button;
      close(again);
      if (again) return;
      opener = button;
      button.setAttribute("aria-expanded", "true");
      element.setAttribute("aria-label", button.getAttribute("aria-label") ?? "");
      element.replaceChildren(...items.map(row));
      element.hidden = false;
      place(button);
      document.addEventListener("pointerdown", outside, true);
      /** @type {HTMLElement} */ (element.firstElementChild).focus({ preventScroll: true });
    },
  };
}
