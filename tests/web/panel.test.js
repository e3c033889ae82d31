// @ts-check
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ApiError, NetworkError } from "../../web/services/api.js";
import { createPanelStorage } from "../../web/services/storage.js";
import { textOf } from "../../web/state/messages.js";
import { createPanel } from "../../web/state/panel.js";
import {
  ACCEPTED,
  eventually,
  fakeEvents,
  fakeServer,
  inTurn,
  pageStorage,
  running,
  said,
  services,
  until,
} from "./fakes.js";

/** @typedef {import("../../web/services/storage.js").PanelStorage} PanelStorage */

const HEALTH = { status: "ok", provider: null, problems: [] };

/** @type {(() => void)[]} */
const opened = [];
after(() => opened.forEach((close) => close()));

/**
 * @param {Record<string, (...given: any[]) => any>} [routes]
 * @param {Record<string, string>} [kept]
 * @param {Record<string, unknown>} [first] fields of the first snapshot of every chat
 * @param {Record<string, unknown>} [more] services in place of the usual ones
 */
function open(routes = {}, kept = {}, first = {}, more = {}) {
  const events = fakeEvents(first);
  const feed = fakeEvents({ chats: [] });
  const server = fakeServer({
    health: () => HEALTH,
    userSkills: () => [{ slug: "mine", name: "Mine", description: "" }],
    systemSkills: () => [{ slug: "model_x", name: "X", description: "" }],
    commands: () => [{ name: "help", line: "this list" }],
    command: () => ACCEPTED,
    createChat: () => undefined,
    subscribe: (id, ...rest) => (id ? events : feed).subscribe(id, rest[0], rest[1]),
    ...routes,
  });
  const storage = createPanelStorage("", () => {
    throw new Error("blocked");
  });
  for (const [name, value] of Object.entries(kept)) storage.set(name, value);
  /** @type {{run: () => void, at: number}[]} pending calls of `later` */
  const timers = [];
  const later = (/** @type {() => void} */ run, /** @type {number} */ at) => {
    const timer = { run, at };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer) >>> 0, 1);
  };
  const rest = () => timers.splice(0).forEach(({ run }) => run());
  const panel = createPanel(
    services(server.api, {
      storage,
      workflow: () => undefined,
      workflowName: () => undefined,
      summary: () => null,
      wake: () => undefined,
      later,
      download: () => undefined,
      ...more,
    }),
  );
  opened.push(() => {
    panel.closeList();
    panel.chat().leave();
  });
  const commands = () => server.asked("command").map(([, body]) => body);
  return { panel, server, storage, events, feed, rest, commands };
}

test("the panel opens the chat that was open last, with its report", async () => {
  const report = JSON.stringify({ chat: "c", report: { request: 7 } });
  const { panel } = open({}, { chat: "c", report }, { messages: [said("u", "user", "Hi")] });
  await panel.start();
  assert.equal(textOf(panel.get().chat.messages[0]), "Hi");
  assert.equal(panel.get().chat.report?.request, 7);
  assert.deepEqual(
    panel.get().skills.map(({ slug, yours }) => [slug, yours]),
    [
      ["mine", true],
      ["model_x", false],
    ],
  );
  assert.equal(panel.get().commands?.[0].name, "help");
});

test("a reloaded tab opens its own chat, a new tab the one that was open last in any tab", async () => {
  const storage = pageStorage();
  const load = async (/** @type {PanelStorage} */ tabStorage) => {
    const { panel } = open({}, {}, {}, { storage, tabStorage });
    await panel.start();
    return panel;
  };
  const [first, second, third] = [pageStorage(), pageStorage(), pageStorage()];
  const panel = await load(first);
  const elsewhere = await load(second);
  void elsewhere.openChat("other");
  assert.equal((await load(first)).get().chat.known, false);
  void panel.openChat("c");
  void elsewhere.openChat("other");
  assert.equal((await load(first)).get().chat.id, "c");
  assert.equal((await load(second)).get().chat.id, "other");
  void elsewhere.openChat("last");
  assert.equal((await load(third)).get().chat.id, "last");
  void panel.newChat();
  void elsewhere.openChat("other");
  assert.equal((await load(first)).get().chat.known, false);
});

