// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, NetworkError } from "../../web/services/api.js";
import { createMemory } from "../../web/services/storage.js";
import { textOf } from "../../web/state/messages.js";
import { createPanel } from "../../web/state/panel.js";
import { answer, fakeServer, inTurn, said, stored, streamed } from "./fakes.js";

const HEALTH = { status: "ok", provider: null, problems: [] };

/**
 * @param {Record<string, (...given: any[]) => any>} routes
 * @param {Record<string, string>} [kept]
 */
function open(routes, kept = {}) {
  const server = fakeServer({
    health: () => HEALTH,
    chats: () => [],
    userSkills: () => [{ slug: "mine", name: "Mine", description: "" }],
    systemSkills: () => [{ slug: "model_x", name: "X", description: "" }],
    join: () => null,
    ...routes,
  });
  const memory = createMemory("", () => {
    throw new Error("blocked");
  });
  for (const [name, value] of Object.entries(kept)) memory.set(name, value);
  let ids = 0;
  const panel = createPanel(
    /** @type {any} */ ({
      api: server.api,
      memory,
      tools: {},
      workflow: () => undefined,
      summary: () => null,
      wait: () => new Promise((resolve) => setImmediate(resolve)),
      wake: () => undefined,
      frame: (/** @type {() => void} */ draw) => draw(),
      now: () => new Date(0),
      newId: () => `id${(ids += 1)}`,
    }),
  );
  return { panel, server, memory };
}

/** @param {ReturnType<typeof open>["panel"]} panel @param {() => boolean} condition */
const until = (panel, condition) =>
  new Promise((resolve) => {
    const end = panel.subscribe(() => {
      if (!condition()) return;
      end();
      resolve(undefined);
    });
    if (condition()) {
      end();
      resolve(undefined);
    }
  });

test("the panel opens with the chat that was open last, and its meter", async () => {
  const report = JSON.stringify({ chat: "c", report: { request: 7 } });
  const { panel } = open({ chat: () => stored([said("u", "user", "Hi")]) }, { chat: "c", report });
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
});

test("what the server knows of the last request stands before what was kept", async () => {
  const report = JSON.stringify({ chat: "c", report: { request: 7 } });
  const routes = { chat: () => stored([]), context: () => ({ request: 9 }) };
  const { panel } = open(routes, { chat: "c", report });
  await panel.start();
  await until(panel, () => panel.get().chat.report?.request === 9);
});

test("a kept value that is damaged stops nothing", async () => {
  const { panel } = open({ chat: () => null }, { chat: "c", report: "{oops" });
  await panel.start();
  assert.equal(panel.get().chat.report, null);
});

test("the first message makes its chat the one that opens next time", async () => {
  const { panel, memory } = open({ send: () => streamed(answer("a", "Hello")) });
  await panel.send("Hi", []);
  assert.equal(memory.get("chat"), panel.get().chat.id);
  assert.equal(panel.get().welcomed, true);
  panel.newChat();
  assert.equal(memory.get("chat"), null);
  assert.deepEqual(panel.get().chat.messages, []);
});

test("a chat gets its title when its answer is done", async () => {
  const { panel } = open({
    send: () => streamed(answer("a", "Hello")),
    chats: () => [{ id: "id1", title: "Greeting" }],
  });
  await panel.send("Hi", []);
  await until(panel, () => panel.get().chat.title === "Greeting");
});

test("what an answer in another chat says does not reach the chat that is shown", async () => {
  const { panel } = open({ send: () => streamed(answer("a", "Hello")), chat: () => null });
  const sent = panel.send("Hi", []);
  panel.newChat();
  await sent;
  assert.deepEqual(panel.get().chat.messages, []);
});

for (const [code, kind] of [
  ["host_not_allowed", "host"],
  ["origin_not_allowed", "origin"],
  ["token_required", "token"],
  ["anything_else", "broken"],
]) {
  test(`a server that answers ${code} shows the card for it until it is settled`, async () => {
    const { panel } = open({ health: inTurn(new ApiError(403, { code, message: "No." }), HEALTH) });
    await panel.refreshHealth();
    assert.equal(panel.get().gate?.kind, kind);
    await panel.refreshHealth();
    assert.equal(panel.get().gate, null);
  });
}

test("a server that does not answer is asked again until it does", async () => {
  const { panel, server } = open({
    health: inTurn(new NetworkError(), new NetworkError(), HEALTH),
  });
  await panel.refreshHealth();
  assert.equal(server.asked("health").length, 3);
  assert.equal(panel.get().unreachable, false);
});

test("a wrong token is said to be wrong, the right one opens the panel", async () => {
  const { panel } = open({
    unlock: inTurn(new ApiError(401, { code: "token_required" }), null),
    chat: () => null,
  });
  assert.equal(await panel.unlock("wrong"), false);
  assert.equal(await panel.unlock("right"), true);
});

test("the same page twice leads back to the chat", () => {
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

test("another model of a found provider makes it the user's own", async () => {
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

test("a key of the environment is not copied: the form asks for it", async () => {
  const { panel, server } = open({});
  await panel.chooseModel(
    { ...FOUND, name: "Environment", has_key: true, source: "environment" },
    { id: "b" },
  );
  assert.equal(server.asked("saveProvider").length, 0);
  assert.deepEqual(
    [panel.get().page, panel.get().field, panel.get().draft?.model],
    ["settings", "key", "b"],
  );
});
