// @ts-check
/**
 * Buttons that put a text of an answer into the selected prompt node. All of them are disabled, with
 * the reason, while no selected node takes a text.
 */

import { t } from "../strings.js";
import { nameOf } from "../text/plain.js";
import { h, icon, setText } from "./dom.js";

/** @typedef {import("../services/prompt-target.js").Target} Target */

/** Milliseconds that a button says that the text is there. */
const PUT_TIME = 1600;
/** Events in the page after which another node may be selected. */
const MAY_SELECT = ["pointerup", "keyup", "focusin"];

/** @type {Target} */
let known = { name: "", reason: "none" };

/** @param {Target} target @returns {string} what the button says on hover */
const hint = ({ name, reason }) =>
  reason ? t(`put.${reason}`, { name: nameOf(name) }) : t("put.into", { name: nameOf(name) });

/** @param {HTMLElement} button */
function mark(button) {
  button.setAttribute("aria-disabled", String(known.reason !== ""));
  button.title = hint(known);
}

/**
 * @param {() => string} text called on each click
 * @param {{words?: boolean}} [look] `words`: a text button instead of an icon
 */
export function createPutButton(text, { words = false } = {}) {
  const label = t(words ? "put.label.short" : "put.label");
  const face = words ? h("span", {}, t("put.short")) : icon("into");
  const button = h(
    "button",
    {
      type: "button",
      class: `ca-put ${words ? "ca-copy" : "ca-icon-button ca-icon-button--small"}`,
      "aria-label": label,
    },
    face,
  );
  mark(button);
  // A click must not end the selection of the passage that it puts in.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const done = () => {
      button.setAttribute("aria-label", t("put.done"));
      if (words) setText(face, t("put.done"));
      else button.replaceChildren(icon("check"));
      setTimeout(() => {
        button.setAttribute("aria-label", label);
        if (words) setText(face, t("put.short"));
        else button.replaceChildren(face);
      }, PUT_TIME);
    };
    const detail = { text: text(), done };
    button.dispatchEvent(new CustomEvent("ca-put", { bubbles: true, detail }));
  });
  return button;
}

/**
 * Follows the buttons in the panel, and the selection on the canvas.
 * @param {HTMLElement} panel
 * @param {{target(): Target, put(text: string): boolean}} canvas
 * @returns {() => void} ends it
 */
export function followPutting(panel, canvas) {
  let frame = 0;
  const look = () => {
    frame = 0;
    const next = canvas.target();
    if (next.reason === known.reason && next.name === known.name) return;
    known = next;
    for (const button of panel.querySelectorAll(".ca-put")) {
      mark(/** @type {HTMLElement} */ (button));
    }
  };
  // The canvas selects a node after the event that we see.
  const soon = () => {
    frame ||= requestAnimationFrame(look);
  };
  panel.addEventListener("ca-put", (event) => {
    const { text, done } = /** @type {CustomEvent} */ (event).detail;
    look();
    if (!known.reason && canvas.put(text)) done();
  });
  for (const name of MAY_SELECT) document.addEventListener(name, soon, true);
  look();
  return () => {
    cancelAnimationFrame(frame);
    for (const name of MAY_SELECT) document.removeEventListener(name, soon, true);
  };
}

/**
 * @param {HTMLElement} answer
 * @returns {string} the passage that is selected in the answer, else all its text as it is shown
 */
export function passageOf(answer) {
  const selected = document.getSelection();
  const passage = selected && selected.toString().trim();
  if (passage && selected.anchorNode && answer.contains(selected.anchorNode)) return passage;
  const blocks = [...answer.querySelectorAll(".ca-block, .ca-code code")];
  return blocks
    .filter((block) => !block.closest(".ca-reasoning"))
    .map((block) => (block.tagName === "CODE" ? block.textContent : textIn(block)))
    .map((text) => text?.trim())
    .filter(Boolean)
    .join("\n\n");
}

/** @param {Element} block @returns {string} */
const textIn = (block) =>
  block instanceof HTMLElement ? block.innerText : (block.textContent ?? "");
