// @ts-check
/**
 * What a call of an answer waits for: the `data-waiting` parts that the server puts into the answer
 * (docs/http.md). The words of a question are the server's own, or, of `askUser`, the model's. Pure.
 */

import { changeOf } from "./edits.js";
import { isTool } from "./fold-tool.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * What a call will do, in one sentence; `remember`: whether it may be allowed for the whole chat;
 * `change`: what an edit will change in the workflow.
 * @typedef {{text: string, remember: boolean, change: import("./edits.js").Change | null}} Decision
 */
/** @typedef {{label: string, description: string}} Option */
/**
 * A question of the model; without options, or with `other`, any text answers it.
 * @typedef {{question: string, options: readonly Option[], multiple: boolean, other: boolean}}
 *   Question
 */
/** @typedef {{choices?: readonly string[], text?: string}} Answer */

export const ASK_TOOL = "askUser";
/** Most options of a question. */
const MOST = 8;

/**
 * @param {readonly Part[]} parts of the answer
 * @param {string | undefined} id of the question about a call, or of a call that was handed over
 * @returns {any} the data; null: there is none
 */
function waitingData(parts, id) {
  const found = parts.findLast(
    (part) => part.type === "data-waiting" && "id" in part && id !== undefined && part.id === id,
  );
  return found && "data" in found ? Object(found.data) : null;
}

/**
 * @param {readonly Part[]} parts
 * @param {ToolPart} call that waits for a decision
 * @returns {Decision | null} null: an older server says nothing about it
 */
export function decisionOn(parts, call) {
  const data = waitingData(parts, call.approval?.id);
  if (data?.for !== "decision" || typeof data.text !== "string") return null;
  const change = data.change ? changeOf(Object(data.change)) : null;
  return { text: data.text, remember: data.remember === true, change };
}

/**
 * @param {readonly Part[]} parts
 * @param {ToolPart} call
 * @returns {Question | null} null: the call asks nothing
 */
export function questionIn(parts, call) {
  const data = waitingData(parts, call.toolCallId);
  if (data?.for !== "answer") return null;
  const offered = Array.isArray(data.options) ? data.options.slice(0, MOST) : [];
  const options = offered.flatMap((/** @type {any} */ each) => {
    const { label, description } = Object(each);
    if (typeof label !== "string" || !label) return [];
    return [{ label, description: typeof description === "string" ? description : "" }];
  });
  return {
    question: String(data.question ?? ""),
    options,
    multiple: data.multiple === true,
    other: data.allow_other !== false || !options.length,
  };
}

/**
 * Some servers number the calls of each answer from 0: only with its answer's id a call is one.
 * @param {UIMessage | undefined} message the answer
 * @param {string} callId
 * @returns {string} the key of the user's answer to a question
 */
export const questionKey = (message, callId) => `${message?.id} ${callId}`;

/**
 * @param {readonly UIMessage[]} messages
 * @returns {{call: ToolPart, question: Question, key: string} | null} the question of the last answer
 *   that waits for the user: its first call that is not settled
 */
export function openQuestion(messages) {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return null;
  const call = last.parts.filter(isTool).find((part) => !SETTLED.has(part.state));
  if (call?.state !== "input-available") return null;
  const question = questionIn(last.parts, call);
  return question && { call, question, key: questionKey(last, call.toolCallId) };
}

/** @type {Set<string>} */
const SETTLED = new Set(["output-available", "output-error", "output-denied"]);

/** @param {unknown} output of a question's call @returns {{choices: string[], text: string}} */
export function answerIn(output) {
  const { choices, text } = /** @type {any} */ (Object(output));
  return {
    choices: Array.isArray(choices) ? choices.map(String) : [],
    text: typeof text === "string" ? text : "",
  };
}

/**
 * Shows answers before the server confirms them.
 * @param {readonly UIMessage[]} messages
 * @param {ReadonlyMap<string, Answer>} answers by `questionKey`
 * @returns {readonly UIMessage[]}
 */
export function withAnswers(messages, answers) {
  const open = answers.size ? openQuestion(messages) : null;
  const output = open && answers.get(open.key);
  const last = messages.at(-1);
  if (!open || !output || !last) return messages;
  const parts = last.parts.map((part) =>
    part === open.call
      ? { ...open.call, state: /** @type {const} */ ("output-available"), output }
      : part,
  );
  return [...messages.slice(0, -1), { ...last, parts }];
}
