// @ts-check
/** Memory without elements: the page's state, what answers say, temporary chats, deleting a chat. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ApiError, createApi } from "../../web/services/api.js";
import { createPanelStorage } from "../../web/services/storage.js";
import { isToldAsKept, keptIn, memoriesOf } from "../../web/state/kept.js";
import { createPanel } from "../../web/state/panel.js";
import { historyOf, pinnedFirst, sourceText } from "../../web/text/memory.js";
import { panelCommandOf } from "../../web/text/slash.js";
import { ACCEPTED, eventually, fakeEvents, fakeServer, services } from "./fakes.js";

/** @typedef {import("../../web/types.js").Memory} Memory */
/** @typedef {import("../../web/types.js").UIMessage} UIMessage */

/** @type {(() => void)[]} */
const opened = [];
after(() => opened.forEach((close) => close()));

/** @param {string} id @param {Partial<Memory>} [more] @returns {Memory} */
const memory = (id, more) => ({
  id,
  kind: "fact",
  text: `Memory ${id}`,
  entities: [],
  source: { chat_id: "c", message_id: "u1", quote: `Memory ${id}` },
  created: `2026-11-0${id}T10:00:00Z`,
  used: null,
  uses: 0,
  pinned: false,
  superseded_by: null,
  ...more,
});

/** @param {Record<string, (...given: any[]) => any>} [routes] @param {Record<string, unknown>} [first] */
function open(routes = {}, first = {}) {
  const events = fakeEvents(first);
  const server = fakeServer({
    health: () => ({ status: "ok", provider: null, problems: [] }),
    userSkills: () => [],
    systemSkills: () => [],
    commands: () => [],
    command: () => ACCEPTED,
    createChat: () => undefined,
    endChat: () => undefined,
    memoryMode: () => "auto",
    rules: () => [],
    preferences: () => [],
    memories: () => ({ memories: [], has_more: false }),
    subscribe: (_id, position, signal) => events.subscribe(_id, position, signal),
    ...routes,
  });
  /** @type {Map<string, string>} */
  const held = new Map();
  const storage = createPanelStorage(
    "",
    () =>
      /** @type {any} */ ({
        getItem: (/** @type {string} */ key) => held.get(key) ?? null,
        setItem: (/** @type {string} */ key, /** @type {string} */ value) => held.set(key, value),
        removeItem: (/** @type {string} */ key) => held.delete(key),
        length: 0,
      }),
  );
  const panel = createPanel(
    services(server.api, {
      storage,
      summary: () => null,
      wake: () => undefined,
      later: () => () => undefined,
      download: async () => undefined,
    }),
  );
  opened.push(() => {
    panel.closeList();
    panel.chat().leave();
  });
  return { panel, server, events, held };
}

const page = (/** @type {Memory[]} */ ...memories) => ({ memories, has_more: false });

test("the page loads rules, preferences, the mode and what is remembered", async () => {
  const { panel, server } = open({
    rules: () => [{ id: "1", text: "Be brief", created: "" }],
    memories: () => page(memory("3"), memory("2", { superseded_by: "3" })),
  });
  panel.showPage("memory");
  await eventually(() => panel.get().memory.mode !== null);
  const { rules, found, replaced, mode } = panel.get().memory;
  assert.deepEqual([rules?.length, mode], [1, "auto"]);
  assert.deepEqual([found?.map(({ id }) => id), replaced.map(({ id }) => id)], [["3"], ["2"]]);
  assert.deepEqual(server.asked("memories"), [[{ superseded: "true" }]]);
});

test("a list that was asked for earlier does not take the place of a later one", async () => {
  /** @type {((page: any) => void)[]} */
  const answers = [];
  const { panel } = open({ memories: () => new Promise((resolve) => answers.push(resolve)) });
  const first = panel.filterMemories("fact");
  const second = panel.filterMemories("entity");
  await eventually(() => answers.length === 2);
  answers[1](page(memory("2")));
  answers[0](page(memory("1")));
  await Promise.all([first, second]);
  assert.deepEqual(panel.get().memory.found?.map(({ id }) => id), ["2"]);
});

