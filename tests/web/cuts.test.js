// @ts-check
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { createChat } from "../../web/state/chat.js";
import { textOf } from "../../web/state/messages.js";
import { answer, empty, eventually, running, said, services, snapshot } from "./fakes.js";

const CUTS = 200;
/** Percentage of new connections for which the server's event log no longer has the position. */
const FORGOTTEN = 20;

/** A random number generator with a seed, so that all runs are equal. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** The numbered events of a turn without tools, one chunk per word. */
function turn() {
  const [start, step, begin, , ...end] = answer("a", "");
  const words = Array.from({ length: 600 }, (_word, index) => ({
    type: "text-delta",
    id: "a-t",
    delta: `w${index} `,
  }));
  const chunks = [start, step, begin, ...words, ...end];
  const events = [
    { type: "runtime_updated", runtime: running("generating") },
    { type: "stream_started", message: empty("a") },
    ...chunks.map((chunk) => ({ type: "stream_delta", message_id: "a", chunk })),
    { type: "stream_finished", message_id: "a", state: "idle" },
    { type: "runtime_updated", runtime: running("idle") },
  ].map((event, index) => ({ epoch: "e", seq: index + 1, ...event }));
  return { events, chunks, text: words.map(({ delta }) => delta).join("") };
}

for (const seed of [1, 2, 3]) {
  test(`the text is complete after ${CUTS} lost connections (seed ${seed})`, async () => {
    const { events, chunks, text } = turn();
    const random = numbers(seed);
    const encoder = new TextEncoder();
    let cuts = 0;
    let sentCount = 0;

    /** The server's snapshot after `sentCount` events. */
    const state = () => {
      const streamed = Math.min(Math.max(0, sentCount - 2), chunks.length);
      return snapshot({
        seq: sentCount,
        type: "snapshot",
        epoch: "e",
        messages: [said("u", "user", "Hi")],
        runtime: running(sentCount > 0 ? "generating" : "idle"),
        stream:
          sentCount > 1 ? { message: empty("a"), chunks: chunks.slice(0, streamed) } : null,
      });
    };

    const subscribe = async (/** @type {string} */ _id, /** @type {any} */ position) => {
      /** @type {Record<string, unknown>[]} */
      const sent = [];
      let from = position?.seq ?? sentCount;
      if (!position || random(100) < FORGOTTEN) {
        sent.push(state());
        from = sentCount;
      }
      const cut = cuts < CUTS;
      const room = events.length - from - (cut ? 3 : 0);
      const count = cut ? Math.min(room, random(7)) : room;
      sent.push(...events.slice(from, from + count));
      sentCount = Math.max(sentCount, from + count);
      cuts += 1;
      const all = encoder.encode(sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
      // The connection may break in the middle of an event.
      const bytes = cut ? all.slice(0, all.length - random(20)) : all;
      let given = false;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (!given && bytes.length) controller.enqueue(bytes);
            else if (cut) controller.error(new TypeError("network error"));
            given = true;
          },
        }),
      );
    };

    const chat = createChat(services({ subscribe }), "c", { known: true });
    after(() => chat.leave());
    void chat.load();
    await eventually(() => textOf(chat.get().messages.at(-1) ?? empty("")) === text);
    await eventually(() => chat.get().status === "idle");
    assert.equal(chat.get().messages.length, 2);
    assert.ok(cuts > CUTS);
  });
}
