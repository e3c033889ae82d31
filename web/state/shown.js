// @ts-check
/** What the log shows of a chat: which messages, what their views know, which step is next. Pure. */

import { memoriesOf } from "./kept.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {ChatState & {hasLater: boolean}} Shown `hasLater`: messages follow those that are shown */
/** @typedef {Pick<import("../types.js").MemoryState, "known" | "told">} Remembered */

/** @param {ChatState} chat @returns {Shown} the messages around its target, or those at its end */
export function shownOf(chat) {
  if (!chat.stretch) return { ...chat, hasLater: false };
  const { messages, hasMore, versions } = chat.stretch;
  const merged = new Map([...chat.versions, ...Object.entries(versions)]);
  return { ...chat, messages, hasMore, versions: merged, hasLater: true };
}

/**
 * The one likely next step, which alone has the accent: what could not be sent, the answer that
 * failed, the messages that wait, or what the last answer offers.
 * @param {ChatState} chat
 * @returns {"failure" | "answer" | "queue"}
 */
export function nextStep({ failure, messages, held, queue }) {
  if (failure) return "failure";
  if (messages.at(-1)?.metadata?.error) return "answer";
  return held && queue.length > 0 ? "queue" : "answer";
}

/**
 * What the view of a message knows beside the message.
 * @param {Shown} chat
 * @param {number} index
 * @param {Remembered} remembered
 */
export function factsOf(chat, index, remembered) {
  const message = chat.messages[index];
  const { id, metadata } = message;
  const last = index === chat.messages.length - 1 && !chat.hasLater;
  return {
    last,
    live: last && (chat.status === "streaming" || chat.status === "stopping"),
    busy: chat.status !== "idle",
    leads: last && nextStep(chat) === "answer",
    sameWorkflow: workflowBefore(chat.messages, index) === metadata?.workflow?.name,
    durations: chat.durations,
    version: chat.versions.get(id),
    taken: chat.taken.get(id),
    memories: memoriesOf(message, remembered),
  };
}

/**
 * @param {ReturnType<typeof factsOf>} facts
 * @returns {string} another one where a message that stays the same is to be drawn again
 */
export function stateOf({ last, live, busy, leads, version, taken, memories }) {
  const shown = `${last} ${live} ${busy} ${leads} ${version?.index} ${version?.ids}`;
  return taken || memories ? `${shown} ${JSON.stringify([taken, memories])}` : shown;
}

/**
 * @param {readonly UIMessage[]} messages
 * @param {number} index
 * @returns {string | undefined} the workflow's name of the user message before `index`
 */
function workflowBefore(messages, index) {
  for (let at = index - 1; at >= 0; at -= 1) {
    if (messages[at].role === "user") return messages[at].metadata?.workflow?.name;
  }
  return undefined;
}
