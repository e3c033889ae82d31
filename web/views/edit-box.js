// @ts-check
/** Edits a statement in its place: Enter saves, Escape leaves it as it was. */

import { t } from "../strings.js";
import { button, h } from "./dom.js";
import { isComposing } from "./isolation.js";

/**
 * @param {object} box
 * @param {string} box.label
 * @param {string} box.value
 * @param {number} box.most characters
 * @param {(text: string) => Promise<boolean>} box.save false: refused, the box stays
 * @param {() => void} box.end the box has done its work, and the focus goes back
 * @param {HTMLElement} [box.beside] stands before the buttons
 * @returns {{element: HTMLElement, focus(): void}}
 */
export function createEditBox({ label, value, most, save, end, beside }) {
  const area = h("textarea", {
    class: "ca-edit__text",
    rows: "1",
    maxlength: most,
    "aria-label": label,
  });
  area.value = value;
  const keep = button(t("memory.save"), "primary", () => void submit(), {
    class: "ca-button ca-button--primary ca-button--small",
  });
  const cancel = button(t("memory.cancel"), "quiet", end, {
    class: "ca-button ca-button--quiet ca-button--small",
  });
  const element = h(
    "div",
    { class: "ca-edit-box" },
    area,
    h("div", { class: "ca-edit-box__row" }, beside, keep, cancel),
  );

  async function submit() {
    const text = area.value.trim();
    if (!text || keep.disabled) return;
    keep.disabled = true;
    if (await save(text)) end();
    else keep.disabled = false;
  }

  element.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      end();
    } else if (event.key === "Enter" && event.target === area && !event.shiftKey) {
      event.preventDefault();
      void submit();
    }
  });

  return {
    element,
    focus() {
      area.focus();
      area.setSelectionRange(area.value.length, area.value.length);
    },
  };
}
