// @ts-check
/**
 * Folds chunks of the UI message stream v1 into one assistant message
 * (docs/contracts/ui-message-stream.md). Pure: each step returns new values and shares unchanged
 * ones, so that views can compare by identity. As JSON the result equals the message that the `ai`
 * package (v6, v7) builds from the same chunks. Context reports are handled in `fold-events.js`.
 */

import { append, compact, initialFold, replace, without, FoldError } from "./fold-state.js";
import { foldTool } from "./fold-tool.js";

/** @typedef {import("../types.js").Chunk} Chunk */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("./fold-state.js").FoldState} FoldState */

/**
 * Folds one chunk.
 * @param {FoldState} state
 * @param {Chunk} chunk unknown types are ignored, so that a newer server can be used
 * @returns {FoldState}
 * @throws {FoldError}
 */
export function fold(state, chunk) {
  switch (chunk.type) {
    case "start":
      return startMessage(state, chunk);
    case "start-step":
      return append(state, { type: "step-start" });
    case "finish-step":
      return { ...state, text: new Map(), reasoning: new Map() };
    case "text-start":
    case "reasoning-start":
      return openProse(state, chunk);
    case "text-delta":
    case "text-end":
    case "reasoning-delta":
    case "reasoning-end":
      return growProse(state, chunk);
    case "file":
      return append(state, pick(chunk, ["type", "mediaType", "url", "providerMetadata"]));
    case "source-url":
      return append(state, pick(chunk, ["type", "sourceId", "url", "title", "providerMetadata"]));
    case "source-document":
      return append(
        state,
        pick(chunk, ["type", "sourceId", "mediaType", "title", "filename", "providerMetadata"]),
      );
    case "message-metadata":
    case "finish":
      return withMetadata(state, chunk.messageMetadata);
    default:
      if (chunk.type.startsWith("tool-")) return foldTool(state, chunk);
      return chunk.type.startsWith("data-") ? foldData(state, chunk) : state;
  }
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function startMessage(state, chunk) {
  const other = chunk.messageId != null && chunk.messageId !== state.message.id;
  const base = other && state.message.parts.length ? initialFold() : state;
  const named = other ? { ...base, message: { ...base.message, id: chunk.messageId } } : base;
  return withMetadata(named, chunk.messageMetadata);
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function openProse(state, chunk) {
  const kind = chunk.type === "text-start" ? "text" : "reasoning";
  const id = kind === "reasoning" ? { id: chunk.id } : {};
  const part = compact({
    type: kind,
    ...id,
    text: "",
    providerMetadata: chunk.providerMetadata,
    state: "streaming",
  });
  const open = new Map(state[kind]).set(chunk.id, state.message.parts.length);
  return { ...append(state, part), [kind]: open };
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function growProse(state, chunk) {
  const kind = chunk.type.startsWith("text") ? "text" : "reasoning";
  const index = state[kind].get(chunk.id);
  if (index === undefined) {
    throw new FoldError(`expected ${kind}-start before ${chunk.type} of "${chunk.id}"`);
  }
  const part = /** @type {any} */ (state.message.parts[index]);
  const providerMetadata = chunk.providerMetadata ?? part.providerMetadata;
  const extra = providerMetadata === undefined ? {} : { providerMetadata };
  if (chunk.type.endsWith("delta")) {
    return replace(state, index, { ...part, ...extra, text: part.text + chunk.delta });
  }
  const open = without(state[kind], chunk.id);
  return { ...replace(state, index, { ...part, ...extra, state: "done" }), [kind]: open };
}

/**
 * @param {FoldState} state
 * @param {Record<string, unknown> | undefined} metadata
 * @returns {FoldState}
 */
function withMetadata(state, metadata) {
  if (metadata == null) return state;
  const merged = merge(state.message.metadata ?? {}, metadata);
  return { ...state, message: { ...state.message, metadata: merged } };
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function foldData(state, chunk) {
  if (chunk.transient) return state;
  const index = state.message.parts.findIndex(
    (part) => chunk.id != null && part.type === chunk.type && "id" in part && part.id === chunk.id,
  );
  if (index < 0) return append(state, /** @type {Part} */ ({ ...chunk }));
  const part = /** @type {any} */ (state.message.parts[index]);
  return replace(state, index, { ...part, data: chunk.data });
}

/** @param {Chunk} chunk @param {string[]} fields @returns {any} */
function pick(chunk, fields) {
  return compact(Object.fromEntries(fields.map((field) => [field, chunk[field]])));
}

/** @param {unknown} value */
const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Field names that would change an object's prototype. */
const FORBIDDEN_FIELDS = new Set(["__proto__", "constructor", "prototype"]);

/** @param {any} base @param {any} changes @returns {any} */
function merge(base, changes) {
  const result = { ...base };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || FORBIDDEN_FIELDS.has(key)) continue;
    result[key] = isPlain(value) && isPlain(result[key]) ? merge(result[key], value) : value;
  }
  return result;
}