test("the next page begins after the last memory, also one that was replaced", async () => {
  const pages = [
    { memories: [memory("9"), memory("8", { superseded_by: "9" })], has_more: true },
    page(memory("7")),
  ];
  const { panel, server } = open({ memories: () => pages.shift() });
  await panel.filterMemories("");
  await panel.moreMemories();
  assert.deepEqual(server.asked("memories").at(-1), [{ superseded: "true", before: "8" }]);
  assert.deepEqual(panel.get().memory.found?.map(({ id }) => id), ["9", "7"]);
});

test("what was forgotten leaves the page and comes back by undo", async () => {
  const one = memory("1");
  const { panel, server } = open({
    memories: () => page(one),
    deleteMemory: () => undefined,
    restoreMemory: () => one,
  });
  await panel.filterMemories("");
  await panel.forget(one);
  assert.deepEqual(panel.get().memory.found, []);
  assert.equal(panel.get().memory.known.get("1"), null);
  assert.equal(panel.get().toast?.kind, "gone");
  await panel.undoDelete();
  assert.deepEqual(server.asked("restoreMemory"), [["1"]]);
  assert.deepEqual(panel.get().memory.known.get("1"), one);
  assert.equal(panel.get().toast, null);
});

test("what the server refuses changes nothing, and the user reads why", async () => {
  const refuse = () => {
    throw new ApiError(503, { message: "The disk is full." });
  };
  const one = memory("1");
  const { panel } = open({
    memories: () => page(one),
    deleteMemory: refuse,
    changeMemory: refuse,
    addRule: refuse,
  });
  await panel.filterMemories("");
  await panel.forget(one);
  assert.equal(await panel.changeMemory(one, { pinned: true }), false);
  assert.equal(await panel.addRule("x"), false);
  assert.deepEqual(panel.get().memory.found, [one]);
  assert.deepEqual(panel.get().toast, { kind: "said", text: "The disk is full." });
});

test("a deleted rule comes back in its place", async () => {
  const rules = ["1", "2", "3"].map((id) => ({ id, text: `Rule ${id}`, created: "" }));
  const { panel, server } = open({
    rules: () => rules,
    deleteRule: () => undefined,
    addRule: (text) => ({ id: "4", text, created: "" }),
    orderRules: (/** @type {string[]} */ ids) => ids.map((id) => ({ id, text: "", created: "" })),
  });
  await panel.openMemory();
  await panel.deleteRule("2");
  assert.deepEqual(panel.get().memory.rules?.map(({ id }) => id), ["1", "3"]);
  await panel.undoDelete();
  assert.deepEqual(server.asked("addRule"), [["Rule 2"]]);
  assert.deepEqual(server.asked("orderRules"), [[["1", "4", "3"]]]);
  await panel.moveRule("1", -1);
  await panel.moveRule("1", 1);
  assert.deepEqual(server.asked("orderRules").at(-1), [["4", "1", "3"]]);
});

test("what is deleted while another deletion is on its way goes, too", async () => {
  /** @type {(() => void)[]} */
  const going = [];
  const remove = () => new Promise((gone) => going.push(() => gone(undefined)));
  const rules = ["1", "2", "3"].map((id) => ({ id, text: `Rule ${id}`, created: "" }));
  const { panel, server } = open({
    rules: () => rules,
    preferences: () => ["a", "b"].map((key) => ({ key, value: key })),
    deleteRule: remove,
    deletePreference: remove,
    addRule: (text) => ({ id: "4", text, created: "" }),
    orderRules: () => rules,
  });
  await panel.openMemory();
  const { deleteRule, deletePreference } = panel;
  const all = [deletePreference("a"), deletePreference("b"), deleteRule("1"), deleteRule("2")];
  await eventually(() => going.length === all.length);
  for (const [at, go] of going.entries()) {
    go();
    await all[at];
  }
  const { rules: left, preferences } = panel.get().memory;
  assert.deepEqual([left?.map(({ id }) => id), preferences], [["3"], []]);
  await panel.undoDelete();
  assert.deepEqual(server.asked("orderRules"), [[["4", "3"]]]);
});

test("a mode that the installation does not allow is said", async () => {
  const { panel } = open({ setMemoryMode: () => "manual" });
  await panel.setMemoryMode("auto");
  const { mode, notAllowed } = panel.get().memory;
  assert.deepEqual([mode, notAllowed], ["manual", "auto"]);
  await panel.setMemoryMode("manual");
  assert.equal(panel.get().memory.notAllowed, null);
});

