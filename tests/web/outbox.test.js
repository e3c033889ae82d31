// @ts-check
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { createPanelStorage } from "../../web/services/storage.js";
import { textOf } from "../../web/state/messages.js";
import { createOutbox } from "../../web/state/outbox.js";
import {
  ACCEPTED,
  eventually,
  fakeEvents,
  heldWait,
  inTurn,
  offline,
  openChat,
  pageStorage,
  running,
  said,
  until,
} from "./fakes.js";

const message = (/** @type {string} */ id, text = id) => said(id, "user", text);
const ids = (/** @type {ReturnType<typeof createOutbox>} */ outbox, chat = "c") =>
  outbox.of(chat).map((entry) => entry.message.id);

/** The browser's storage, with room for so many characters. */
function storageOf(room = Infinity) {
  /** @type {Map<string, string>} */
  const values = new Map();
  const open = () =>
    /** @type {any} */ ({
      getItem: (/** @type {string} */ name) => values.get(name) ?? null,
      removeItem: (/** @type {string} */ name) => void values.delete(name),
      setItem(/** @type {string} */ name, /** @type {string} */ value) {
        if (value.length > room) throw new DOMException("full", "QuotaExceededError");
        values.set(name, value);
      },
    });
  return { reload: () => createPanelStorage("", open), values };
}

test("an entry outlives a reload, in the order of sending and by chat", () => {
  const { reload, values } = storageOf();
  const outbox = createOutbox(reload());
  for (const [id, chat] of [["one", "c"], ["two", "d"], ["three", "c"]]) {
    outbox.add({ chat, known: true, message: message(id) });
  }
  const later = createOutbox(reload());
  assert.deepEqual([ids(later), ids(later, "d")], [["one", "three"], ["two"]]);
  for (const id of ["one", "two", "three"]) later.remove(id);
  assert.deepEqual([ids(later), values.size], [[], 0]);
});

test("a message that is too large for the storage takes no other with it, and is not stored", () => {
  const { reload } = storageOf(300);
  const outbox = createOutbox(reload());
  outbox.add({ chat: "c", known: true, message: message("one") });
  assert.equal(outbox.isFleeting(), false);
  outbox.add({ chat: "c", known: true, message: message("two", "x".repeat(400)) });
  assert.deepEqual([ids(outbox), outbox.isFleeting()], [["one", "two"], true]);
  assert.deepEqual(ids(createOutbox(reload())), ["one"]);
  outbox.remove("two");
  assert.equal(outbox.isFleeting(), false);
});

test("messages whose list does not fit into the storage are not stored", () => {
  const { reload } = storageOf(300);
  const outbox = createOutbox(reload());
  const many = Array.from({ length: 30 }, (_each, at) => `message-${at}`);
  for (const id of many) outbox.add({ chat: "c", known: true, message: message(id) });
  assert.deepEqual([ids(outbox), outbox.isFleeting()], [many, true]);
  for (const id of many.slice(5)) outbox.remove(id);
  assert.equal(outbox.isFleeting(), false);
  assert.deepEqual(ids(createOutbox(reload())), many.slice(0, 5));
});

test("damaged entries are passed over", () => {
  const storage = pageStorage();
  storage.set("outbox", '["a", "b", 3]');
  storage.set("outbox.a", "{oops");
  storage.set("outbox.b", '{"chat": "c"}');
  assert.deepEqual(createOutbox(storage).of("c"), []);
});

// A test that failed leaves no chat behind that goes on trying.
/** @type {(() => void)[]} */
const cut = [];
after(() => cut.forEach((back) => back()));

/**
 * A chat whose server is away from the first command on, until `back`.
 * @param {Record<string, unknown>} [first] fields of the first snapshot
 * @param {Record<string, unknown>} [more] services
 */
async function cutOff(first = {}, more = {}) {
  const outbox = createOutbox(pageStorage());
  let away = true;
  const command = () => (away ? offline() : { accepted: true, queued: 0 });
  const opened = await openChat(first, { routes: { command }, more: { outbox, ...more } });
  const back = () => {
    away = false;
    opened.events.refuse(null);
  };
  cut.push(back);
  opened.events.refuse(/** @type {any} */ (new TypeError("away")));
  return { ...opened, outbox, back };
}
const inLog = (/** @type {any} */ chat) => chat.get().messages.map(textOf);
const unsent = (/** @type {any} */ chat) => chat.get().unsent.map(textOf);

test("each message that is sent while ComfyUI is away is in sight until it has arrived", async () => {
  const { chat, outbox, back, commands } = await cutOff();
  const sent = ["one", "two", "three"].map((text) => chat.send(text, []));
  assert.deepEqual([...inLog(chat), ...unsent(chat)], ["one", "two", "three"]);
  assert.equal(outbox.of("c").length, 3);
  await until(chat, ({ lost }) => lost);
  assert.deepEqual([inLog(chat), unsent(chat)], [["one"], ["two", "three"]]);
  back();
  assert.deepEqual(await Promise.all(sent), [true, true, true]);
  const arrived = commands().filter(({ type }) => type === "user_message").map(({ message: { id } }) => id);
  assert.equal(new Set(arrived).size, 3);
  assert.deepEqual(outbox.of("c"), []);
});

