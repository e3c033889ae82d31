// @ts-check
/** Queries on a list of messages, and the construction of a user message. Pure. */

import { isTool } from "./fold-tool.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @param {string} id
 * @param {string} text
 * @param {readonly Attachment[]} files
 * @param {UIMessage["metadata"]} metadata
 * @returns {UIMessage}
 */
export function userMessage(id, text, files, metadata) {
  const attached = files.map(({ mediaType, url, filename }) => ({
    type: /** @type {const} */ ("file"),
    mediaType,
    url,
    filename,
  }));
  const words = text ? [{ type: /** @type {const} */ ("text"), text }] : [];
  return { id, role: "user", metadata, parts: [...attached, ...words] };
}

/** @param {UIMessage} message @returns {boolean} whether the panel shows it; events are hidden */
export const isShown = (message) => message.metadata?.hidden !== true;

/** @param {UIMessage} message @returns {string} its text parts, joined by blank lines */
export function textOf(message) {
  return message.parts
    .flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : []))
    .join("\n\n");
}

/** @param {readonly UIMessage[]} messages @returns {ToolPart[]} tool calls of the last answer */
function lastCalls(messages) {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.parts.filter(isTool) : [];
}

/** @param {readonly UIMessage[]} messages @returns {ToolPart[]} calls that wait for approval */
export const pendingApprovals = (messages) =>
  lastCalls(messages).filter((part) => part.state === "approval-requested");

/**
 * @param {readonly UIMessage[]} messages
 * @param {readonly string[]} ids of the tool calls that the server assigned to a panel
 * @returns {ToolPart[]} those of them that need no approval or are approved
 */
export const pendingPanelCalls = (messages, ids) =>
  lastCalls(messages).filter(
    (part) =>
      ids.some((one) => callOf(one) === part.toolCallId) &&
      !part.providerExecuted &&
      (part.state === "input-available" ||
        (part.state === "approval-responded" && part.approval?.approved === true)),
  );

/** @param {any} waiting an entry of `runtime.waiting`, or a call's id @returns {string} */
const callOf = (waiting) => waiting?.tool_call_id ?? waiting;

/** @param {ToolPart} part */
export const toolName = (part) => part.toolName ?? part.type.replace(/^tool-/, "");

/**
 * @param {readonly UIMessage[]} messages
 * @param {UIMessage} message
 * @returns {UIMessage[]} a copy in which `message` replaces the one with its id, or is appended
 */
export function withMessage(messages, message) {
  const index = messages.findLastIndex((each) => each.id === message.id);
  if (index < 0) return [...messages, message];
  const copy = [...messages];
  copy[index] = message;
  return copy;
}

/**
 * @param {readonly UIMessage[]} messages
 * @param {string} id
 * @returns {readonly UIMessage[]} the messages before the one with that id
 */
export function before(messages, id) {
  const index = messages.findIndex((message) => message.id === id);
  return messages.slice(0, index < 0 ? messages.length : index);
}

/**
 * Calls in different versions of an answer may have the same id; their questions have not.
 * @param {ToolPart} part a call that waits for approval
 * @returns {string} the id of the question about it
 */
export const questionOf = (part) => part.approval?.id ?? part.toolCallId;

/**
 * Applies the user's decisions on tool calls before the server confirms them.
 * @param {readonly UIMessage[]} messages
 * @param {ReadonlyMap<string, boolean>} decisions by the id of the question
 * @returns {UIMessage[]}
 */
export function withDecisions(messages, decisions) {
  const last = messages.at(-1);
  if (!last?.parts.some((part) => isOpen(part) && decisions.has(questionOf(part)))) {
    return [...messages];
  }
  const parts = last.parts.map((part) =>
    isOpen(part) && decisions.has(questionOf(part))
      ? {
          ...part,
          state: /** @type {const} */ ("approval-responded"),
          approval: { id: part.approval?.id ?? "", approved: decisions.get(questionOf(part)) },
        }
      : part,
  );
  return [...messages.slice(0, -1), { ...last, parts }];
}

/** @param {import("../types.js").Part} part @returns {part is ToolPart} */
const isOpen = (part) => isTool(part) && part.state === "approval-requested";

/**
 * Key of a part's duration.
 * @param {string} messageId
 * @param {string | number} part tool call id, or for other parts the index in the message
 */
export const durationKey = (messageId, part) => `${messageId}/${part}`;
