// @ts-check
/**
 * Folds the tool chunks of a stream into tool parts: input, approval, output. Pure; called by
 * `reducer.js`.
 */

import { append, compact, replace, without, FoldError } from "./fold-state.js";
import { parsePartialJson } from "./partial-json.js";

/** @typedef {import("../types.js").Chunk} Chunk */
/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("./fold-state.js").FoldState} FoldState */

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
export function foldTool(state, chunk) {
  switch (chunk.type) {
    case "tool-input-start":
    case "tool-input-available":
      return announceTool(state, chunk);
    case "tool-input-delta": {
      const open = state.inputs.get(chunk.toolCallId);
      if (!open) throw new FoldError(`expected tool-input-start before "${chunk.toolCallId}"`);
      const grown = { ...open, json: (open.json ?? "") + chunk.inputTextDelta };
      return { ...state, inputs: new Map(state.inputs).set(chunk.toolCallId, grown) };
    }
    case "tool-input-error":
      return refuseTool(state, chunk);
    case "tool-approval-request":
      return changeTool(state, chunk, (part) => ({
        ...part,
        state: "approval-requested",
        approval: { id: chunk.approvalId },
      }));
    case "tool-output-denied":
      return changeTool(state, chunk, (part) => ({ ...part, state: "output-denied" }));
    case "tool-output-available":
    case "tool-output-error":
      return changeTool(state, chunk, (part) => finishTool(part, chunk));
    default:
      return state;
  }
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function announceTool(state, chunk) {
  const starts = chunk.type === "tool-input-start";
  const index = indexInStep(state, chunk.toolCallId, chunk.dynamic ? "dynamic" : "static");
  const before = /** @type {ToolPart | undefined} */ (state.message.parts[index]);
  const part = nextTool(before, {
    ...toolIdentity(chunk, Boolean(chunk.dynamic)),
    state: starts ? "input-streaming" : "input-available",
    input: starts ? undefined : chunk.input,
    title: chunk.title,
    providerExecuted: chunk.providerExecuted,
    callProviderMetadata: chunk.providerMetadata,
  });
  const at = index < 0 ? state.message.parts.length : index;
  const next = index < 0 ? append(state, part) : replace(state, index, part);
  if (starts) {
    const begun = { json: null, index: at };
    return { ...next, inputs: new Map(state.inputs).set(chunk.toolCallId, begun) };
  }
  return { ...next, inputs: without(state.inputs, chunk.toolCallId) };
}

/** @param {FoldState} state @param {Chunk} chunk @returns {FoldState} */
function refuseTool(state, chunk) {
  const index = indexInStep(state, chunk.toolCallId, "any");
  const before = /** @type {ToolPart | undefined} */ (state.message.parts[index]);
  const dynamic = before ? before.type === "dynamic-tool" : Boolean(chunk.dynamic);
  const part = nextTool(before, {
    ...toolIdentity(chunk, dynamic),
    state: "output-error",
    input: chunk.input,
    errorText: chunk.errorText,
    providerExecuted: chunk.providerExecuted,
    resultProviderMetadata: chunk.providerMetadata,
  });
  const inputs = without(state.inputs, chunk.toolCallId);
  return { ...(index < 0 ? append(state, part) : replace(state, index, part)), inputs };
}

/** @param {ToolPart} part @param {Chunk} chunk @returns {ToolPart} */
function finishTool(part, chunk) {
  const failed = chunk.type === "tool-output-error";
  return nextTool(part, {
    state: failed ? "output-error" : "output-available",
    input: part.input,
    rawInput: failed && part.type !== "dynamic-tool" ? part.rawInput : undefined,
    output: failed ? undefined : chunk.output,
    errorText: failed ? chunk.errorText : undefined,
    preliminary: failed ? undefined : chunk.preliminary,
    providerExecuted: chunk.providerExecuted,
    resultProviderMetadata: chunk.providerMetadata,
  });
}

/**
 * A tool part after a chunk: input and output come from the chunk, other fields stay.
 * @param {ToolPart | undefined} before
 * @param {Partial<ToolPart>} step the fields that the chunk sets
 * @returns {ToolPart}
 */
function nextTool(before, step) {
  return /** @type {ToolPart} */ (
    compact({
      ...before,
      ...step,
      input: step.input,
      output: step.output,
      errorText: step.errorText,
      rawInput: step.rawInput,
      preliminary: step.preliminary,
      title: step.title ?? before?.title,
      providerExecuted: step.providerExecuted ?? before?.providerExecuted,
      callProviderMetadata: step.callProviderMetadata ?? before?.callProviderMetadata,
      resultProviderMetadata: step.resultProviderMetadata ?? before?.resultProviderMetadata,
    })
  );
}

/** @param {Chunk} chunk @param {boolean} dynamic @returns {Partial<ToolPart>} */
function toolIdentity(chunk, dynamic) {
  return dynamic
    ? { type: "dynamic-tool", toolName: chunk.toolName, toolCallId: chunk.toolCallId }
    : { type: `tool-${chunk.toolName}`, toolCallId: chunk.toolCallId };
}

/**
 * @param {FoldState} state
 * @param {Chunk} chunk
 * @param {(part: ToolPart) => ToolPart} change
 * @returns {FoldState}
 */
function changeTool(state, chunk, change) {
  let index = indexInStep(state, chunk.toolCallId, "any");
  if (index < 0) {
    index = state.message.parts.findLastIndex(
      (part) => isTool(part) && part.toolCallId === chunk.toolCallId,
    );
  }
  if (index < 0) throw new FoldError(`expected a tool call "${chunk.toolCallId}" in the message`);
  const settled = settleInputs(state);
  return replace(settled, index, change(/** @type {ToolPart} */ (settled.message.parts[index])));
}

/**
 * @param {FoldState} state
 * @param {string} toolCallId
 * @param {"dynamic" | "static" | "any"} kind
 */
function indexInStep(state, toolCallId, kind) {
  const { parts } = state.message;
  for (let index = parts.length - 1; index >= 0; index -= 1) {
    const part = parts[index];
    if (part.type === "step-start") return -1;
    if (!isTool(part) || part.toolCallId !== toolCallId) continue;
    if (kind === "any" || (kind === "dynamic") === (part.type === "dynamic-tool")) return index;
  }
  return -1;
}

/**
 * Parses streaming arguments into their parts. Separate from the fold, so that long arguments are
 * parsed once per frame and not once per chunk.
 * @param {FoldState} state
 * @returns {FoldState}
 */
export function settleInputs(state) {
  let settled = state;
  for (const { json, index } of state.inputs.values()) {
    const part = /** @type {ToolPart} */ (settled.message.parts[index]);
    if (json === null || part.rawInput === json || part.state !== "input-streaming") continue;
    const input = parsePartialJson(json) ?? part.input;
    settled = replace(
      settled,
      index,
      /** @type {any} */ (compact({ ...part, rawInput: json, input })),
    );
  }
  return settled;
}

/** @param {Part} part @returns {part is ToolPart} */
export function isTool(part) {
  return part.type === "dynamic-tool" || part.type.startsWith("tool-");
}
