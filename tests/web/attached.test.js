// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createAttachedByChat } from "../../web/state/attached.js";
import { FILE_LIMIT } from "../../web/text/attachment.js";

/** @param {string} name @param {number} [size] bytes */
const picture = (name, size = 1) =>
  /** @type {File} */ (/** @type {unknown} */ ({ name, type: "image/png", size }));

/** Files by chat whose reading ends when it is told to. */
function held() {
  /** @type {{name: string, end: () => void, fail: () => void}[]} */
  const reads = [];
  const read = (/** @type {any} */ { name, type, size }) =>
    new Promise((resolve, reject) => {
      const file = { id: name, filename: name, mediaType: type, size, url: `data:${name}` };
      reads.push({ name, end: () => resolve(file), fail: () => reject(new Error("gone")) });
    });
  let changes = 0;
  const chats = createAttachedByChat(/** @type {any} */ (read), () => (changes += 1));
  const names = (/** @type {string} */ key) =>
    chats.of(key).get().files.map(({ filename }) => filename);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { chats, reads, names, turn, changes: () => changes };
}

test("a file that is read slowly is attached to the chat that it was added to", async () => {
  const { chats, reads, names, turn, changes } = held();
  chats.of("new").add([picture("a.png")], null);
  await turn();
  chats.move("new", "c");
  const before = changes();
  reads[0].end();
  assert.equal(await chats.of("c").whole(), true);
  assert.deepEqual([names("c"), names("new"), names("other")], [["a.png"], [], []]);
  assert.ok(changes() > before);
});

test("files that are added while others are read count with them", async () => {
  const { chats, reads, names, turn } = held();
  const files = chats.of("c");
  files.add([picture("a.png", FILE_LIMIT)], null);
  files.add([picture("b.png", FILE_LIMIT)], null);
  await turn();
  assert.deepEqual(reads.map(({ name }) => name), ["a.png"]);
  reads[0].end();
  assert.equal(await files.whole(), false);
  assert.deepEqual(names("c"), ["a.png"]);
  assert.match(files.get().problem, /^b\.png is too large/);
});

test("a message waits for all its files, and hears of one that cannot be read", async () => {
  const { chats, reads, names, turn } = held();
  const files = chats.of("c");
  files.add([picture("a.png")], null);
  const whole = files.whole();
  files.add([picture("b.png")], null);
  await turn();
  reads[0].end();
  await turn();
  reads[1].fail();
  assert.equal(await whole, false);
  assert.deepEqual(names("c"), ["a.png"]);
  assert.equal(files.get().problem, "b.png could not be read.");
  files.set([]);
  assert.equal(await files.whole(), true);
});

test("files do not take the place of those of another chat", () => {
  const { chats, names } = held();
  chats.of("new").set(/** @type {any} */ ([{ filename: "a.png" }]));
  chats.of("c");
  chats.move("c", "new");
  assert.deepEqual(names("new"), ["a.png"]);
  chats.move("new", "c");
  assert.deepEqual([names("c"), names("new")], [["a.png"], []]);
  chats.clear();
  assert.deepEqual(names("c"), []);
});
