// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { foldEvent, foldFeed, keepEarlier, messagesOf } from "../../web/state/fold-events.js";
import { withDecisions } from "../../web/state/messages.js";
import { answer, empty, running, said, snapshot } from "./fakes.js";

/** @typedef {import("../../web/state/fold-events.js").ServerChat} ServerChat */

/** @param {Record<string, unknown>} first @param {...[string, Record<string, unknown>]} events */
function folded(first, ...events) {
  /** @type {ServerChat | null} */
  let state = null;
  const all = [["snapshot", snapshot(first)], ...events];
  for (const [type, fields] of /** @type {[string, any][]} */ (all)) {
    state = foldEvent(state, { seq: 1, epoch: "e", type, ...fields });
  }
  return /** @type {ServerChat} */ (state);
}

/** @param {ServerChat} state */
const ids = (state) => state.messages.map(({ id }) => id);

const TWO = { messages: [said("u", "user", "Hi"), said("a", "assistant", "Hello")] };

test("a snapshot during an answer equals the folded events, at every chunk", () => {
  const chunks = answer("a", "Hello");
  const asked = { messages: [said("u", "user", "Hi")] };
  for (let count = 0; count <= chunks.length; count += 1) {
    const replayed = folded(
      asked,
      ["stream_started", { message: empty("a") }],
      ...chunks
        .slice(0, count)
        .map((chunk) => /** @type {[string, any]} */ (["stream_delta", { message_id: "a", chunk }])),
    );
    const stream = { message: empty("a"), chunks: chunks.slice(0, count) };
    assert.deepEqual(replayed, folded({ ...asked, stream }));
  }
});

test("a finished stream becomes a message", () => {
  const state = folded(
    { messages: [said("u", "user", "Hi")] },
    ["stream_started", { message: empty("a"), version: { index: 1, ids: ["b", "a"] } }],
    ["stream_delta", { message_id: "a", chunk: { type: "start", messageId: "a" } }],
    ["stream_finished", { message_id: "a", state: "idle" }],
  );
  assert.deepEqual([ids(state), state.stream], [["u", "a"], null]);
  assert.deepEqual([...state.versions], [["a", { index: 1, ids: ["b", "a"] }]]);
});

test("a stream that continues an answer replaces its message", () => {
  const state = folded(TWO, ["stream_started", { message: TWO.messages[1] }]);
  assert.deepEqual(messagesOf(state), TWO.messages);
});

test("messages are added, updated, removed and truncated", () => {
  const c = said("c", "user", "more");
  assert.deepEqual(ids(folded(TWO, ["message_added", { message: c, after: "a" }])), ["u", "a", "c"]);
  assert.deepEqual(ids(folded(TWO, ["message_added", { message: c, after: "u" }])), ["u", "c", "a"]);
  assert.deepEqual(ids(folded(TWO, ["message_removed", { message_id: "u" }])), ["a"]);
  assert.deepEqual(ids(folded(TWO, ["messages_truncated", { after: "u" }])), ["u"]);
  assert.deepEqual(ids(folded(TWO, ["messages_truncated", { after: null }])), []);
  const changed = folded(TWO, ["message_updated", { message: said("u", "user", "Ho") }]);
  assert.equal(/** @type {any} */ (changed.messages[0].parts[0]).text, "Ho");
});

test("versions are removed with their messages", () => {
  const versions = { u: { index: 0, ids: ["u", "v"] }, a: { index: 0, ids: ["a", "b"] } };
  const state = folded({ ...TWO, versions }, ["messages_truncated", { after: "u" }]);
  assert.deepEqual([...state.versions.keys()], ["u"]);
});

test("events of chat, queue, runtime and context replace the earlier values", () => {
  const state = folded(
    { chat: { id: "c", title: "Old", pinned: true }, draft: "old" },
    ["thread_updated", { chat: { title: "New" }, draft: null }],
    ["queue_updated", { queue: [{ id: "q", type: "user_message" }], held: true }],
    ["runtime_updated", { runtime: running("paused") }],
    ["context_compacted", { report: { request: 2 } }],
    ["context_compacted", { report: null, text: "Nothing." }],
  );
  assert.deepEqual(state.chat, { id: "c", title: "New", pinned: true });
  assert.deepEqual(
    [state.draft, state.queue.length, state.held, state.runtime.state, state.report?.request],
    ["", 1, true, "paused", 2],
  );
});

