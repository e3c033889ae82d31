// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createEventReader, readEvents } from "../../web/services/sse.js";

const encode = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** @param {Uint8Array[]} pieces @returns {ReadableStream<Uint8Array>} */
const streamOf = (pieces) =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });

/** @param {ReadableStream<Uint8Array>} stream */
async function collect(stream) {
  const seen = [];
  for await (const event of readEvents(stream, { signal: new AbortController().signal })) {
    seen.push(event);
  }
  return seen;
}

const BYTES = encode(
  ': heartbeat\n\nid: 3\nevent: stream_delta\ndata: {"seq":3}\n\r\n' +
    'data: {"text":"Grüße 你好 🙂"}\r\n\r\nevent:x\ndata:{"a":\ndata: 1}\r\rid: 9\n\n',
);
const EXPECTED = [
  { id: "3", event: "stream_delta", data: '{"seq":3}' },
  { id: "", event: "", data: '{"text":"Grüße 你好 🙂"}' },
  { id: "", event: "x", data: '{"a":\n1}' },
];

test("splitting the bytes at any position gives the same events", async () => {
  for (let cut = 0; cut <= BYTES.length; cut += 1) {
    const seen = await collect(streamOf([BYTES.slice(0, cut), BYTES.slice(cut)]));
    assert.deepEqual(seen, EXPECTED, `split at ${cut}`);
  }
});

test("single bytes give the same events", async () => {
  assert.deepEqual(await collect(streamOf([...BYTES].map((byte) => Uint8Array.of(byte)))), EXPECTED);
});

test("an event without its final blank line is dropped", async () => {
  assert.deepEqual(await collect(streamOf([encode('data: {"seq":1}')])), []);
});

test("heartbeats call onBytes and give no event", async () => {
  let heard = 0;
  const { signal } = new AbortController();
  const stream = streamOf([encode(": 1\n\n"), encode(": 2\n\n")]);
  for await (const _event of readEvents(stream, { signal, onBytes: () => (heard += 1) })) {
    assert.fail("a comment is no event");
  }
  assert.equal(heard, 2);
});

test("the signal ends the reading and closes the connection", async () => {
  let cancelled = false;
  const connection = new AbortController();
  const stream = new ReadableStream({
    cancel() {
      cancelled = true;
    },
  });
  const events = readEvents(stream, { signal: connection.signal });
  const next = events.next();
  connection.abort();
  assert.equal((await next).done, true);
  assert.equal(cancelled, true);
});

test("a long stream is read in linear time", () => {
  const reader = createEventReader();
  let count = 0;
  const bytes = encode("data: x\n\n".repeat(20_000));
  for (let start = 0; start < bytes.length; start += 1000) {
    count += reader.push(bytes.slice(start, start + 1000)).length;
  }
  assert.equal(count, 20_000);
});