/** @param {any[]} parts @param {Record<string, unknown>} [metadata] @returns {UIMessage} */
const answer = (parts, metadata) => ({ id: "a1", role: "assistant", parts, metadata });
const kept = (/** @type {string} */ id) => ({
  type: "data-memory",
  data: { id, text: `Memory ${id}`, kind: "fact", undo: `/api/memories/${id}` },
});

test("an answer says what it kept and whether that is still so", () => {
  const message = answer([kept("1"), kept("2"), kept("3"), kept("1"), { type: "data-memory" }]);
  assert.deepEqual(keptIn(message).map(({ id }) => id), ["1", "2", "3"]);
  /** @type {Map<string, Memory | null>} */
  const known = new Map([
    ["2", null],
    ["3", memory("3", { superseded_by: "4" })],
  ]);
  const said = memoriesOf(message, { known, told: true });
  assert.deepEqual(said?.kept.map(({ is }) => is), ["kept", "gone", "replaced"]);
  assert.equal(memoriesOf(answer([]), { known, told: true }), null);
  assert.equal(memoriesOf({ ...message, role: "user" }, { known, told: true }), null);
});

test("an answer names the memories that it was given", () => {
  const known = new Map([
    ["1", memory("1")],
    ["2", null],
  ]);
  const message = answer([], { memories: ["1", "2", "3", 4] });
  assert.deepEqual(memoriesOf(message, { known, told: false })?.used, [
    { id: "1", text: "Memory 1" },
    { id: "2", text: "" },
    { id: "3", text: null },
  ]);
});

test("the call that kept a memory is not told twice", () => {
  const call = (/** @type {unknown} */ output) =>
    /** @type {any} */ ({
      type: "dynamic-tool",
      toolName: "memory_write",
      toolCallId: "1",
      state: "output-available",
      output,
    });
  const done = call({ kept: "Memory 1", replaced: 0 });
  assert.equal(isToldAsKept(done, [done, kept("1")]), true);
  assert.equal(isToldAsKept(call('{"kept": "Memory 1"}'), [kept("1")]), true);
  assert.equal(isToldAsKept(call({ known: "1" }), [kept("1")]), false);
  assert.equal(isToldAsKept(done, [done]), false);
});

test("what cards name is looked up once, when the answer is done", async () => {
  const one = memory("1");
  const { panel, server, events } = open({ memories: () => page(one) });
  await panel.send("Hello", []);
  await eventually(() => events.readers.size > 0);
  const [, { message }] = server.asked("command")[0];
  events.push("message_added", { message, after: null });
  const said = answer([kept("1"), kept("2")]);
  events.push("message_added", { message: said, after: message.id });
  await eventually(() => panel.get().memory.known.size === 2);
  assert.deepEqual([...panel.get().memory.known.values()], [one, null]);
  events.push("thread_updated", { chat: { title: "Another" } });
  await eventually(() => panel.get().chat.title === "Another");
  assert.equal(server.asked("memories").length, 1);
});

test("older memories stand at the one that took their place at last", () => {
  const current = [memory("4"), memory("9")];
  const replaced = [
    memory("1", { superseded_by: "2" }),
    memory("2", { superseded_by: "4" }),
    memory("3", { superseded_by: "7" }),
    memory("5", { superseded_by: "6" }),
    memory("6", { superseded_by: "5" }),
  ];
  const { of, lost } = historyOf(current, replaced);
  assert.deepEqual(of.get("4")?.map(({ id }) => id), ["2", "1"]);
  assert.deepEqual(lost.map(({ id }) => id), ["6", "5", "3"]);
  const pinned = pinnedFirst([memory("1"), memory("2", { pinned: true })]);
  assert.deepEqual(pinned.map(({ id }) => id), ["2", "1"]);
});

test("a memory says where it comes from", () => {
  const said = { chat_id: "c", message_id: "u", quote: "i always want 4:5 portraits!" };
  const text = "I always want 4:5 portraits";
  assert.equal(sourceText(memory("1", { text, source: said })), "Said in a chat");
  assert.equal(
    sourceText(memory("1", { text: "Portraits are 4:5", source: said })),
    "Said in a chat: “i always want 4:5 portraits!”",
  );
  assert.equal(sourceText(memory("1", { source: null })), "Added by you");
  assert.equal(panelCommandOf("/memory"), "memory");
  assert.equal(panelCommandOf("/memory fox"), null);
});