test("a message for a chat that was answering is in sight, too", async () => {
  const { chat, back } = await cutOff({
    messages: [message("u", "Hi")],
    stream: { message: { id: "a", role: "assistant", parts: [] }, chunks: [] },
    runtime: running("generating"),
  });
  const sent = chat.send("next", []);
  await until(chat, ({ lost }) => lost);
  assert.deepEqual([inLog(chat), unsent(chat)], [["Hi", ""], ["next"]]);
  back();
  assert.equal(await sent, true);
});

test("a chat that was left goes on trying, with a pause between two attempts", async () => {
  const { wait, pauses, pass } = heldWait();
  const { chat, back, commands } = await cutOff({}, { wait });
  const sent = chat.send("one", []);
  await until(chat, ({ lost }) => lost);
  chat.leave();
  // The pauses from now on are not those of the event stream, which has ended.
  pass();
  for (const attempts of [2, 3]) {
    await eventually(() => pauses.length > 0);
    assert.deepEqual([commands().length, pauses.length], [attempts, 1]);
    pass();
  }
  await eventually(() => pauses.length > 0);
  back();
  pass();
  assert.equal(await sent, true);
  assert.equal(commands().length, 5);
});

test("while only commands do not arrive there is a pause between two attempts", async () => {
  const { wait, pauses, pass } = heldWait();
  const command = inTurn(offline, offline, ACCEPTED);
  const { chat, commands } = await openChat({}, { routes: { command }, more: { wait } });
  const sent = chat.send("one", []);
  for (const attempts of [1, 2]) {
    await eventually(() => pauses.length > 0 || commands().length > attempts);
    assert.deepEqual([commands().length, pauses.length], [attempts, 1]);
    pass();
  }
  assert.equal(await sent, true);
});

test("after a reload a message is in sight, and goes out when ComfyUI is back", async () => {
  const outbox = createOutbox(pageStorage());
  for (const id of ["one", "two"]) outbox.add({ chat: "c", known: true, message: message(id) });
  const again = await openChat({}, { more: { outbox } });
  await eventually(() => again.commands().length === 2);
  const texts = again.commands().map((command) => textOf(command.message));
  assert.deepEqual(texts, ["one", "two"]);
  assert.deepEqual(unsent(again.chat), []);
  await eventually(() => outbox.of("c").length === 0);
});

test("what is sent after a reload is no draft any more; another text stays one", async () => {
  for (const [draft, last] of [["one\n", "clear_draft"], ["other", "user_message"]]) {
    const outbox = createOutbox(pageStorage());
    outbox.add({ chat: "c", known: true, message: message("one") });
    const { commands } = await openChat({ draft }, { more: { outbox } });
    await eventually(() => outbox.of("c").length === 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(commands().at(-1).type, last);
  }
});

test("what had arrived before the reload is not sent again", async () => {
  const outbox = createOutbox(pageStorage());
  outbox.add({ chat: "c", known: true, message: message("one") });
  const { chat, commands } = await openChat({ messages: [message("one")] }, { more: { outbox } });
  assert.deepEqual([commands(), unsent(chat), outbox.of("c")], [[], [], []]);
});

test("what another tab sends while this one loads the chat is left to that tab", async () => {
  const outbox = createOutbox(pageStorage());
  /** @type {(() => void)[]} */
  const loading = [];
  const events = fakeEvents({ messages: [message("there")] });
  const subscribe = async (/** @type {[any, any, any]} */ ...asked) => {
    await new Promise((load) => loading.push(() => load(undefined)));
    return events.subscribe(...asked);
  };
  const opening = openChat({}, { routes: { subscribe }, more: { outbox } });
  await eventually(() => loading.length === 1);
  for (const id of ["there", "two"]) outbox.add({ chat: "c", known: true, message: message(id) });
  loading[0]();
  const { commands } = await opening;
  assert.deepEqual([ids(outbox), commands()], [["two"], []]);
});

test("a message that was taken back where the chat is open again is never sent", async () => {
  const { chat, outbox, back, commands } = await cutOff();
  const sent = ["one", "two"].map((text) => chat.send(text, []));
  await until(chat, ({ lost }) => lost);
  chat.leave();
  const before = commands().length;
  for (const { message: each } of outbox.of("c")) outbox.remove(each.id);
  back();
  assert.deepEqual(await Promise.all(sent), [true, true]);
  assert.equal(commands().length, before);
  assert.deepEqual([inLog(chat), unsent(chat)], [[], []]);
});

test("a message that waits for ComfyUI is taken back and never sent", async () => {
  const { chat, outbox, back, commands } = await cutOff();
  const sent = [chat.send("one", []), chat.send("two", [])];
  await until(chat, ({ lost }) => lost);
  const [{ id }] = chat.get().unsent;
  assert.ok(await chat.cancelQueued(id));
  assert.deepEqual([unsent(chat), outbox.of("c").length], [[], 1]);
  back();
  await Promise.all(sent);
  const texts = commands().map((command) => textOf(command.message));
  assert.deepEqual(new Set(texts), new Set(["one"]));
});
