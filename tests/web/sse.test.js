// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createEventReader, readChunks, StreamFormatError } from "../../web/services/sse.js";

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
  const chunks = readChunks(stream);
  const seen = [];
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return { seen, complete: value };
    seen.push(value);
  }
}

const BYTES = encode(
  ': keep-alive\n\ndata: {"type":"start"}\n\r\ndata: {"type":"text-delta","delta":"Grüße 你好 🙂"}\r\n\r\n' +
    'event: x\nid: 3\ndata: {"type":\ndata: "finish"}\r\rdata: [DONE]\n\n',
);
const EXPECTED = [
  { type: "start" },
  { type: "text-delta", delta: "Grüße 你好 🙂" },
  { type: "finish" },
];

test("the same chunks come out wherever the bytes are split in two", async () => {
  for (let cut = 0; cut <= BYTES.length; cut += 1) {
    const { seen, complete } = await collect(streamOf([BYTES.slice(0, cut), BYTES.slice(cut)]));
    assert.deepEqual(seen, EXPECTED, `split at ${cut}`);
    assert.equal(complete, true);
  }
});

test("the same chunks come out when every byte comes alone", async () => {
  const { seen } = await collect(streamOf([...BYTES].map((byte) => Uint8Array.of(byte))));
  assert.deepEqual(seen, EXPECTED);
});

test("a stream that ends without [DONE] says that it was cut", async () => {
  const { seen, complete } = await collect(streamOf([encode('data: {"type":"start"}\n\n')]));
  assert.deepEqual(seen, [{ type: "start" }]);
  assert.equal(complete, false);
});

test("an event whose blank line never came is still given at the end", async () => {
  const { seen } = await collect(streamOf([encode('data: {"type":"start"}')]));
  assert.deepEqual(seen, [{ type: "start" }]);
});

test("what follows [DONE] is not read", async () => {
  const { seen } = await collect(streamOf([encode('data: [DONE]\n\ndata: {"type":"x"}\n\n')]));
  assert.deepEqual(seen, []);
});

for (const data of ["{oops", "[1]", "null", '{"no":"type"}']) {
  test(`data that is no chunk (${data}) is an error that shows it`, async () => {
    await assert.rejects(collect(streamOf([encode(`data: ${data}\n\n`)])), (error) => {
      assert.ok(error instanceof StreamFormatError);
      assert.ok(error.message.includes(data));
      return true;
    });
  });
}

test("leaving the loop early lets the connection go", async () => {
  let cancelled = false;
  const stream = new ReadableStream({
    pull: (controller) => controller.enqueue(encode('data: {"type":"start"}\n\n')),
    cancel: () => {
      cancelled = true;
    },
  });
  for await (const _chunk of readChunks(stream)) break;
  assert.equal(cancelled, true);
});

test("a reader without any data gives nothing", () => {
  const reader = createEventReader();
  assert.deepEqual(reader.push(encode(":\n\n\n")), []);
  assert.deepEqual(reader.end(), []);
});
