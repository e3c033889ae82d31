// @ts-check
/**
 * What the fold of a stream remembers between two chunks, and the two ways to change it. The fold
 * itself is `reducer.js` and, for tool calls, `fold-tool.js`.
 */

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} FoldState
 * @property {UIMessage} message
 * @property {Readonly<Record<string, number>>} text index of each open text part, by chunk id
 * @property {Readonly<Record<string, number>>} reasoning the same for reasoning parts
 * @property {Readonly<Record<string, {json: string | null, index: number}>>} inputs arguments
 *   that are still streaming, by tool call id; null before the first of them
 */

/** A chunk that contradicts the ones before it (a delta without a start, an unknown tool call). */
export class FoldError extends Error {}

/**
 * @param {UIMessage | null} [message] an answer that the chunks continue
 * @returns {FoldState}
 */
export function initialFold(message = null) {
  return {
    message: message ?? { id: "", role: "assistant", parts: [] },
    text: {},
    reasoning: {},
    inputs: {},
  };
}

/** @param {FoldState} state @param {Part} part @returns {FoldState} */
export function append(state, part) {
  const message = { ...state.message, parts: [...state.message.parts, part] };
  return { ...state, message };
}

/** @param {FoldState} state @param {number} index @param {Part} part @returns {FoldState} */
export function replace(state, index, part) {
  const parts = [...state.message.parts];
  parts[index] = part;
  return { ...state, message: { ...state.message, parts } };
}

/** @param {Record<string, any>} value @returns {any} the value without its undefined fields */
export function compact(value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
