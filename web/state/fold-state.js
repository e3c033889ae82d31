// @ts-check
/**
 * The state of the fold of a stream between two chunks, and functions that change it. The fold
 * itself is in `reducer.js` and, for tool calls, in `fold-tool.js`.
 */

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} FoldState
 * @property {UIMessage} message
 * @property {ReadonlyMap<string, number>} text index of each open text part by chunk id
 * @property {ReadonlyMap<string, number>} reasoning the same for reasoning parts
 * @property {ReadonlyMap<string, {json: string | null, index: number}>} inputs streaming
 *   arguments by tool call id; `json` is null before the first delta
 */

/** A chunk or event that does not fit the state (a delta without a start, an unknown tool call). */
export class FoldError extends Error {}

/**
 * @param {UIMessage | null} [message] the answer that the chunks continue
 * @returns {FoldState}
 */
export function initialFold(message = null) {
  return {
    message: message ?? { id: "", role: "assistant", parts: [] },
    text: new Map(),
    reasoning: new Map(),
    inputs: new Map(),
  };
}

/**
 * @template Value
 * @param {ReadonlyMap<string, Value>} map
 * @param {string} key
 * @returns {ReadonlyMap<string, Value>} a copy without the key
 */
export function without(map, key) {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
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

/** @param {Record<string, any>} value @returns {any} `value` without undefined fields */
export function compact(value) {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