test("the server's report replaces the stored report", async () => {
  const report = JSON.stringify({ chat: "c", report: { request: 7 } });
  const { panel } = open({}, { chat: "c", report }, { context: { request: 9 } });
  await panel.start();
  assert.equal(panel.get().chat.report?.request, 9);
});

test("a message of a new chat that was not sent before the reload is sent after it", async () => {
  const entry = { chat: "c", known: false, message: said("m", "user", "Hi") };
  const kept = { chat: "c", outbox: '["m"]', "outbox.m": JSON.stringify(entry) };
  const { panel, server, commands, storage } = open({}, kept);
  await panel.start();
  await eventually(() => commands().length === 1);
  assert.deepEqual(server.asked("createChat").map(([id]) => id), ["c"]);
  assert.equal(textOf(commands()[0].message), "Hi");
  await eventually(() => storage.get("outbox") === null);
  assert.equal(storage.get("chat"), "c");
});

test("what was not sent to a chat that is gone becomes the draft of a new chat", async () => {
  const entry = { chat: "c", known: true, message: said("m", "user", "Hi") };
  const kept = { chat: "c", outbox: '["m"]', "outbox.m": JSON.stringify(entry) };
  const { panel, storage, events } = open({}, kept);
  events.refuse(new ApiError(404, {}));
  await panel.start();
  assert.equal(panel.draft(), "Hi");
  assert.equal(storage.get("outbox"), null);
});

test("damaged stored values are ignored", async () => {
  const { panel } = open({}, { chat: "c", report: "{oops", drafts: "{oops" });
  await panel.start();
  assert.deepEqual([panel.get().chat.report, panel.draft()], [null, ""]);
});

test("the id of a new chat is stored after its first message", async () => {
  const { panel, storage } = open();
  await panel.send("Hi", []);
  assert.equal(storage.get("chat"), panel.get().chat.id);
  assert.equal(panel.get().welcomed, true);
  panel.newChat();
  assert.equal(storage.get("chat"), null);
  assert.deepEqual(panel.get().chat.messages, []);
});

test("a chat that the server does not have is replaced by a new one", async () => {
  const { panel, storage } = open(
    {
      subscribe: () => {
        throw new ApiError(404, { code: "not_found" });
      },
    },
    { chat: "c", drafts: JSON.stringify({ c: "half a thought" }) },
  );
  await panel.start();
  assert.notEqual(panel.get().chat.id, "c");
  assert.equal(storage.get("chat"), null);
  assert.equal(panel.draft(), "half a thought");
});

test("an answer of another chat does not change the open chat", async () => {
  const { panel, events } = open();
  await panel.send("Hi", []);
  panel.newChat();
  events.turn("a", "Hello");
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(panel.get().chat.messages, []);
});

test("a draft is stored here until the server has it, and removed on sending", async () => {
  const { panel, storage, rest, commands } = open({}, { chat: "c" });
  await panel.start();
  panel.keepDraft("half");
  assert.equal(panel.draft(), "half");
  assert.match(storage.get("drafts") ?? "", /half/);
  rest();
  await eventually(() => storage.get("drafts") === null);
  await panel.send("whole", [], { typed: true });
  await eventually(() => commands().length === 3);
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["set_draft", "user_message", "clear_draft"],
  );
});

test("a message that was not typed into the composer leaves the text there", async () => {
  const { panel, storage, rest, commands } = open({}, { chat: "c" });
  await panel.start();
  panel.keepDraft("half");
  await panel.send("/compact", []);
  assert.deepEqual([panel.draft(), storage.get("drafts")], ["half", '{"c":"half"}']);
  rest();
  await eventually(() => storage.get("drafts") === null);
  await panel.send("Go on.", []);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["user_message", "set_draft", "user_message"],
  );
});