test("thread_updated without a draft keeps the draft", () => {
  assert.equal(folded({ draft: "kept" }, ["thread_updated", { chat: {} }]).draft, "kept");
});

for (const [what, event] of /** @type {[string, [string, any]][]} */ ([
  ["a chunk without a stream", ["stream_delta", { message_id: "x", chunk: { type: "start" } }]],
  ["an end without a stream", ["stream_finished", { message_id: "x" }]],
  ["an unknown predecessor", ["message_added", { message: said("c", "user", ""), after: "x" }]],
  ["a truncation at an unknown message", ["messages_truncated", { after: "x" }]],
])) {
  test(`${what} does not fit`, () => assert.throws(() => folded(TWO, event), /expected/));
}

test("an unknown event changes nothing", () => {
  assert.deepEqual(folded(TWO, ["thread_painted", {}]), folded(TWO));
});

test("a truncation before the loaded messages removes them and keeps hasMore", () => {
  const state = folded({ ...TWO, has_more: true }, ["messages_truncated", { after: "far" }]);
  assert.deepEqual([ids(state), state.hasMore], [[], true]);
});

test("older messages are kept only with a snapshot of the same path", () => {
  const before = folded({ messages: [said("o", "user", "old"), ...TWO.messages] });
  assert.deepEqual(ids(keepEarlier(before, folded({ ...TWO, has_more: true }))), ["o", "u", "a"]);
  const other = folded({ messages: [said("x", "user", "")], has_more: true });
  assert.deepEqual(ids(keepEarlier(before, other)), ["x"]);
});

test("the list of chats follows its events", () => {
  const entry = (/** @type {string} */ id, /** @type {string} */ updated) =>
    /** @type {any} */ ({ id, updated, title: id });
  const fold = (/** @type {any[]} */ chats, /** @type {string} */ type, /** @type {any} */ fields) =>
    foldFeed(chats, { seq: 1, epoch: "e", type, ...fields });
  const chats = [entry("b", "2"), entry("a", "1")];
  assert.deepEqual(fold([], "snapshot", { chats }), chats);
  assert.deepEqual(
    fold(chats, "chat_created", { chat: entry("c", "3") }).map(({ id }) => id),
    ["c", "b", "a"],
  );
  const [first] = fold(chats, "chat_changed", { chat: { id: "a", updated: "4" } });
  assert.deepEqual([first.id, first.title], ["a", "a"]);
  assert.deepEqual(fold(chats, "chat_deleted", { chat_id: "b" }), [chats[1]]);
});

const FOREIGN_IDS = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"];

for (const id of FOREIGN_IDS) {
  test(`a message, a part and a tool call may be named "${id}"`, () => {
    const message = said(id, "assistant", "Hello");
    assert.equal(folded({ messages: [message] }).versions.get(id), undefined);
    const version = { index: 0, ids: [id, "b"] };
    const versions = JSON.parse(`{${JSON.stringify(id)}: ${JSON.stringify(version)}}`);
    const state = folded({ messages: [message], versions });
    assert.deepEqual(state.versions.get(id), version);
    assert.equal(state.versions.size, 1);

    const delta = { type: "text-delta", id, delta: "x" };
    assert.throws(() => folded({ stream: { message: empty("a"), chunks: [delta] } }), /text-start/);
    const input = { type: "tool-input-delta", toolCallId: id, inputTextDelta: "{" };
    assert.throws(() => folded({ stream: { message: empty("a"), chunks: [input] } }), /tool-input/);
  });

  test(`a call named "${id}" is not decided before the user decides`, () => {
    const call = { type: "dynamic-tool", toolName: "x", toolCallId: id, state: "approval-requested" };
    const message = /** @type {any} */ ({ id: "a", role: "assistant", parts: [call] });
    assert.deepEqual(withDecisions([message], new Map()), [message]);
    const [decided] = withDecisions([message], new Map([[id, false]]));
    assert.equal(/** @type {any} */ (decided.parts[0]).approval.approved, false);
  });
}
