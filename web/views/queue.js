// @ts-check
/**
 * The queue: messages that wait for the end of the turn, or for ComfyUI while it is away, in the
 * order of sending.
 */

import { pendingApprovals, textOf } from "../state/messages.js";
import { nextStep } from "../state/shown.js";
import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h, iconButton, place, show, smallButton } from "./dom.js";
import { attachmentsOf } from "./user-message.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").Queued} Queued */

/** Most characters of a row. */
const ROW = 300;

/**
 * @param {object} actions
 * @param {(id: string, text: string, files: Attachment[]) => unknown} actions.cancel
 * @param {() => unknown} actions.resume
 */
export function createQueue(actions) {
  const list = h("ol", { class: "ca-queue__list", "aria-label": t("queue.label") });
  const words = h("span", { class: "ca-grow" });
  const send = smallButton(t("queue.send"), true, actions.resume);
  const held = h("div", { class: "ca-queue__held", hidden: true }, words, send);
  const decide = h("div", { class: "ca-queue__held", hidden: true }, t("queue.decide"));
  const away = h("div", { class: "ca-queue__held", hidden: true }, t("queue.away"));
  const element = h("div", { class: "ca-queue", hidden: true }, list, held, decide, away);
  /** @type {Map<string, HTMLElement>} */
  const rows = new Map();
  /** @type {ChatState["queue"] | null} */
  let drawn = null;
  /** @type {ChatState["unsent"] | null} */
  let drawnUnsent = null;

  /** @param {Queued} queued */
  const rowOf = (queued) => {
    const known = rows.get(queued.id);
    if (known) return known;
    // A row is one line; the message in it may be of any length.
    const text = nameOf(wordsOf(queued), ROW);
    const row = h(
      "li",
      { class: "ca-queue__row" },
      h("span", { class: "ca-queue__text", title: text }, text),
      iconButton("close", t("queue.cancel", { text }), {
        class: "ca-icon-button--tiny",
        onclick: () => {
          const { message } = queued;
          actions.cancel(
            queued.id,
            message ? textOf(message) : "",
            message ? attachmentsOf(message) : [],
          );
        },
      }),
    );
    rows.set(queued.id, row);
    return row;
  };

  return {
    element,
    /** @param {ChatState} chat */
    update(chat) {
      const { queue, unsent, lost, held: isHeld, messages } = chat;
      const leads = nextStep(chat) === "queue";
      send.classList.toggle("ca-button--primary", leads);
      send.classList.toggle("ca-button--plain", !leads);
      show(element, queue.length + unsent.length > 0);
      show(held, isHeld && queue.length > 0);
      show(decide, !isHeld && queue.length > 0 && pendingApprovals(messages).length > 0);
      show(away, lost && unsent.length > 0);
      if (queue === drawn && unsent === drawnUnsent) return;
      drawn = queue;
      drawnUnsent = unsent;
      words.textContent = tn("queue.held", queue.length, { count: number(queue.length) });
      // The server gives a message of its queue the id that it has here.
      const sent = unsent.map((message) => ({ id: message.id, type: "user_message", message }));
      const all = [...queue, ...sent];
      place(list, all.map(rowOf));
      const ids = new Set(all.map((queued) => queued.id));
      for (const id of [...rows.keys()]) if (!ids.has(id)) rows.delete(id);
    },
  };
}

/** @param {Queued} queued */
function wordsOf({ message }) {
  if (!message) return t("queue.other");
  const files = message.parts.filter((part) => part.type === "file").length;
  return textOf(message) || tn("queue.files", files, { count: number(files) });
}