test("text typed while a message is on its way is the next draft, here and on the server", async () => {
  /** @type {(() => void)[]} */
  const going = [];
  const command = (/** @type {string} */ _id, /** @type {any} */ { type }) =>
    type === "user_message" ? new Promise((go) => going.push(() => go(ACCEPTED))) : ACCEPTED;
  const { panel, rest, commands } = open({ command }, { chat: "c" }, { draft: "first" });
  await panel.start();
  const sent = panel.send("first", [], { typed: true });
  await eventually(() => going.length === 1);
  panel.keepDraft("next");
  rest();
  going[0]();
  await sent;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(
    commands().map(({ type, text }) => [type, text]),
    [
      ["user_message", undefined],
      ["set_draft", "next"],
    ],
  );
});

test("each chat has its own draft, a new chat too", async () => {
  const { panel } = open({}, { chat: "c" });
  await panel.start();
  panel.keepDraft("in the chat");
  panel.newChat();
  assert.equal(panel.draft(), "");
  panel.keepDraft("in a new one");
  await panel.openChat("c");
  assert.equal(panel.draft(), "in the chat");
  panel.newChat();
  assert.equal(panel.draft(), "in a new one");
});

test("text typed during the creation of a chat becomes the draft of this chat", async () => {
  /** @type {(() => void)[]} */
  const making = [];
  const { panel, storage } = open({
    createChat: () => new Promise((resolve) => making.push(() => resolve(undefined))),
  });
  const sent = panel.send("first", []);
  panel.keepDraft("second");
  await eventually(() => making.length === 1);
  making[0]();
  await sent;
  const { id } = panel.get().chat;
  assert.deepEqual(JSON.parse(storage.get("drafts") ?? ""), { [id]: "second" });
});

test("a draft on the server is loaded with the chat", async () => {
  const { panel } = open({}, { chat: "c" }, { draft: "from there" });
  await panel.start();
  assert.equal(panel.draft(), "from there");
});

test("a hidden panel closes its connections after a while, unless a turn runs", async () => {
  const busy = { runtime: running("generating") };
  const { panel, events, rest } = open({}, { chat: "c" }, busy);
  await panel.start();
  panel.setShown(false);
  rest();
  assert.equal(events.readers.size, 1);
  events.push("runtime_updated", { runtime: running("idle") });
  await until(panel, ({ chat }) => chat.status === "idle");
  rest();
  assert.equal(events.readers.size, 0);
  panel.setShown(true);
  await eventually(() => events.readers.size === 1);
});

test("a hidden panel keeps reading a temporary chat, which ends without a reader", async () => {
  const { panel, events, rest, commands } = open();
  await panel.newTemporaryChat();
  await panel.send("a secret", []);
  await eventually(() => events.readers.size === 1);
  events.push("message_added", { message: commands()[0].message, after: null });
  await until(panel, ({ chat }) => chat.status === "idle");
  panel.setShown(false);
  rest();
  assert.equal(events.readers.size, 1);
  await panel.newChat();
  assert.equal(events.readers.size, 0);
});

const CHATS = [
  { id: "c", title: "One", updated: "2026-11-21T10:00:00Z", messages: 2, state: "idle" },
  { id: "d", title: "Two", updated: "2026-11-20T10:00:00Z", messages: 4, state: "idle" },
];

/** @param {Record<string, (...given: any[]) => any>} [routes] */
async function listed(routes) {
  const made = open(routes, { chat: "c" });
  made.feed.now({ chats: CHATS });
  await made.panel.start();
  made.panel.showPage("chats");
  await until(made.panel, ({ chats }) => chats !== null);
  const titles = () => made.panel.get().chats?.map(({ title }) => title);
  return { ...made, titles };
}

