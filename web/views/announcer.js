// @ts-check
/**
 * What a screen reader is told of a chat: the sentences of an answer as they are complete, each
 * question for approval, how an answer ended if it was stopped or cut, and each error. What an
 * answer had said before the chat was opened is not told again. Without elements;
 * `live-region.js` puts the words into the page.
 */

import { isBusy } from "../state/chat.js";
import { keptIn } from "../state/kept.js";
import { pendingApprovals, questionOf, textOf } from "../state/messages.js";
import { t, textFor } from "../strings.js";
import { finishedSentences, NOTHING_SPOKEN } from "../text/sentences.js";
import { decisionOn, openQuestion } from "../state/waiting.js";
import { clip, seen } from "../text/plain.js";
import { approvalText, approvalTitle } from "./approval.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").TurnError} TurnError */

/**
 * @typedef {object} Said
 * @property {boolean} anew whether what was said before belongs to another chat or answer
 * @property {string[]} sentences told when the reader has finished what it says
 * @property {string} alert told at once; "" for none
 */

/** Most characters of an error, a question or a memory that are told. */
const ERROR = 600;

export function createAnnouncer() {
  let chatId = "";
  /** Id of the announced answer; `spoken` is its announced part. */
  let answer = "";
  let spoken = NOTHING_SPOKEN;
  /** How the announced answer ended, once that was told. */
  let ended = "";
  /** The error of a request of the panel that was told last. */
  let failed = "";
  /** How many memories the announced answer kept that were told. */
  let remembered = 0;
  /** Ids of the questions that were told. @type {Set<string>} */
  const asked = new Set();
  /** Whether the chat was busy at the last update. */
  let busy = false;

  /** @param {ChatState} chat @returns {Said} */
  function update(chat) {
    const anew = chat.id !== chatId;
    if (anew) {
      chatId = chat.id;
      answer = ended = failed = "";
      busy = false;
    }
    const worked = busy;
    busy = isBusy(chat);
    const begun = follow(chat, worked);
    const sentences = answer ? tell(chat) : [];
    sentences.push(...questions(chat));
    return { anew: anew || begun, sentences, alert: alertOf(chat) };
  }

  /** @param {ChatState} chat @returns {string[]} what the user is asked and was not told yet */
  function questions({ messages }) {
    const parts = messages.at(-1)?.parts ?? [];
    const said = pendingApprovals(messages).map((call) => ({
      id: questionOf(call),
      words: `${approvalTitle(call)} ${approvalText(call, decisionOn(parts, call))}`,
    }));
    const open = openQuestion(messages);
    if (open) said.push({ id: open.call.toolCallId, words: wordsOfQuestion(open.question) });
    const fresh = said.filter(({ id }) => !asked.has(id));
    for (const { id } of fresh) asked.add(id);
    return fresh.map(({ words }) => words);
  }

  /**
   * Notes the answer that is announced: one that is given while the chat is open.
   * @param {ChatState} chat
   * @param {boolean} worked
   * @returns {boolean} whether it is another answer
   */
  function follow(chat, worked) {
    const last = chat.messages.at(-1);
    if (last?.role !== "assistant" || last.id === answer) return false;
    if (!isLive(chat) && !worked) return false;
    answer = last.id;
    spoken = NOTHING_SPOKEN;
    ended = "";
    remembered = 0;
    return true;
  }

  /** @param {ChatState} chat @returns {string[]} */
  function tell(chat) {
    const last = chat.messages.at(-1);
    if (last?.id !== answer) return [];
    const taken = finishedSentences(textOf(last), spoken, !isLive(chat));
    spoken = taken;
    const kept = keptIn(last).slice(remembered);
    remembered += kept.length;
    const told = kept.map(({ text }) => t("memory.kept", { text: seen(clip(text, ERROR)) }));
    const sentences = [...taken.sentences, ...told];
    const { cut, error } = last.metadata ?? {};
    if (isLive(chat) || error || !cut || ended) return sentences;
    ended = textFor(`cut.${cut}`, "cut.cut");
    return [...sentences, `${ended}.`];
  }

  /** @param {ChatState} chat */
  function alertOf(chat) {
    const last = chat.messages.at(-1);
    const error = last?.metadata?.error;
    if (last?.id === answer && error && !isLive(chat) && !ended) {
      ended = wordsOf(error);
      return ended;
    }
    const words = chat.failure ? wordsOf(chat.failure) : "";
    const isNew = words !== failed;
    failed = words;
    return isNew ? words : "";
  }

  return { update };
}

/** @param {import("../state/waiting.js").Question} question */
const wordsOfQuestion = ({ question, options }) => {
  const offered = options.map(({ label }) => label).join(", ");
  const asked = offered ? t("question.said", { question, options: offered }) : question;
  return seen(clip(asked, ERROR));
};

/** @param {ChatState} chat */
const isLive = (chat) => chat.status === "streaming" || chat.status === "stopping";

/** @param {TurnError} error */
const wordsOf = (error) => {
  const title = textFor(`error.title.${error.code}`, "error.title.failed");
  return clip(seen(`${title}. ${error.message ?? ""}`), ERROR).trim();
};
