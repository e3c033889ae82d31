// @ts-check
/**
 * What a screen reader hears of an answer that is being written: finished sentences, and the
 * questions that wait for the user. The conversation itself is silent, or it would be read token by
 * token.
 */

import { isBusy } from "../state/chat.js";
import { pendingApprovals, textOf } from "../state/messages.js";
import { t } from "../strings.js";
import { finishedSentences, NOTHING_SPOKEN } from "../text/sentences.js";
import { h } from "./dom.js";

/** @typedef {import("../types.js").ChatState} ChatState */

/** Sentences that stay in the page; older ones have been spoken. */
const KEPT = 20;

export function createLiveRegion() {
  const element = h("div", {
    class: "ca-hidden-text",
    "aria-live": "polite",
    "aria-relevant": "additions",
    "data-live": "",
  });
  /** The answer that is being spoken, and how much of it was. */
  let answer = "";
  let spoken = NOTHING_SPOKEN;
  let asked = "";
  /** The chat that was busy when it was looked at last. */
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
        // An answer that was there before is not news.
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
        say(t("approval.question", { title: question.title ?? "" }));
      }
    },
  };
}