test("the list follows events only while it is shown", async () => {
  const { panel, feed, titles } = await listed();
  feed.push("chat_created", { chat: { ...CHATS[0], id: "e", title: "New", updated: "2027" } });
  await until(panel, ({ chats }) => chats?.length === 3);
  assert.deepEqual(titles(), ["New", "One", "Two"]);
  panel.showPage("chat");
  assert.equal(feed.readers.size, 0);
});

test("renaming and pinning are shown at once and undone when the server refuses", async () => {
  const { panel, server, titles } = await listed({
    changeChat: inTurn(undefined, new ApiError(404, { code: "not_found", message: "Gone." })),
  });
  await panel.renameChat("d", "Zwei");
  assert.deepEqual(titles(), ["One", "Zwei"]);
  await panel.pinChat("d", true);
  assert.equal(panel.get().chats?.[1].pinned, undefined);
  assert.deepEqual(panel.get().toast, { kind: "said", text: "Gone." });
  assert.deepEqual(server.asked("changeChat"), [
    ["d", { title: "Zwei" }],
    ["d", { pinned: true }],
  ]);
});

test("undo restores and opens the deleted chat", async () => {
  const { panel, server, titles } = await listed({
    deleteChat: () => undefined,
    restoreChat: () => undefined,
  });
  await panel.deleteChat("c");
  assert.deepEqual(titles(), ["Two"]);
  assert.notEqual(panel.get().chat.id, "c");
  assert.equal(panel.get().page, "chats");
  const { toast } = panel.get();
  assert.deepEqual(toast, { kind: "deleted", chat: { id: "c", title: "One" }, open: true });
  await panel.undoDelete();
  assert.deepEqual(server.asked("restoreChat"), [["c"]]);
  assert.deepEqual([panel.get().chat.id, panel.get().toast], ["c", null]);
  assert.equal(panel.get().page, "chats");
});

test("the chat that was opened while another one was being deleted stays open", async () => {
  /** @type {(() => void)[]} */
  const going = [];
  const { panel } = await listed({
    deleteChat: () => new Promise((gone) => going.push(() => gone(undefined))),
  });
  const deleted = panel.deleteChat("c");
  await eventually(() => going.length === 1);
  void panel.openChat("d");
  going[0]();
  await deleted;
  assert.deepEqual([panel.get().chat.id, panel.get().page], ["d", "chat"]);
});

test("a clean-up asks first, then deletes, and undo restores every chat", async () => {
  const old = [{ id: "c", title: "One" }, { id: "d", title: "Two" }];
  const { panel, server, titles } = await listed({ cleanUp: () => old, restoreChat: () => null });
  assert.deepEqual(await panel.oldChats(90), old);
  assert.deepEqual([server.asked("cleanUp"), titles()], [[[90, true]], ["One", "Two"]]);
  await panel.cleanUp(30);
  assert.deepEqual(server.asked("cleanUp").at(-1), [30, false]);
  assert.deepEqual(titles(), []);
  assert.deepEqual(panel.get().toast, { kind: "cleaned", ids: ["c", "d"] });
  await panel.undoDelete();
  assert.deepEqual(server.asked("restoreChat"), [["c"], ["d"]]);
  assert.equal(panel.get().toast, null);
});

test("a toast disappears by itself", async () => {
  const { panel, rest } = await listed();
  panel.sayToast("Done.");
  rest();
  assert.equal(panel.get().toast, null);
});

const PASSAGES = [{ chat_id: "d", message_id: "m", title: "Two", snippet: "low sun", marks: [] }];

test("a search starts when typing pauses, and only the last query counts", async () => {
  const { panel, server, rest } = await listed({ search: () => PASSAGES });
  panel.searchChats("low");
  panel.searchChats(" low sun ");
  rest();
  await until(panel, ({ search }) => search.results !== null);
  assert.deepEqual(server.asked("search"), [["low sun"]]);
  assert.deepEqual(panel.get().search.results, PASSAGES);
  panel.searchChats("");
  assert.deepEqual(panel.get().search.results, null);
});

