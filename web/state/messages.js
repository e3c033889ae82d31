// @ts-check
/** Questions about a list of messages, and the user's own new one. Pure. */

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

/** @param {UIMessage} message @returns {string} what was written or answered, without the rest */
export function textOf(message) {
  return message.parts
    .flatMap((part) => (part.type === "text" && "text" in part ? [part.text] : []))
    .join("\n\n");
}

/** @param {readonly UIMessage[]} messages @returns {ToolPart[]} calls of the last answer */
function lastCalls(messages) {
  const last = messages.at(-1);
  return last?.role === "assistant" ? last.parts.filter(isTool) : [];
}

/** @param {readonly UIMessage[]} messages @returns {ToolPart[]} calls that ask the user first */
export const pendingApprovals = (messages) =>
  lastCalls(messages).filter((part) => part.state === "approval-requested");

/**
 * @param {readonly UIMessage[]} messages
 * @param {readonly string[]} ids of the calls that wait for a panel, as the server says
 * @returns {ToolPart[]} calls that a panel is to run: those that asked nobody, or were allowed
 */
export const pendingPanelCalls = (messages, ids) =>
  lastCalls(messages).filter(
    (part) =>
      ids.includes(part.toolCallId) &&
      !part.providerExecuted &&
      (part.state === "input-available" ||
        (part.state === "approval-responded" && part.approval?.approved === true)),
  );

/** @param {ToolPart} part */
export const toolName = (part) => part.toolName ?? part.type.replace(/^tool-/, "");

/**
 * @param {readonly UIMessage[]} messages
 * @param {UIMessage} message
 * @returns {UIMessage[]} with the message in the place of the one with its id, else at the end
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
 * @returns {readonly UIMessage[]} those before it
 */
export function before(messages, id) {
  const index = messages.findIndex((message) => message.id === id);
  return messages.slice(0, index < 0 ? messages.length : index);
}

/**
 * Decisions of the user on calls, shown before the server's word comes.
 * @param {readonly UIMessage[]} messages
 * @param {Readonly<Record<string, boolean>>} decisions by tool call id
 * @returns {UIMessage[]}
 */
export function withDecisions(messages, decisions) {
  const last = messages.at(-1);
  if (!last?.parts.some((part) => isOpen(part) && part.toolCallId in decisions)) {
    return [...messages];
  }
  const parts = last.parts.map((part) =>
    isOpen(part) && part.toolCallId in decisions
      ? {
          ...part,
          state: /** @type {const} */ ("approval-responded"),
          approval: { id: part.approval?.id ?? "", approved: decisions[part.toolCallId] },
        }
      : part,
  );
  return [...messages.slice(0, -1), { ...last, parts }];
}

/** @param {import("../types.js").Part} part @returns {part is ToolPart} */
const isOpen = (part) => isTool(part) && part.state === "approval-requested";

/**
 * How a part's duration is found: calls have ids, other parts have their place in the answer.
 * @param {string} messageId
 * @param {string | number} part the call's id, or the part's index
 */
export const durationKey = (messageId, part) => `${messageId}/${part}`;
