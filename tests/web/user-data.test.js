// @ts-check
/** All my data, sharing a chat, and what slash commands ask the panel to do. */
import assert from "node:assert/strict";
import { after, test } from "node:test";

import { ApiError, createApi } from "../../web/services/api.js";
import { createPanelStorage } from "../../web/services/storage.js";
import { createPanel } from "../../web/state/panel.js";
import { ACCEPTED, empty, eventually, fakeEvents, fakeServer, services } from "./fakes.js";

/** @typedef {import("../../web/types.js").SharedFile} SharedFile */

/** @type {(() => void)[]} */
const opened = [];
after(() => opened.forEach((close) => close()));

/** @type {SharedFile} */
const FILE = { name: "shared.md", content: "# A", taken_out: { keys: 1, paths: 0, names: 0 } };

/**
 * @param {Record<string, (...given: any[]) => any>} [routes]
 * @param {import("../../web/services/storage.js").PanelStorage} [storage]
 */
function open(routes = {}, storage = storageIn(browserStorage())) {
  const events = fakeEvents();
  const server = fakeServer({
    health: () => ({ status: "ok", provider: null, problems: [] }),
    userSkills: () => [],
    systemSkills: () => [],
    commands: () => [],
    command: () => ACCEPTED,
    createChat: () => undefined,
    subscribe: (id, ...rest) => events.subscribe(id, rest[0], rest[1]),
    ...routes,
  });
  /** @type {unknown[][]} */
  const saved = [];
  const panel = createPanel(
    services(server.api, {
      storage,
      summary: () => null,
      wake: () => undefined,
      later: () => () => undefined,
      download: async (/** @type {Response} */ file, /** @type {unknown[]} */ ...names) => {
        saved.push([await file.text(), ...names]);
      },
    }),
  );
  opened.push(() => {
    panel.closeList();
    panel.chat().leave();
  });
  return { panel, server, storage, saved, events };
}

/** A browser's storage in memory. @returns {Storage} */
function browserStorage() {
  /** @type {Map<string, string>} */
  const held = new Map();
  return /** @type {any} */ ({
    getItem: (/** @type {string} */ key) => held.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => held.set(key, value),
    removeItem: (/** @type {string} */ key) => held.delete(key),
    key: (/** @type {number} */ at) => [...held.keys()][at] ?? null,
    get length() {
      return held.size;
    },
  });
}

/** @param {Storage} browser */
const storageIn = (browser) => createPanelStorage("", () => browser);

test("clearing the storage removes what is the user's and nothing else", () => {
  const browser = browserStorage();
  const mine = createPanelStorage("", () => browser);
  mine.set("chat", "c");
  mine.set("drafts", "{}");
  browser.setItem("Comfy.Settings", "x");
  browser.setItem("comfyui-assistant-other", "x");
  mine.clear();
  assert.deepEqual([mine.get("chat"), mine.get("drafts")], [null, null]);
  assert.deepEqual([browser.key(0), browser.key(1)], ["Comfy.Settings", "comfyui-assistant-other"]);
  const [anna, bert] = ["anna", "bert"].map((user) => createPanelStorage(user, () => browser));
  anna.set("chat", "a");
  bert.set("chat", "b");
  anna.clear();
  assert.deepEqual([anna.get("chat"), bert.get("chat")], [null, "b"]);
});

test("everything is saved as the file that the server sends", async () => {
  const { panel, saved } = open({ exportData: () => new Response("zip") });
  await panel.exportData();
  assert.deepEqual(saved, [["zip", "comfyui-assistant.zip"]]);
});

test("after everything was deleted the panel is as it was the first time", async () => {
  const { panel, storage, server } = open({ deleteData: () => undefined });
  await panel.start();
  panel.welcome();
  panel.keepDraft("half a question");
  storage.set("tokens", "1");
  panel.showPage("data");
  const before = panel.get().chat.id;
  await panel.deleteData(3);
  assert.deepEqual(server.asked("deleteData"), [[3]]);
  const { page, welcomed, chat, tokens, toast } = panel.get();
  assert.deepEqual([page, welcomed, tokens], ["chat", false, false]);
  assert.notEqual(chat.id, before);
  assert.deepEqual(toast, { kind: "said", text: "Everything was deleted." });
  assert.deepEqual([panel.draft(), storage.get("welcomed")], ["", null]);
});

test("a refused deletion changes nothing", async () => {
  const { panel, storage } = open({
    deleteData: () => {
      throw new ApiError(409, { code: "data_changed", message: "Look again." });
    },
  });
  panel.welcome();
  await assert.rejects(panel.deleteData(3), ApiError);
  assert.deepEqual([panel.get().welcomed, storage.get("welcomed")], [true, "1"]);
});