test("a search result opens its chat at the message", async () => {
  const { panel, events } = await listed();
  events.now({ messages: [said("m", "assistant", "low sun")] });
  await panel.openMessage("d", "m");
  assert.deepEqual(
    [panel.get().chat.id, panel.get().page, panel.get().chat.target],
    ["d", "chat", { id: "m" }],
  );
});

test("older chats are added at the end of the list", async () => {
  const more = [{ ...CHATS[1], id: "old", title: "Old", updated: "2026-01-01" }, CHATS[1]];
  const { panel, server, titles } = await listed({ chats: () => more });
  await panel.moreChats();
  assert.deepEqual(titles(), ["One", "Two", "Old"]);
  assert.equal(server.asked("chats")[0][0].before, "d");
});

test("older chats can be asked for again after an error", async () => {
  const older = [{ ...CHATS[1], id: "old", title: "Old", updated: "2026-01-01" }];
  const full = Array.from({ length: 50 }, (_each, at) => ({ ...CHATS[1], id: `${at}`, updated: "2026-02" }));
  const chats = inTurn(full, new NetworkError("refused"), older);
  const { panel, titles } = await listed({ chats });
  await panel.moreChats();
  await panel.moreChats();
  const { toast, moreChats } = panel.get();
  assert.deepEqual([moreChats, toast?.kind], [true, "said"]);
  await panel.moreChats();
  assert.deepEqual([titles()?.at(-1), panel.get().moreChats], ["Old", false]);
});

test("an old pinned chat does not shift the next page", async () => {
  const { panel, server, feed } = await listed({ chats: () => [] });
  feed.push("chat_changed", { chat: { ...CHATS[1], id: "p", pinned: true, updated: "2020" } });
  await until(panel, ({ chats }) => chats?.length === 3);
  await panel.moreChats();
  assert.equal(server.asked("chats")[0][0].before, "d");
});

test("importing a file without a chat shows a message", async () => {
  const refusal = new ApiError(400, { code: "bad_request", message: "content: Expecting value" });
  const { panel } = await listed({ importChat: inTurn(refusal) });
  await panel.importChat({ name: "x.json", text: async () => "{" });
  const { toast } = panel.get();
  assert.match(toast?.kind === "said" ? toast.text : "", /no chat in this file/);
});

test("the file name decides the import format, and the chat opens", async () => {
  const { panel, server } = await listed({ importChat: () => "new" });
  await panel.importChat({ name: "x.JSONL", text: async () => "{}" });
  await panel.importChat({ name: "x.json", text: async () => "{}" });
  assert.deepEqual(server.asked("importChat"), [
    ["jsonl", "{}"],
    ["trajectory", "{}"],
  ]);
  assert.equal(panel.get().chat.id, "new");
});

test("a branch opens as a new chat", async () => {
  const { panel } = open({ command: () => ({ ...ACCEPTED, chat_id: "b" }) }, { chat: "c" });
  await panel.start();
  await panel.branch("m");
  assert.equal(panel.get().chat.id, "b");
});

for (const [code, kind] of [
  ["host_not_allowed", "host"],
  ["origin_not_allowed", "origin"],
  ["token_required", "token"],
  ["anything_else", "broken"],
]) {
  test(`the error ${code} sets the gate until health is loaded`, async () => {
    const { panel } = open({ health: inTurn(new ApiError(403, { code, message: "No." }), HEALTH) });
    await panel.refreshHealth();
    assert.equal(panel.get().gate?.kind, kind);
    await panel.refreshHealth();
    assert.equal(panel.get().gate, null);
  });
}

