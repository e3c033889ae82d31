// @ts-check
/**
 * Follows one stream to its end and puts what it says into the chat's state, at most once per
 * frame. What happens after the end is `chat.js`'s.
 */

import { readChunks, StreamFormatError } from "../services/sse.js";
import { brokenStream, namelessError } from "./failure.js";
import { FoldError } from "./fold-state.js";
import { durationKey, withMessage } from "./messages.js";
import { createReplay } from "./replay.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").Chunk} Chunk */

const STARTS = new Set(["reasoning-start", "tool-input-start"]);
const ENDS = new Set(["reasoning-end", "tool-output-available", "tool-output-error"]);

/**
 * @typedef {object} Following
 * @property {import("./store.js").Store<ChatState>} store
 * @property {boolean} goesOn whether the stream is expected to continue the last answer
 * @property {(() => Date) | null} now null for a stream that tells what is past already: how long
 *   its parts took cannot be measured
 * @property {(draw: () => void) => void} frame
 * @property {() => boolean} current false as soon as something else runs in this chat
 */

/**
 * @param {Response} response
 * @param {Following} following
 * @returns {Promise<"done" | "cut" | "broken">} "cut": the connection ended before the stream did
 */
export async function followStream(response, following) {
  const { store, current } = following;
  const { messages } = store.get();
  const replay = createReplay((id) => messages.find((each) => each.id === id), following.goesOn);
  const durations = createDurations(following.now);
  let failed = "";
  let drawing = false;

  const publish = () => {
    drawing = false;
    const { message } = replay;
    if (!current() || !message.id) return;
    store.set({
      messages: withMessage(store.get().messages, message),
      durations: durations.all(store.get().durations),
    });
  };

  /** @param {Chunk} chunk */
  const take = (chunk) => {
    if (chunk.type === "data-context") store.set({ report: chunk.data });
    if (chunk.type === "error") failed = chunk.errorText;
    replay.apply(chunk);
    durations.note(replay, chunk);
    if (drawing) return;
    drawing = true;
    following.frame(publish);
  };

  const ended = await read(response, take, current);
  publish();
  if (!current()) return ended;
  if (ended === "broken") store.set({ failure: brokenStream() });
  else if (failed && !replay.message.metadata?.error) {
    store.set({ failure: namelessError(failed) });
  }
  return ended;
}

/**
 * @param {Response} response
 * @param {(chunk: Chunk) => void} take
 * @param {() => boolean} current
 * @returns {Promise<"done" | "cut" | "broken">}
 */
async function read(response, take, current) {
  if (!response.body) return "cut";
  const chunks = readChunks(response.body);
  try {
    for (;;) {
      const { done, value } = await chunks.next();
      if (!current()) {
        await chunks.return(false);
        return "done";
      }
      if (done) return value ? "done" : "cut";
      take(value);
    }
  } catch (error) {
    const broken = error instanceof StreamFormatError || error instanceof FoldError;
    await chunks.return(false);
    return broken ? "broken" : "cut";
  }
}

/** @param {(() => Date) | null} now */
function createDurations(now) {
  /** @type {Map<string, {key: string, at: number}>} by the id of the chunks */
  const begun = new Map();
  /** @type {Record<string, number>} */
  let measured = {};
  return {
    /** @param {{message: import("../types.js").UIMessage}} replay @param {Chunk} chunk */
    note(replay, chunk) {
      if (!now || !(STARTS.has(chunk.type) || ENDS.has(chunk.type))) return;
      const id = String(chunk.toolCallId ?? chunk.id);
      const at = now().getTime();
      const start = begun.get(id);
      if (STARTS.has(chunk.type)) {
        const { message } = replay;
        const part = chunk.toolCallId ?? message.parts.length - 1;
        begun.set(id, { key: durationKey(message.id, part), at });
      } else if (start) {
        measured = { ...measured, [start.key]: at - start.at };
      }
    },
    /** @param {Record<string, number>} known */
    all: (known) => (Object.keys(measured).length ? { ...known, ...measured } : known),
  };
}
