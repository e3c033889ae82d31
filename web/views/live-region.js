// @ts-check
/**
 * Announces a streaming answer to screen readers: complete sentences, and questions for approval.
 * The conversation itself is not live, because a screen reader would read it token by token.
 */

import { isBusy } from "../state/chat.js";
import { pendingApprovals, textOf } from "../state/messages.js";
import { finishedSentences, NOTHING_SPOKEN } from "../text/sentences.js";
import { approvalQuestion } from "./approval.js";
import { h } from "./dom.js";

/** @typedef {import("../types.js").ChatState} ChatState */

/** Most sentences kept in the page; older ones have been read aloud. */
const KEPT = 20;

export function createLiveRegion() {
  const element = h("div", {
    class: "ca-hidden-text",
    "aria-live": "polite",
    "aria-relevant": "additions",
    "data-live": "",
  });
  /** Id of the announced answer; `spoken` is its announced part. */
  let answer = "";
  let spoken = NOTHING_SPOKEN;
  let asked = "";
  /** Id of the chat if it was busy at the last update; else "". */
  let busy = "";

  /** @param {string} text */
  const say = (text) => {
    element.append(h("p", {}, text));
    while (element.childElementCount > KEPT) element.firstElementChild?.remove();
  };

  return {
    element,
    /** @param {ChatState} chat */
    update(chat) {
      const last = chat.messages.at(-1);
      const worked = busy === chat.id;
      busy = isBusy(chat) ? chat.id : "";
      if (last?.role !== "assistant") return;
      const text = textOf(last);
      const live = chat.status === "streaming" || chat.status === "stopping";
      if (last.id !== answer) {
        // An answer that was complete when the chat opened is not announced.
        if (!live && !worked) return;
        answer = last.id;
        spoken = NOTHING_SPOKEN;
      }
      const taken = finishedSentences(text, spoken, !live);
      spoken = taken;
      for (const sentence of taken.sentences.slice(-KEPT)) say(sentence);
      const question = pendingApprovals(chat.messages)[0];
      if (question && question.toolCallId !== asked) {
        asked = question.toolCallId;
        say(approvalQuestion(question));
      }
    },
  };
}