test("what is attached to a new chat goes with its draft, and nothing of a temporary chat stays", async () => {
  const { panel } = open({ endChat: () => undefined });
  await panel.start();
  const file = /** @type {any} */ ({ id: "f", filename: "a.png" });
  const names = () => panel.get().attached.files.map(({ filename }) => filename);
  panel.attached().set([file]);
  assert.deepEqual(names(), ["a.png"]);
  await panel.openChat("c");
  assert.deepEqual(names(), []);
  await panel.newTemporaryChat();
  panel.attached().set([file]);
  await panel.newChat();
  assert.deepEqual(names(), ["a.png"]);
  panel.attached().set([]);
  await panel.newTemporaryChat();
  assert.deepEqual(names(), []);
});

test("files that are attached while a new chat is made stay in it", async () => {
  const { panel, commands } = open();
  await panel.start();
  const sent = panel.send("Hi", []);
  panel.attached().set(/** @type {any} */ ([{ id: "f", filename: "a.png" }]));
  await sent;
  assert.equal(commands().length, 1);
  assert.equal(panel.get().chat.known, true);
  assert.equal(panel.get().attached.files.length, 1);
  await panel.newChat();
  assert.equal(panel.get().attached.files.length, 0);
});

test("what a chat did not take while another one was opened is kept before its draft", async () => {
  const { panel } = open({ endChat: () => undefined }, { chat: "c" }, { draft: "a thought" });
  await panel.start();
  const first = panel.chat();
  const file = /** @type {any} */ ({ id: "f", filename: "a.png" });
  await panel.newTemporaryChat();
  const temporary = panel.chat();
  panel.keepUnsent(first, "No, instead", [file]);
  assert.deepEqual([panel.draft(), panel.get().attached.files], ["", []]);
  await panel.openChat("c");
  assert.equal(panel.draft(), "No, instead\n\na thought");
  assert.deepEqual(panel.get().attached.files, [file]);
  panel.keepUnsent(temporary, "A secret", []);
  await panel.newChat();
  assert.equal(panel.draft(), "");
});

test("a message that a chat refuses while another one is open is kept before its newer draft", async () => {
  /** @type {(() => void)[]} */
  const going = [];
  const refusal = new ApiError(413, { code: "too_large", message: "Too large." });
  const command = (/** @type {string} */ _id, /** @type {any} */ { type }) =>
    type === "user_message"
      ? new Promise((_go, fail) => going.push(() => fail(refusal)))
      : ACCEPTED;
  const { panel } = open({ command }, { chat: "c" }, { draft: "fir" });
  await panel.start();
  const sent = panel.send("first", [], { typed: true });
  await eventually(() => going.length === 1);
  panel.keepDraft("next");
  void panel.newChat();
  going[0]();
  assert.equal(await sent, false);
  await panel.openChat("c");
  assert.equal(panel.draft(), "first\n\nnext");
});

test("health is requested again until the server answers", async () => {
  const { panel, server } = open({
    health: inTurn(new NetworkError(), new NetworkError(), HEALTH),
  });
  await panel.refreshHealth();
  assert.equal(server.asked("health").length, 3);
  assert.equal(panel.get().unreachable, false);
});

test("unlock reports whether the token was accepted", async () => {
  const { panel } = open({
    unlock: inTurn(new ApiError(401, { code: "token_required" }), null),
  });
  assert.equal(await panel.unlock("wrong"), false);
  assert.equal(await panel.unlock("right"), true);
});

test("showing the current page again returns to the chat", () => {
  const { panel } = open({});
  panel.showPage("skills");
  panel.showPage("skills");
  assert.equal(panel.get().page, "chat");
});

const FOUND = {
  name: "Ollama (local)",
  base_url: "http://127.0.0.1:11434/v1",
  model: "a",
  context_window: 8192,
  has_key: false,
  source: /** @type {const} */ ("local"),
};

test("choosing another model of a found provider saves a provider of the user", async () => {
  const { panel, server } = open({
    settings: () => ({ providers: [FOUND], active: FOUND.name }),
    saveProvider: () => ({}),
    activateProvider: () => undefined,
  });
  await panel.chooseModel(FOUND, { id: "b" });
  assert.deepEqual(server.asked("saveProvider"), [
    ["Ollama", { base_url: FOUND.base_url, model: "b" }],
  ]);
  assert.deepEqual(server.asked("activateProvider"), [["Ollama"]]);
});

