// @ts-check
/**
 * The line that says what a chat waits for, and since when. It stands in the last line of the answer
 * that is at work, or where the answer will stand, so that no text moves when it comes and goes.
 */

import { t } from "../strings.js";
import { h, setText } from "./dom.js";
import { createElapsed } from "./elapsed.js";

/** @typedef {import("./conversation.js").Shown} Shown */

/** @param {HTMLElement} messages contains the messages */
export function createWaitingLine(messages) {
  const words = h("span");
  const elapsed = createElapsed();
  const dot = h("span", { class: "ca-wait__dot" });
  const line = h("div", { class: "ca-wait" }, dot, words, elapsed.element);
  // As high as an answer without text, until there is one.
  const place = h("div", { class: "ca-message__tools" });
  const pending = h(
    "div",
    { class: "ca-message ca-message--answer" },
    h("div", { class: "ca-parts" }),
    place,
  );

  return {
    pending,
    /** @returns {boolean} whether the line stands after the last message */
    isPending: () => pending.parentNode === messages,

    /**
     * @param {Shown} chat
     * @param {string} model its name
     * @param {HTMLElement | null} inside the line's place in the answer that is at work
     */
    update(chat, model, inside) {
      const text = waitingFor(chat, model);
      const parent = inside ?? place;
      if (!text) line.remove();
      else if (line.parentNode !== parent) parent.append(line);
      if (text && parent === place) messages.append(pending);
      else pending.remove();
      if (text) setText(words, text);
      elapsed.update(text !== "" && chat.status !== "idle");
    },
  };
}

/**
 * The text of the waiting line; "" while an answer grows or the chat is idle.
 * @param {Shown} chat
 * @param {string} model
 */
function waitingFor(chat, model) {
  if (chat.loading && !chat.messages.length) return t("panel.loading");
  if (chat.finding) return t("wait.finding");
  if (chat.hasLater) return "";
  if (chat.status === "stopping") return t("wait.stopping");
  if (chat.status === "sending" && chat.lost) return t("wait.unsent");
  // A note above the composer says what to do in the last two cases.
  if (chat.status === "idle" || chat.lost || chat.waitsFor === "gone") return "";
  const last = chat.messages.at(-1);
  if (last?.role !== "assistant" || !last.parts.some((part) => part.type !== "step-start")) {
    return model ? t("wait.model", { model }) : t("wait.answer");
  }
  const part = /** @type {any} */ (last.parts.at(-1));
  const moves = part.state === "streaming" || String(part.state).startsWith("input-");
  return moves ? "" : t("wait.answer");
}
