// @ts-check
/**
 * Keeps keyboard, clipboard and drag events of the panel from ComfyUI, which listens on the whole
 * page: Delete would remove the selected nodes, a pasted picture would become a node, and a dropped
 * file would replace the workflow.
 */

import { t } from "../strings.js";

/**
 * Keys that reach ComfyUI with Ctrl or Cmd: they save and open workflows, and open its settings. Any
 * other one would change the selected nodes, queue the workflow or weigh a word of the text box.
 */
const HOST_KEYS = new Set(["s", "o", ","]);

/**
 * With Alt, the key that opens and closes the panel: "a", which on a Mac is "å" with Alt. It is the
 * host's own keybinding, so the host must see it.
 */
export const OPEN_KEYS = ["a", "å"];

/** `keyCode` of a key that an input method takes. */
const TAKEN = 229;

/**
 * A key belongs to an input method while the method composes: its Enter commits the characters and
 * its Escape drops them. In Safari the Enter that commits comes after the end of the composition,
 * with `keyCode` 229.
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the panel leaves the key alone
 */
export const isComposing = (event) => event.isComposing || event.keyCode === TAKEN;

/**
 * @param {HTMLElement} element
 * @param {{escape: () => void, drop: (files: File[]) => void}} actions
 */
export function keepKeysInside(element, actions) {
  for (const name of ["keydown", "keyup", "keypress"]) {
    element.addEventListener(name, (given) => {
      const event = /** @type {KeyboardEvent} */ (given);
      const key = event.key.toLowerCase();
      const serves = (event.ctrlKey || event.metaKey) && HOST_KEYS.has(key);
      const opens = event.altKey && OPEN_KEYS.includes(key);
      if (!opens && !serves) event.stopPropagation();
      if (name === "keydown" && event.key === "Escape" && !isComposing(event)) actions.escape();
    });
  }
  for (const name of ["copy", "cut", "paste", "wheel", "contextmenu"]) {
    element.addEventListener(name, (event) => event.stopPropagation(), { passive: true });
  }
  dropFiles(element, actions.drop);
}

/** @param {HTMLElement} element @param {(files: File[]) => void} onDrop */
function dropFiles(element, onDrop) {
  /** @param {DragEvent} event */
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files") ?? false;
  let depth = 0;
  element.dataset.drop = t("composer.drop");
  const mark = () => element.classList.toggle("ca-panel--drop", depth > 0);

  element.addEventListener("dragenter", (event) => {
    if (!carriesFiles(event)) return;
    depth += 1;
    mark();
  });
  element.addEventListener("dragleave", (event) => {
    if (!carriesFiles(event)) return;
    depth = Math.max(0, depth - 1);
    mark();
  });
  element.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    depth = 0;
    mark();
    onDrop([...(event.dataTransfer?.files ?? [])]);
  });
}
