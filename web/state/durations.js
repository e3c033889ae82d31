// @ts-check
/** Durations of the parts of an answer, measured while its chunks arrive. */

import { durationKey } from "./messages.js";

/** @typedef {import("../types.js").Chunk} Chunk */
/** @typedef {import("../types.js").UIMessage} UIMessage */

const STARTS = new Set(["reasoning-start", "tool-input-start"]);
const ENDS = new Set(["reasoning-end", "tool-output-available", "tool-output-error"]);

/** @param {() => Date} now */
export function createDurations(now) {
  /** @type {Map<string, {key: string, at: number}>} by chunk id or tool call id */
  const begun = new Map();
  /** @type {Readonly<Record<string, number>>} */
  let measured = {};
  return {
    /** @param {UIMessage} message as it is after the chunk @param {Chunk} chunk */
    note(message, chunk) {
      // A call that waited for approval gets no duration: most of it would be the user's time.
      if (chunk.type === "tool-approval-request") begun.delete(String(chunk.toolCallId));
      if (!STARTS.has(chunk.type) && !ENDS.has(chunk.type)) return;
      const id = String(chunk.toolCallId ?? chunk.id);
      const at = now().getTime();
      const start = begun.get(id);
      if (STARTS.has(chunk.type)) {
        const part = chunk.toolCallId ?? message.parts.length - 1;
        begun.set(id, { key: durationKey(message.id, part), at });
      } else if (start) {
        measured = { ...measured, [start.key]: at - start.at };
        begun.delete(id);
      }
    },
    /** @returns {Record<string, number>} milliseconds by `durationKey` */
    all: () => measured,
  };
}