test("nothing of a temporary chat is stored, and it ends when it is left", async () => {
  const { panel, server, held } = open();
  panel.welcome();
  await panel.newTemporaryChat();
  const { id } = panel.get().chat;
  assert.equal(panel.get().chat.temporary, true);
  panel.keepDraft("half a secret");
  assert.equal(panel.draft(), "half a secret");
  await panel.send("a secret", []);
  const [made] = server.asked("createChat");
  assert.deepEqual([made[0], made[2]], [id, true]);
  assert.equal(server.asked("command")[0][1].temporary, true);
  panel.keepDraft("half a secret");
  assert.deepEqual([...held.keys()], ["comfyui-assistant.welcomed"]);
  await panel.newChat();
  assert.deepEqual(server.asked("endChat"), [[id]]);
  assert.deepEqual([panel.get().chat.temporary, panel.draft()], [false, ""]);
  await panel.send("kept", []);
  assert.equal(server.asked("createChat").at(-1)?.length, 2);
  assert.equal("temporary" in server.asked("command").at(-1)?.[1], false);
});

test("a temporary chat that the server has ended is followed by another temporary one", async () => {
  const { panel, events } = open();
  await panel.newTemporaryChat();
  const { id } = panel.get().chat;
  await panel.send("a secret", []);
  await eventually(() => events.readers.size > 0);
  events.refuse(new ApiError(404, { code: "not_found", message: "Gone." }));
  events.cut();
  await eventually(() => panel.get().chat.id !== id);
  assert.equal(panel.get().chat.temporary, true);
  const { toast } = panel.get();
  assert.match(toast?.kind === "said" ? toast.text : "", /has ended/);
});

test("the toast of a deleted chat asks about what was learned from it", async () => {
  const { panel, server } = open({
    memories: () => page(memory("1"), memory("2"), memory("3", { source: null })),
    deleteChat: () => undefined,
    restoreChat: () => undefined,
  });
  await panel.deleteChat("c");
  assert.equal(panel.get().toast?.kind === "deleted" && panel.get().toast?.learned, 2);
  await panel.forgetLearned();
  assert.deepEqual(server.asked("deleteChat"), [["c"], ["c", true]]);
  const { toast } = panel.get();
  assert.equal(toast?.kind === "deleted" && toast.forgotten, 2);
  assert.equal(toast?.kind === "deleted" && toast.learned, undefined);
  await panel.undoDelete();
  assert.deepEqual(server.asked("restoreChat"), [["c"], ["c"]]);
});

test("the routes of memory are asked as they are documented", async () => {
  /** @type {unknown[][]} */
  const sent = [];
  const api = createApi(async (path, { method, body }) => {
    sent.push([method, path, body && JSON.parse(String(body))]);
    return new Response(JSON.stringify({ memories: [], rules: [], preferences: [], mode: "off" }));
  }, "me");
  await api.memories({ q: "low sun", kind: "fact", before: "7" });
  await api.changeMemory("a/b", { pinned: true });
  await api.deleteMemory("1");
  await api.restoreMemory("1");
  await api.setMemoryMode("off");
  await api.orderRules(["2", "1"]);
  await api.setPreference("image size", "1024");
  await api.deleteChat("c", true);
  await api.createChat("t", undefined, true);
  assert.deepEqual(sent, [
    ["GET", "/memories?q=low+sun&kind=fact&before=7&limit=500", undefined],
    ["PATCH", "/memories/a%2Fb", { pinned: true }],
    ["DELETE", "/memories/1", undefined],
    ["POST", "/memories/1/restore", {}],
    ["PUT", "/memories/settings", { mode: "off" }],
    ["PUT", "/user-context/rules/order", { ids: ["2", "1"] }],
    ["PUT", "/user-context/preferences/image%20size", { value: "1024" }],
    ["DELETE", "/chats/c?memories=true", undefined],
    ["POST", "/chats", { id: "t", temporary: true }],
  ]);
});
