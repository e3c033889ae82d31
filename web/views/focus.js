// @ts-check
/**
 * The law: while a person works in the panel, no key reaches ComfyUI. ComfyUI has shortcuts of one
 * letter on the whole page, so the focus must not fall to the page when the focused element is
 * removed, hidden or disabled: then the text box gets the focus, or else the panel itself.
 */

import { isComposing } from "./isolation.js";

/** Elements that use letters themselves. */
const TAKES_LETTERS =
  "input, textarea, select, [contenteditable], [role=menu], [role=listbox], [role=dialog]";

/**
 * @param {HTMLElement} panel gets the focus by a click between its controls
 * @param {() => HTMLElement | null} fallback gets the focus of an element that goes away; null: the
 *   panel itself
 * @returns {() => void} ends it
 */
export function keepFocusInside(panel, fallback) {
  panel.tabIndex = -1;
  let inside = panel.contains(document.activeElement);
  let frame = 0;

  const catchFocus = () => {
    if (!inside || !panel.isConnected) return;
    const active = document.activeElement;
    if (active && active !== document.body && !(panel.contains(active) && isGone(active))) return;
    (fallback() ?? panel).focus({ preventScroll: true });
  };

  /**
   * The browser takes the focus from a hidden or disabled element at the end of the frame: a key may
   * come before the next one.
   */
  const soon = () => {
    catchFocus();
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      catchFocus();
    });
  };

  /** Where the person works: in the panel, or elsewhere in the page. @param {Event} event */
  const note = (event) => {
    inside = panel.contains(/** @type {Node} */ (event.target));
  };

  const changes = new MutationObserver(() => {
    if (inside) soon();
  });
  changes.observe(panel, {
    subtree: true,
    childList: true,
    attributes: true,
    attributeFilter: ["hidden", "disabled"],
  });
  document.addEventListener("focusin", note, true);
  document.addEventListener("pointerdown", note, true);

  return () => {
    changes.disconnect();
    cancelAnimationFrame(frame);
    document.removeEventListener("focusin", note, true);
    document.removeEventListener("pointerdown", note, true);
  };
}

/** @param {Element} element @returns {boolean} whether it cannot have the focus any more */
const isGone = (element) =>
  element.closest("[hidden]") !== null ||
  /** @type {HTMLButtonElement} */ (element).disabled === true;

/**
 * A letter that is typed where nothing takes letters goes into the text box.
 * @param {HTMLElement} area
 * @param {HTMLTextAreaElement} textBox
 */
export function typeInto(area, textBox) {
  area.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (isComposing(event) || event.defaultPrevented || ctrlKey || metaKey || altKey) return;
    if (Array.from(key).length !== 1 || key === " ") return;
    if (textBox.closest("[hidden]") || /** @type {Element} */ (target).closest(TAKES_LETTERS)) return;
    // The browser puts the letter where the focus is when the event has been handled.
    textBox.focus({ preventScroll: true });
  });
}
