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

/** @param {readonly UIMessage[]} messages @returns {ToolPart[]} calls that a panel is to run */
export const pendingPanelCalls = (messages) =>
  lastCalls(messages).filter((part) => part.state === "input-available" && !part.providerExecuted);

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
 * @returns {UIMessage[]} those before it
 */
export function before(messages, id) {
  const index = messages.findIndex((message) => message.id === id);
  return messages.slice(0, index < 0 ? messages.length : index);
}

/**
 * A decision of the user on calls, shown at once; the server's word follows in the stream.
 * @param {readonly UIMessage[]} messages
 * @param {readonly string[]} ids tool call ids
 * @param {boolean} approved
 * @returns {UIMessage[]}
 */
export function withDecision(messages, ids, approved) {
  return messages.map((message, index) => {
    if (index !== messages.length - 1) return message;
    const parts = message.parts.map((part) =>
      isTool(part) && ids.includes(part.toolCallId)
        ? {
            ...part,
            state: /** @type {const} */ ("approval-responded"),
            approval: { id: part.approval?.id ?? "", approved },
          }
        : part,
    );
    return { ...message, parts };
  });
}

/**
 * An answer that nobody goes on with, and that the server does not know to be cut.
 * @param {readonly UIMessage[]} messages
 * @returns {UIMessage[]}
 */
export function withCut(messages) {
  const last = messages.at(-1);
  if (last?.role !== "assistant" || last.metadata?.finish_reason) return [...messages];
  return withMessage(messages, { ...last, metadata: { ...last.metadata, cut: "cut" } });
}

/**
 * How a part's duration is found: calls have ids, other parts have their place in the answer.
 * @param {string} messageId
 * @param {string | number} part the call's id, or the part's index
 */
export const durationKey = (messageId, part) => `${messageId}/${part}`;
