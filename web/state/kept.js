// @ts-check
/** What an answer says about memories: those that it kept and those that it was given. Pure. */

import { isTool } from "./fold-tool.js";
import { toolName } from "./messages.js";

/** @typedef {import("../types.js").MemoryState} MemoryState */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/** @typedef {{id: string, text: string}} Kept as the server tells it (`data-memory`) */
/**
 * @typedef {object} AnswerMemories
 * @property {(Kept & {is: "kept" | "replaced" | "gone"})[]} kept
 * @property {{id: string, text: string | null}[]} used `text` is null for one that is not looked up
 *   yet, "" for one that is gone
 * @property {boolean} told whether the user has read what is kept and where
 */

const WRITE = "memory_write";
/** @type {WeakMap<readonly Part[], readonly Kept[]>} */
const found = new WeakMap();
/** @type {readonly Kept[]} */
const NONE = [];

/** @param {UIMessage} message @returns {readonly Kept[]} what the answer kept, each once */
export function keptIn({ role, parts }) {
  if (role !== "assistant") return NONE;
  let kept = found.get(parts);
  if (!kept) {
    kept = parts.some(isMemory) ? [...new Map(parts.flatMap(entryOf)).values()] : NONE;
    found.set(parts, kept);
  }
  return kept;
}

/** @param {Part} part */
const isMemory = (part) => part.type === "data-memory";

/** @param {Part} part @returns {[string, Kept][]} */
function entryOf(part) {
  if (!isMemory(part)) return [];
  const { id, text } = Object(/** @type {any} */ (part).data);
  return typeof id === "string" && typeof text === "string" ? [[id, { id, text }]] : [];
}

/** @param {UIMessage} message @returns {string[]} ids of the memories that it was given */
export function usedIn({ metadata }) {
  const ids = metadata?.memories;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
}

/**
 * @param {UIMessage} message
 * @param {Pick<MemoryState, "known" | "told">} memory
 * @returns {AnswerMemories | null} null for an answer that says nothing about memories
 */
export function memoriesOf(message, { known, told }) {
  const kept = keptIn(message);
  const used = message.role === "assistant" ? usedIn(message) : [];
  if (!kept.length && !used.length) return null;
  return {
    kept: kept.map((one) => {
      const now = known.get(one.id);
      const is = now === null ? "gone" : now?.superseded_by ? "replaced" : "kept";
      return { id: one.id, text: now?.text ?? one.text, is };
    }),
    used: used.map((id) => {
      const now = known.get(id);
      return { id, text: now === undefined ? null : (now?.text ?? "") };
    }),
    told,
  };
}

/**
 * @param {import("../types.js").ToolPart} part
 * @param {readonly Part[]} parts of the answer
 * @returns {boolean} whether a card shows what the call did
 */
export function isToldAsKept(part, parts) {
  return (
    isTool(part) &&
    toolName(part) === WRITE &&
    part.state === "output-available" &&
    parts.some((each) => isMemory(each) && entryOf(each)[0]?.[1].text === textOf(part.output))
  );
}

/** @param {unknown} output an object or its JSON @returns {unknown} the text that was kept */
function textOf(output) {
  if (typeof output !== "string") return Object(output).kept;
  try {
    return Object(JSON.parse(output)).kept;
  } catch {
    return undefined;
  }
}
