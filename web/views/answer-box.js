// @ts-check
/** The text box of a card that asks: Enter sends, Escape empties it. */

import { h, iconButton, show } from "./dom.js";
import { isComposing } from "./isolation.js";
import { t } from "../strings.js";

/**
 * @param {string} placeholder
 * @param {string} label
 * @param {(text: string) => unknown} send gets a text that is not empty
 */
export function createAnswerBox(placeholder, label, send) {
  const area = h("textarea", {
    class: "ca-answer__text",
    rows: "1",
    placeholder,
    "aria-label": label,
  });
  const go = iconButton("up", t("composer.send"), {
    class: "ca-icon-button--small ca-answer__go",
    onclick: () => submit(),
    hidden: true,
  });
  const element = h("div", { class: "ca-answer" }, area, go);

  const taken = () => {
    const text = area.value.trim();
    area.value = "";
    show(go, false);
    return text;
  };
  const submit = () => {
    if (area.value.trim()) send(taken());
  };
  area.addEventListener("input", () => show(go, area.value.trim() !== ""));
  area.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && area.value) {
      // The same Escape must not do anything else.
      event.stopPropagation();
      taken();
    }
  });

  return {
    element,
    area,
    /** @returns {string} the text, which is taken out of the box */
    take: taken,
    /** @param {boolean} value */
    disable(value) {
      area.disabled = value;
      go.disabled = value;
    },
  };
}

/**
 * Gives the focus of the empty text box below the conversation to a question that has come.
 * @param {HTMLElement} card
 */
export function takeFocus(card) {
  // The card may come into the page after this call.
  requestAnimationFrame(() => {
    const active = document.activeElement;
    const isFree = active instanceof HTMLTextAreaElement && active.matches(".ca-composer__text");
    if (isFree && !active.value && card.isConnected) card.focus({ preventScroll: true });
  });
}