test("a key of the environment is not copied, the form asks for the key", async () => {
  const { panel, server } = open({});
  await panel.chooseModel(
    { ...FOUND, name: "Environment", has_key: true, source: "environment" },
    { id: "b" },
  );
  assert.equal(server.asked("saveProvider").length, 0);
  assert.deepEqual(
    [panel.get().page, panel.get().field, panel.get().prefill?.model],
    ["settings", "key", "b"],
  );
});

/** A panel on a canvas whose workflow the test changes. @param {() => unknown} summarise */
function openOnCanvas(summarise) {
  const canvas = { id: "w", nodes: 3, graph: { nodes: [1] } };
  const canvasServices = {
    workflow: () => ({ id: canvas.id, name: "", revision: 1, graph: canvas.graph, selection: [] }),
    summary: () => ({ ...canvas, name: "", missingNodes: 0, missingModels: 0, generates: true }),
  };
  const health = () => ({ ...HEALTH, provider: { name: "Ollama", demo: false } });
  return { canvas, ...open({ health, workflowSummary: summarise }, {}, {}, canvasServices) };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("an empty chat asks once what the open workflow makes, and again when it changed", async () => {
  const { panel, canvas, rest, server } = openOnCanvas(() => "This makes pictures.");
  await panel.start();
  panel.setShown(true);
  panel.refreshWorkflow();
  rest();
  await settled();
  assert.equal(panel.get().sentence, "This makes pictures.");
  panel.refreshWorkflow();
  rest();
  await settled();
  assert.equal(server.asked("workflowSummary").length, 1);
  canvas.graph = { nodes: [1, 2] };
  panel.refreshWorkflow();
  rest();
  await settled();
  assert.deepEqual(server.asked("workflowSummary").at(-1), [{ nodes: [1, 2] }]);
});

test("nothing is asked while the panel is hidden, or about a workflow of megabytes", async () => {
  const { panel, canvas, rest, server } = openOnCanvas(() => "This makes pictures.");
  await panel.start();
  rest();
  panel.setShown(true);
  canvas.graph = { nodes: [1], ...{ text: "x".repeat(2_000_001) } };
  rest();
  await settled();
  assert.deepEqual(server.asked("workflowSummary"), []);
  assert.equal(panel.get().sentence, "");
});

test("a chat with messages asks nothing", async () => {
  const { panel, rest, server } = openOnCanvas(() => "This makes pictures.");
  await panel.start();
  panel.setShown(true);
  await panel.send("Hi", []);
  rest();
  await settled();
  assert.deepEqual(server.asked("workflowSummary"), []);
});

test("a server that cannot say it leaves the empty chat as it is", async () => {
  const { panel, rest } = openOnCanvas(() => {
    throw new NetworkError("refused");
  });
  await panel.start();
  panel.setShown(true);
  rest();
  await settled();
  assert.deepEqual([panel.get().sentence, panel.get().toast], ["", null]);
});

test("the sentence of another workflow is taken away while the server is asked", async () => {
  /** @type {((said: string) => void)[]} */
  const waiting = [];
  const { panel, canvas, rest } = openOnCanvas(
    () => new Promise((resolve) => void waiting.push(resolve)),
  );
  await panel.start();
  panel.setShown(true);
  rest();
  await settled();
  waiting[0]("This makes pictures.");
  await settled();
  assert.equal(panel.get().sentence, "This makes pictures.");
  Object.assign(canvas, { id: "v", graph: { nodes: [] } });
  panel.refreshWorkflow();
  rest();
  await settled();
  assert.equal(panel.get().sentence, "");
  waiting[1]("This makes videos.");
  await settled();
  assert.equal(panel.get().sentence, "This makes videos.");
});
