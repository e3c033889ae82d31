// @ts-check
/**
 * Folds a stream that the panel joined. Such a stream either tells the running turn from its
 * beginning, of which the panel may hold a part already, or it goes on where that answer stopped
 * (after a decision of the user). Which of the two it is shows in its tool chunks: a replay
 * announces the calls that the panel knows, a continuation answers them. Pure.
 */

import { isTool } from "./fold-tool.js";
import { createReducer } from "./reducer.js";

/** @typedef {import("../types.js").Chunk} Chunk */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @param {(id: string) => UIMessage | undefined} find an answer that the panel holds
 * @param {boolean} goesOn which of the two is expected
 * @returns {{apply(chunk: Chunk): void, readonly message: UIMessage}}
 */
export function createReplay(find, goesOn) {
  let reducer = createReducer();
  /** @type {UIMessage | null} the answer in question, null as soon as it is certain */
  let held = null;
  /** @type {Chunk[]} */
  let seen = [];

  /** @param {UIMessage | null} base */
  const restart = (base) => {
    reducer = createReducer(base);
    for (const chunk of seen) reducer.apply(chunk);
    held = null;
  };

  /** @param {Chunk} chunk */
  const begin = (chunk) => {
    const found = find(chunk.messageId);
    held = found?.parts.some(isTool) ? found : null;
    seen = [];
    reducer = createReducer(goesOn ? held : null);
  };

  /** @param {Chunk} chunk */
  const decide = (chunk) => {
    if (chunk.toolCallId && holdsCall(held, chunk.toolCallId)) {
      const announced = chunk.type.startsWith("tool-input");
      if (goesOn && announced) restart(null);
      else if (!goesOn && !holdsCall(reducer.message, chunk.toolCallId)) {
        restart(announced ? null : held);
      }
    }
    // Nothing of a step that is over can change the answer to the question any more.
    if (chunk.type === "finish-step") held = null;
  };

  return {
    apply(chunk) {
      if (chunk.type === "start") begin(chunk);
      else if (held) decide(chunk);
      reducer.apply(chunk);
      if (held) seen.push(chunk);
    },
    get message() {
      return reducer.message;
    },
  };
}

/** @param {UIMessage | null} message @param {string} toolCallId */
function holdsCall(message, toolCallId) {
  return Boolean(message?.parts.some((part) => isTool(part) && part.toolCallId === toolCallId));
}