test("what is saved is the text that is shown", async () => {
  const { panel, server, saved } = open({ shareChat: () => FILE });
  await panel.shareChat("c");
  assert.equal(panel.get().page, "share");
  assert.deepEqual(panel.get().share, { id: "c", withWorkflow: false, file: FILE, failed: "" });
  assert.deepEqual(server.asked("shareChat"), [["c", undefined]]);
  await panel.saveShared();
  assert.deepEqual(saved, [["# A", "shared.md"]]);
});

test("the open workflow is part of the file only when the user wants that", async () => {
  const { panel, server } = open({ shareChat: () => FILE });
  await panel.shareChat("c");
  await panel.shareWorkflow(true);
  await panel.shareWorkflow(false);
  assert.deepEqual(
    server.asked("shareChat").map(([, workflow]) => workflow),
    [undefined, {}, undefined],
  );
});

test("an older file does not take the place of a newer one", async () => {
  /** @type {((file: SharedFile) => void)[]} */
  const answers = [];
  const { panel } = open({ shareChat: () => new Promise((resolve) => answers.push(resolve)) });
  const first = panel.shareChat("c");
  const second = panel.shareWorkflow(true);
  await eventually(() => answers.length === 2);
  const newer = { ...FILE, content: "with the workflow" };
  answers[1](newer);
  await second;
  answers[0](FILE);
  await first;
  assert.deepEqual(panel.get().share?.file, newer);
});

test("a chat that cannot be shared says why", async () => {
  const { panel, saved } = open({
    shareChat: () => {
      throw new ApiError(400, { message: "Nothing was said." });
    },
  });
  await panel.shareChat("c");
  assert.deepEqual([panel.get().share?.failed, panel.get().share?.file], ["Nothing was said.", null]);
  await panel.saveShared();
  assert.deepEqual(saved, []);
});

test("a shared file is imported as one, by its name", async () => {
  const { panel, server } = open({ importChat: () => "c9" });
  for (const name of ["a.md", "A.MD", "a.jsonl", "a.json"]) {
    await panel.importChat({ name, text: async () => "content" });
  }
  assert.deepEqual(
    server.asked("importChat").map(([format]) => format),
    ["share", "share", "jsonl", "trajectory"],
  );
});

/**
 * Sends a slash command; its answer has this action.
 * @param {ReturnType<typeof open>} opened
 * @param {Record<string, unknown>} data
 */
async function acted({ panel, events, server }, data) {
  const id = String(data.action);
  await panel.send("/x", []);
  await eventually(() => events.readers.size > 0);
  const [, { message }] = server.asked("command")[server.asked("command").length - 1];
  const after = panel.get().chat.messages.find((one) => one.role === "assistant")?.id ?? null;
  events.push("message_added", { message, after });
  events.push("stream_started", { message: empty(id) });
  events.push("stream_delta", { message_id: id, chunk: { type: "data-action", data } });
  events.push("stream_finished", { message_id: id, state: "idle" });
}

test("an export by a slash command is saved under the name that the user gave", async () => {
  const one = open({ exportChat: () => new Response("text") });
  const action = { action: "export_chat", chat_id: "c", format: "markdown", name: "talk.md" };
  await acted(one, action);
  await eventually(() => one.saved.length > 0);
  assert.deepEqual(one.server.asked("exportChat"), [["c", "markdown"]]);
  assert.deepEqual(one.saved, [["text", "chat-c", "talk.md"]]);
});

test("tokens are shown from one command to the other, also after a reload", async () => {
  const one = open();
  assert.equal(one.panel.get().tokens, false);
  await acted(one, { action: "show_tokens" });
  await eventually(() => one.panel.get().tokens);
  assert.equal(open({}, one.storage).panel.get().tokens, true);
  await acted(one, { action: "hide_tokens" });
  await eventually(() => !one.panel.get().tokens);
  assert.equal(open({}, one.storage).panel.get().tokens, false);
});

test("the routes are asked as they are documented", async () => {
  /** @type {unknown[][]} */
  const sent = [];
  const api = createApi(async (path, { method, body }) => {
    sent.push([method, path, body ?? null]);
    return new Response("{}");
  }, "me");
  await api.userData();
  await api.exportData();
  await api.deleteData(2);
  await api.shareChat("c 1");
  await api.shareChat("c", { nodes: [] });
  assert.deepEqual(sent, [
    ["GET", "/assistant/data", null],
    ["GET", "/assistant/data/archive", null],
    ["POST", "/assistant/data/delete", '{"chats":2}'],
    ["POST", "/chats/c%201/share", "{}"],
    ["POST", "/chats/c/share", '{"workflow":{"nodes":[]}}'],
  ]);
});
