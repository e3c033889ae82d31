// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, NetworkError } from "../../web/services/api.js";
import { textOf } from "../../web/state/messages.js";
import {
  ACCEPTED,
  answer,
  empty,
  eventually,
  heldWait,
  inTurn,
  offline,
  openChat,
  running,
  said,
  stored,
  until,
} from "./fakes.js";

/** @typedef {import("../../web/state/chat.js").Chat} Chat */

/** @param {Chat} chat */
const texts = (chat) => chat.get().messages.map(textOf);
/** @param {Chat} chat @param {string} text */
const says = (chat, text) =>
  until(chat, ({ messages }) => textOf(messages.at(-1) ?? said("", "user", "")) === text);
/** @param {Chat} chat */
const idle = (chat) => until(chat, (state) => state.status === "idle");

const ASKS = {
  type: "dynamic-tool",
  toolName: "save",
  toolCallId: "t",
  state: "approval-requested",
  input: {},
  approval: { id: "p" },
};
/** @param {Record<string, unknown>} [more] */
const asking = (more) => ({
  messages: [
    said("u", "user", "save it"),
    { id: "a", role: "assistant", parts: [{ ...ASKS, ...more }] },
  ],
  runtime: running("paused"),
});

/** @param {{get(): any}} chat @returns {any} the call that asks */
const asked = (chat) => chat.get().messages[1].parts[0];

test("opening a chat shows its stored messages, then new ones", async () => {
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi")] });
  assert.deepEqual([texts(chat), chat.get().title], [["Hi"], "Title"]);
  events.turn("a", "Hello");
  await says(chat, "Hello");
  await idle(chat);
});

test("an event is not shown, and the turn after it is", async () => {
  const event = { ...said("e", "user", "The run is done."), metadata: { origin: "event", hidden: true } };
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi"), event] });
  assert.deepEqual(texts(chat), ["Hi"]);
  events.turn("a", "Hello");
  await says(chat, "Hello");
  await idle(chat);
});

test("opening a chat during an answer shows the answer so far and its next chunks", async () => {
  const chunks = answer("a", "Hel").slice(0, 4);
  const { chat, events } = await openChat({
    messages: [said("u", "user", "Hi")],
    stream: { message: empty("a"), chunks },
    runtime: running("generating"),
  });
  assert.deepEqual(texts(chat), ["Hi", "Hel"]);
  assert.equal(chat.get().status, "streaming");
  events.push("stream_delta", {
    message_id: "a",
    chunk: { type: "text-delta", id: "a-t", delta: "lo" },
  });
  await says(chat, "Hello");
});

test("a new chat is created with its first message, which carries the workflow", async () => {
  const { chat, events, server } = await openChat({}, { known: false });
  assert.equal(await chat.send("Hi", []), true);
  assert.deepEqual(server.asked("createChat"), [["c", { id: "w", name: "flux" }]]);
  const [[, command]] = server.asked("command");
  assert.deepEqual(
    [command.type, command.message.parts, command.workflow],
    [
      "user_message",
      [{ type: "text", text: "Hi" }],
      { id: "w", name: "flux", graph: {}, selection: [] },
    ],
  );
  assert.deepEqual(command.message.metadata.workflow, { id: "w", name: "flux" });
  assert.deepEqual(texts(chat), ["Hi"]);
  await until(chat, (state) => state.known && state.title);
  events.push("message_added", { message: command.message, after: null });
  events.turn("a", "Hello");
  await says(chat, "Hello");
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
});

test("a message is shown before the server has it", async () => {
  const { chat } = await openChat({}, { routes: { command: () => new Promise(() => {}) } });
  void chat.send("Hi", []);
  await says(chat, "Hi");
  assert.equal(chat.get().status, "sending");
});

test("a chat works from the moment that a message is sent, heard of or not", async () => {
  const { chat, events, commands } = await openChat();
  assert.equal(chat.works(), false);
  assert.equal(await chat.send("Hi", []), true);
  assert.equal(chat.works(), true);
  events.push("message_added", { message: commands()[0].message, after: null });
  events.turn("a", "Hello");
  await says(chat, "Hello");
  await idle(chat);
  assert.equal(chat.works(), false);
});

test("a message is sent without a workflow if none is open", async () => {
  const { chat, server, commands } = await openChat(
    {},
    { known: false, more: { workflow: () => undefined, workflowName: () => undefined } },
  );
  await chat.send("Hi", []);
  assert.equal(commands()[0].workflow, undefined);
  assert.deepEqual(server.asked("createChat"), [["c", undefined]]);
});

test("attachments are file parts before the text", async () => {
  const { chat, commands } = await openChat();
  const url = "data:text/plain;base64,eA==";
  await chat.send("", [{ id: "f", filename: "x.txt", mediaType: "text/plain", size: 1, url }]);
  assert.deepEqual(commands()[0].message.parts, [
    { type: "file", mediaType: "text/plain", url, filename: "x.txt" },
  ]);
});

test("a message to a busy chat is shown in the queue, not in the conversation", async () => {
  const { chat, events, commands } = await openChat({ runtime: running("generating") });
  assert.equal(await chat.send("and then", []), true);
  const [{ message }] = commands();
  assert.deepEqual(texts(chat), []);
  events.push("queue_updated", {
    queue: [{ id: "q1", type: "user_message", priority: false, message }],
    held: false,
  });
  await until(chat, ({ queue }) => queue.length === 1);
  await chat.cancelQueued("q1");
  events.push("queue_updated", { queue: [], held: true });
  await until(chat, ({ held }) => held);
  await chat.resumeQueue();
  assert.deepEqual(
    commands().slice(1),
    [{ type: "cancel_queued", id: "q1" }, { type: "resume_queue" }],
  );
});

test("the second message is sent after the first request has ended", async () => {
  /** @type {(() => void)[]} */
  const waiting = [];
  const { chat, commands } = await openChat(
    {},
    {
      routes: {
        command: () => new Promise((resolve) => waiting.push(() => resolve(ACCEPTED))),
      },
    },
  );
  const first = chat.send("one", []);
  const second = chat.send("two", []);
  await eventually(() => waiting.length === 1);
  waiting[0]();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  waiting[1]();
  await second;
  assert.deepEqual(
    commands().map(({ message }) => textOf(message)),
    ["one", "two"],
  );
});

test("an edited message becomes a new version of the message", async () => {
  const { chat, events, commands } = await openChat({
    messages: [said("u1", "user", "first"), said("a1", "assistant", "one")],
  });
  await chat.send("second", [], "u1");
  assert.deepEqual(texts(chat), ["second"]);
  const [{ type, message_id: id, message }] = commands();
  assert.deepEqual([type, id], ["retry_from_index", "u1"]);
  events.push("messages_truncated", { after: null });
  const version = { index: 1, ids: ["u1", message.id] };
  events.push("message_added", { message, after: null, version });
  events.turn("a2", "two");
  await says(chat, "two");
  assert.deepEqual(texts(chat), ["second", "two"]);
  assert.deepEqual(chat.get().versions.get(message.id), version);
  await chat.switchVersion("u1");
  assert.deepEqual(commands().at(-1), { type: "switch_version", message_id: "u1" });
});

test("regenerating hides the old answer at once", async () => {
  const { chat, events, commands } = await openChat({
    messages: [said("u", "user", "question"), said("a1", "assistant", "one")],
  });
  await chat.regenerate();
  assert.deepEqual(texts(chat), ["question"]);
  const { workflow: _open, ...command } = commands()[0];
  assert.deepEqual(command, { type: "regenerate", message_id: "a1" });
  events.push("messages_truncated", { after: "u" });
  events.turn("a2", "two");
  await says(chat, "two");
  assert.deepEqual(texts(chat), ["question", "two"]);
});

test("a context report is part of the state, not of the message", async () => {
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi")] });
  events.push("stream_started", { message: empty("a") });
  events.push("stream_delta", {
    message_id: "a",
    chunk: { type: "data-context", transient: true, data: { request: 1 } },
  });
  await until(chat, ({ report }) => report?.request === 1);
  assert.deepEqual(chat.get().messages[1].parts, []);
});

test("an error that no message shows is a failure with the action retry", async () => {
  const error = { code: "internal", message: "Boom." };
  const { chat } = await openChat({
    messages: [said("u", "user", "Hi")],
    runtime: running("error", { error }),
  });
  assert.deepEqual(
    [chat.get().failure?.message, chat.get().failure?.actions],
    ["Boom.", ["retry"]],
  );
});

test("an error in the metadata of the last message is no failure", async () => {
  const error = { code: "key_refused", message: "The key was refused.", actions: ["enter-key"] };
  const { chat } = await openChat({
    messages: [{ ...empty("a"), metadata: { error } }],
    runtime: running("error", { error: { code: error.code, message: error.message } }),
  });
  assert.equal(chat.get().failure, null);
});

test("retry sends a refused message again with the same id", async () => {
  const { chat, commands } = await openChat(
    {},
    {
      routes: {
        command: inTurn(new ApiError(429, { code: "queue_full", message: "Too many." }), ACCEPTED),
      },
    },
  );
  assert.equal(await chat.send("Hi", []), true);
  assert.equal(chat.get().failure?.message, "Too many.");
  assert.deepEqual(texts(chat), ["Hi"]);
  await chat.retry();
  const [first, second] = commands();
  assert.equal(second.message.id, first.message.id);
  assert.equal(chat.get().failure, null);
});

test("a message that a gateway gave up and the server has is not offered again", async () => {
  const late = new ApiError(504, { code: "http_504", message: "Gateway." });
  const { chat, events, commands } = await openChat({}, { routes: { command: inTurn(late) } });
  await chat.send("Hi", []);
  assert.equal(chat.get().failure?.message, "Gateway.");
  events.push("message_added", { message: commands()[0].message, after: null });
  events.turn("a", "Hello");
  await says(chat, "Hello");
  assert.deepEqual([chat.get().failure, texts(chat)], [null, ["Hi", "Hello"]]);
});

test("a message that the server has before a gateway gives it up was taken", async () => {
  /** @type {(() => void)[]} */
  const waiting = [];
  const late = new ApiError(504, { code: "http_504", message: "Gateway." });
  const command = () => new Promise((_go, fail) => waiting.push(() => fail(late)));
  const { chat, events, commands } = await openChat({}, { routes: { command } });
  const sent = chat.send("Hi", []);
  await eventually(() => waiting.length === 1);
  events.push("message_added", { message: commands()[0].message, after: null });
  events.turn("a", "Hello");
  await says(chat, "Hello");
  waiting[0]();
  assert.equal(await sent, true);
  assert.deepEqual([chat.get().failure, texts(chat)], [null, ["Hi", "Hello"]]);
});

test("a refused message can be sent again, whatever else is done or refused meanwhile", async () => {
  const busy = new ApiError(503, { code: "busy", message: "Busy." });
  const { chat, commands } = await openChat(
    {},
    { routes: { command: inTurn(busy, ACCEPTED, busy, ACCEPTED) } },
  );
  await chat.send("Hi", []);
  const offers = () => [chat.get().status, chat.get().failure?.actions];
  await chat.setParams({ approval: "ask" });
  assert.deepEqual(offers(), ["idle", ["retry"]]);
  await chat.branch("a");
  assert.deepEqual(offers(), ["idle", ["dismiss"]]);
  chat.dismissFailure();
  assert.deepEqual(offers(), ["idle", ["retry"]]);
  await chat.retry();
  assert.deepEqual(offers(), ["sending", undefined]);
  assert.equal(commands().at(-1).message.id, commands()[0].message.id);
});

test("a refused message is sent before the next message", async () => {
  const full = new ApiError(429, { code: "queue_full", message: "Too many." });
  const { chat, commands, events } = await openChat(
    {},
    { routes: { command: inTurn(full, full, ACCEPTED) } },
  );
  await chat.send("First", []);
  assert.equal(await chat.send("Second", []), false);
  assert.deepEqual([texts(chat), chat.get().failure?.message], [["First"], "Too many."]);
  assert.equal(await chat.send("Second", []), true);
  assert.deepEqual(
    commands().map(({ message }) => textOf(message)),
    ["First", "First", "First", "Second"],
  );
  events.push("runtime_updated", { runtime: running("idle") });
});

test("a message that is too large is given back to the user", async () => {
  const refusal = new ApiError(413, { code: "too_large", message: "Too large." });
  const { chat } = await openChat({}, { routes: { command: inTurn(refusal, ACCEPTED) } });
  assert.equal(await chat.send("Long", []), false);
  assert.deepEqual([texts(chat), chat.get().failure?.message], [[], "Too large."]);
  assert.equal(await chat.send("Short", []), true);
});

test("a message refused because of the chat's state is given back to the user", async () => {
  const error = new ApiError(409, { code: "runs_elsewhere", message: "Elsewhere." });
  const { chat } = await openChat({}, { routes: { command: inTurn(error) } });
  assert.equal(await chat.send("Hi", []), false);
  assert.deepEqual(texts(chat), []);
  assert.equal(chat.get().failure?.message, "Elsewhere.");
});

test("the failure turn_running is shown until the turn has ended", async () => {
  const busy = new ApiError(409, { code: "turn_running", message: "Busy." });
  const { chat, events } = await openChat(
    { messages: [said("u", "user", "Hi")], runtime: running("generating") },
    { routes: { command: inTurn(busy) } },
  );
  assert.equal(await chat.send("Hello", [], "u"), false);
  assert.equal(chat.get().failure?.code, "turn_running");
  events.push("runtime_updated", { runtime: running("idle") });
  await idle(chat);
  assert.equal(chat.get().failure, null);
});

test("after a lost connection the events continue after the last one", async () => {
  const { chat, events } = await openChat();
  events.push("message_added", { message: said("u", "user", "Hi"), after: null });
  await says(chat, "Hi");
  events.cut();
  await eventually(() => events.asked.length === 2);
  assert.deepEqual(events.asked[1], { seq: 1, epoch: "e1" });
  events.turn("a", "Hello");
  await says(chat, "Hello");
});

test("after a restart of the server its snapshot replaces the state", async () => {
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi")] });
  events.refuse(new (await import("../../web/services/api.js")).NetworkError());
  events.restart();
  await until(chat, ({ lost }) => lost);
  events.now({ messages: [said("u", "user", "Hi"), said("a", "assistant", "Hel")] });
  events.refuse(null);
  await says(chat, "Hel");
  assert.equal(chat.get().lost, false);
});

test("a message that did not arrive is sent again when ComfyUI is back", async () => {
  const { chat, commands } = await openChat(
    {},
    { routes: { command: inTurn(offline, ACCEPTED) } },
  );
  assert.equal(await chat.send("Hi", []), true);
  const [first, second] = commands();
  assert.equal(first.message.id, second.message.id);
});

test("a message that arrived is not sent again when its answer was lost", async () => {
  const { chat, events, commands } = await openChat(
    {},
    {
      routes: {
        command(/** @type {string} */ _id, /** @type {any} */ { message }) {
          events.now({ messages: [message, said("a", "assistant", "Hello")] });
          return offline();
        },
      },
    },
  );
  await chat.send("Hi", []);
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
  assert.equal(commands().length, 1);
});

test("the creation of a chat is repeated when ComfyUI is back", async () => {
  const { chat, commands } = await openChat(
    {},
    { known: false, routes: { createChat: inTurn(offline, offline, undefined) } },
  );
  await chat.send("Hi", []);
  assert.equal(commands().length, 1);
  assert.equal(chat.get().known, true);
});

test("stop during a lost connection shows a failure and keeps the message for retry", async () => {
  const { chat } = await openChat({}, { known: false, routes: { createChat: offline } });
  const sent = chat.send("Hi", []);
  await until(chat, ({ lost }) => lost);
  await chat.stop();
  assert.equal(await sent, true);
  assert.deepEqual(
    [chat.get().status, chat.get().failure?.code, texts(chat)],
    ["idle", "server", ["Hi"]],
  );
});

test("stop during the creation of a chat sends nothing and keeps the message for retry", async () => {
  /** @type {(() => void)[]} */
  const making = [];
  const createChat = () => new Promise((made) => making.push(() => made(undefined)));
  const { chat, commands } = await openChat({}, { known: false, routes: { createChat } });
  const sent = chat.send("Hi", []);
  await eventually(() => making.length === 1);
  await chat.stop();
  making[0]();
  assert.equal(await sent, true);
  assert.deepEqual(
    [commands(), chat.get().status, chat.get().lost, texts(chat)],
    [[], "idle", false, ["Hi"]],
  );
  await chat.retry();
  assert.deepEqual(commands().map(({ type }) => type), ["user_message"]);
});

test("an event that does not fit the state requests a new snapshot", async () => {
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi")] });
  events.now({ messages: [said("u", "user", "Hi"), said("a", "assistant", "Hello")] });
  events.push("stream_delta", {
    message_id: "never",
    chunk: { type: "text-delta", id: "x", delta: "?" },
  });
  await says(chat, "Hello");
  assert.deepEqual(events.asked, [null, null]);
});

test("a gap in the event numbers requests a new snapshot", async () => {
  const { chat, events } = await openChat();
  events.now({ messages: [said("u", "user", "Hi")] });
  events.push("runtime_updated", { seq: 7, runtime: running("idle") });
  await says(chat, "Hi");
});

test("stop sends abort, and the partial answer stays", async () => {
  const chunks = answer("a", "Hel").slice(0, 4);
  const { chat, events, commands } = await openChat({
    messages: [said("u", "user", "Hi")],
    stream: { message: empty("a"), chunks },
    runtime: running("generating"),
  });
  const stopped = chat.stop();
  assert.equal(chat.get().status, "stopping");
  events.push("stream_finished", { message_id: "a", state: "idle" });
  events.push("runtime_updated", { runtime: running("idle") });
  await idle(chat);
  await stopped;
  assert.deepEqual([commands(), texts(chat)], [[{ type: "abort" }], ["Hi", "Hel"]]);
});

test("a second stop is shown until it has happened, whenever the first one was", async () => {
  /** @type {(() => void)[]} */
  const pauses = [];
  const wait = () => new Promise((end) => pauses.push(() => end(undefined)));
  const runs = { runtime: running("generating") };
  const { chat, events } = await openChat(runs, { more: { wait } });
  const first = chat.stop();
  await eventually(() => pauses.length === 1);
  events.push("runtime_updated", { runtime: running("idle") });
  await idle(chat);
  events.push("runtime_updated", runs);
  await until(chat, ({ status }) => status === "working");
  void chat.stop();
  await eventually(() => pauses.length === 2);
  events.now(runs);
  pauses[0]();
  await first;
  assert.equal(chat.get().status, "stopping");
});

test("stop during sending aborts after the message has arrived", async () => {
  /** @type {(() => void)[]} */
  const waiting = [];
  const command = () => new Promise((resolve) => waiting.push(() => resolve(ACCEPTED)));
  const { chat, events, commands } = await openChat({}, { routes: { command } });
  void chat.send("Hi", []);
  await eventually(() => waiting.length === 1);
  void chat.stop();
  waiting[0]();
  await eventually(() => waiting.length === 2);
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["user_message", "abort"],
  );
  events.cut();
});

test("an approved call is shown as approved, and its answer continues", async () => {
  const { chat, events, commands } = await openChat(asking());
  const decided = chat.approve(asked(chat), true);
  const part = () => /** @type {any} */ (chat.get().messages[1].parts[0]);
  assert.equal(part().state, "approval-responded");
  await decided;
  events.push("runtime_updated", { runtime: running("executing_tools") });
  events.push("stream_started", { message: asking({ state: "approval-responded" }).messages[1] });
  for (const chunk of [
    { type: "start", messageId: "a" },
    { type: "tool-output-available", toolCallId: "t", output: "saved" },
    ...answer("a", "Saved.").slice(1),
  ]) {
    events.push("stream_delta", { message_id: "a", chunk });
  }
  await says(chat, "Saved.");
  assert.deepEqual([part().state, part().output], ["output-available", "saved"]);
  const sent = { type: "approve_tools", ids: ["t"], approval_ids: ["p"], remember: true };
  assert.deepEqual(commands(), [sent]);
});

test("a decision is not one on the call of another version that has the same id", async () => {
  const { chat, events } = await openChat(asking());
  await chat.approve(asked(chat), false);
  events.push("runtime_updated", { runtime: running("generating") });
  const other = { ...ASKS, input: { name: "Other" }, approval: { id: "q" } };
  events.push("messages_truncated", { after: "u" });
  events.push("stream_started", { message: { id: "b", role: "assistant", parts: [other] } });
  events.push("stream_finished", { message_id: "b", state: "paused" });
  await until(chat, ({ messages }) => messages[1]?.id === "b");
  assert.equal(asked(chat).state, "approval-requested");
});

test("a decision that did not arrive can be made again", async () => {
  const { chat } = await openChat(asking(), { routes: { command: offline } });
  await chat.reject(asked(chat));
  assert.equal(/** @type {any} */ (chat.get().messages[1].parts[0]).state, "approval-requested");
  assert.match(chat.get().failure?.message ?? "", /did not reach/);
});

test("a new message leaves a turn that waits for approval waiting", async () => {
  const { chat, commands } = await openChat(asking());
  await chat.send("and then?", []);
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["user_message"],
  );
});

test("an edited message ends a turn that waits for approval", async () => {
  const { chat, commands } = await openChat(asking());
  await chat.send("no, wait", [], "u");
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["abort", "retry_from_index"],
  );
});

/** @param {Record<string, unknown>} part @param {Record<string, unknown>} [runtime] */
const waiting = (part, runtime) => ({
  ...asking({ toolName: "paint", state: "input-available", approval: undefined, ...part }),
  runtime: running("waiting_client", {
    client_id: "me",
    client_present: true,
    waiting: [{ tool_call_id: "t", for: "panel", tool: "pickColour" }],
    ...runtime,
  }),
});

for (const [what, part] of [
  ["without approval", {}],
  [
    "after its approval",
    { state: "approval-responded", approval: { id: "p", approved: true } },
  ],
]) {
  test(`a panel tool runs once ${what}, and its result is sent`, async () => {
    let runs = 0;
    const tools = { run: async () => ({ output: (runs += 1) }) };
    const { chat, events, commands } = await openChat(waiting(/** @type {any} */ (part)), {
      more: { tools },
    });
    events.push("runtime_updated", { runtime: waiting({}).runtime });
    await eventually(() => commands().length > 0);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(commands(), [{ type: "tool_result", tool_call_id: "t", output: 1 }]);
  });
}

test("a running summary is shown until it ends", async () => {
  const { chat, events } = await openChat({ messages: [said("u", "user", "Hi")] });
  const compacting = { phase: "summarising", reason: "tokens" };
  events.push("thread_updated", { chat: { compacting } });
  await eventually(() => chat.get().compacting !== null);
  assert.deepEqual(chat.get().compacting, compacting);
  events.push("thread_updated", { chat: { compacting: null } });
  await eventually(() => chat.get().compacting === null);
});

test("rejected calls and calls of another panel are not run", async () => {
  const refused = { state: "approval-responded", approval: { id: "p", approved: false } };
  for (const given of [waiting(refused), waiting({}, { client_id: "other" })]) {
    const { commands } = await openChat(given);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(commands(), []);
  }
});

test("a call of a closed panel runs in this panel after take_over", async () => {
  const { chat, events, commands } = await openChat(
    waiting({}, { client_id: "other", client_present: false }),
  );
  assert.equal(chat.get().waitsFor, "gone");
  await chat.takeOver();
  events.push("runtime_updated", { runtime: waiting({}).runtime });
  await eventually(() => commands().length === 2);
  assert.deepEqual(
    commands().map(({ type }) => type),
    ["take_over", "tool_result"],
  );
});

test("the result of a call is sent again after a pause if the server did not take it", async () => {
  const { wait, pauses, pass } = heldWait();
  const busy = new ApiError(503, { code: "busy", message: "Busy." });
  const { commands } = await openChat(waiting({}), {
    routes: { command: inTurn(offline, busy, ACCEPTED) },
    more: { wait },
  });
  for (const attempts of [1, 2]) {
    await eventually(() => pauses.length > 0 || commands().length > attempts);
    assert.equal(commands().length, attempts);
    pass();
  }
  await eventually(() => commands().length === 3);
  assert.deepEqual(commands()[0], commands()[1]);
});

const ACTION = { type: "data-action", data: { action: "new_chat" } };

test("the action of a slash command is carried out once by the panel that sent it", async () => {
  /** @type {unknown[]} */
  const done = [];
  const hooks = { act: (/** @type {unknown} */ action) => done.push(action) };
  const { chat, events, commands } = await openChat({}, { hooks });
  await chat.send("/new", []);
  const { message } = commands()[0];
  events.push("message_added", { message, after: null });
  events.push("stream_started", { message: empty("a") });
  events.push("stream_delta", { message_id: "a", chunk: ACTION });
  await eventually(() => done.length);
  events.push("stream_finished", { message_id: "a", state: "idle" });
  events.now({ messages: [message, { ...empty("a"), parts: [ACTION] }] });
  events.restart();
  await eventually(() => events.asked.length === 2);
  assert.deepEqual(done, [{ action: "new_chat" }]);
});

test("the action of another panel's slash command is not carried out", async () => {
  /** @type {unknown[]} */
  const done = [];
  const hooks = { act: (/** @type {unknown} */ action) => done.push(action) };
  const { chat, events } = await openChat({ messages: [said("u", "user", "/new")] }, { hooks });
  events.push("stream_started", { message: empty("a") });
  events.push("stream_delta", { message_id: "a", chunk: ACTION });
  await until(chat, ({ messages }) => messages[1]?.parts.length);
  assert.deepEqual(done, []);
});

test("a chat does not change after leave", async () => {
  const { chat, events } = await openChat();
  chat.leave();
  events.push("message_added", { message: said("u", "user", "Hi"), after: null });
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([texts(chat), events.readers.size], [[], 0]);
});

test("rest closes the connection, and wake continues after the last event", async () => {
  const { chat, events } = await openChat();
  events.push("message_added", { message: said("u", "user", "Hi"), after: null });
  await says(chat, "Hi");
  chat.rest();
  assert.equal(events.readers.size, 0);
  chat.wake();
  await eventually(() => events.asked.length === 2);
  assert.deepEqual(events.asked[1], { seq: 1, epoch: "e1" });
});

test("after a refused connection wake continues after the last event", async () => {
  const { chat, events } = await openChat();
  chat.rest();
  chat.wake();
  await eventually(() => events.readers.size === 1);
  events.push("message_added", { message: said("u", "user", "Hi"), after: null });
  await says(chat, "Hi");
  events.refuse(new ApiError(500, { code: "internal", message: "Boom." }));
  events.cut();
  await until(chat, ({ failure }) => failure);
  events.refuse(null);
  chat.wake();
  assert.deepEqual(events.asked.at(-1), { seq: 1, epoch: "e1" });
});

test("retry after a refused connection connects again and asks for no other answer", async () => {
  const { chat, events, commands } = await openChat({}, { known: false });
  events.refuse(new ApiError(500, { code: "internal", message: "Boom." }));
  await chat.send("Hi", []);
  await until(chat, ({ failure }) => failure);
  events.refuse(null);
  events.now({ messages: [commands()[0].message, said("a", "assistant", "Hello")] });
  await chat.retry();
  await says(chat, "Hello");
  assert.deepEqual(commands().map(({ type }) => type), ["user_message"]);
  assert.equal(chat.get().failure, null);
});

test("a chat that the server does not have calls the hook gone", async () => {
  const gone = new Promise((resolve) => {
    const routes = {
      subscribe: () => {
        throw new ApiError(404, { code: "not_found" });
      },
    };
    void openChat({}, { routes, hooks: { gone: resolve } });
  });
  assert.equal(await gone, false);
});

test("older messages are added once each and kept when a snapshot arrives", async () => {
  const end = { messages: [said("3", "user", "c"), said("4", "assistant", "d")], has_more: true };
  const { chat, events, server } = await openChat(end, {
    routes: {
      chat: () =>
        stored([said("1", "user", "a"), said("2", "assistant", "b"), said("3", "user", "c")], {
          versions: { 1: { index: 0, ids: ["1", "1b"] } },
        }),
    },
  });
  await chat.loadOlder();
  assert.deepEqual(texts(chat), ["a", "b", "c", "d"]);
  assert.equal(server.asked("chat")[0][1].before, "3");
  assert.equal(chat.get().hasMore, false);
  assert.deepEqual(chat.get().versions.get("1")?.ids, ["1", "1b"]);
  events.restart();
  await eventually(() => events.asked.length === 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(texts(chat), ["a", "b", "c", "d"]);
});

/** A chat of 1,000 messages, whose pages the server gives. */
const FAR = Array.from({ length: 1000 }, (_each, at) => said(`${at}`, "user", `text ${at}`));

/** @param {string} _id @param {any} page */
function pageOf(_id, { limit, before, around, after }) {
  const at = FAR.findIndex(({ id }) => id === (before ?? around ?? after));
  if (at < 0) return null;
  const from = before ? at - limit : after ? at + 1 : at - limit / 2;
  const to = before ? at : from + limit;
  const messages = FAR.slice(Math.max(0, from), to);
  return stored(messages, { has_more: from > 0, ...(before ? {} : { has_later: to < 1000 }) });
}

const openFar = () =>
  openChat({ messages: FAR.slice(-60), has_more: true }, { routes: { chat: pageOf } });
const shownFar = (/** @type {any} */ chat) => {
  const { messages } = chat.get().stretch ?? chat.get();
  return [messages[0].id, messages.at(-1).id, messages.length];
};

test("find loads the page around a far message, and no other", async () => {
  const { chat, server } = await openFar();
  const found = chat.find("100");
  await until(chat, ({ finding }) => finding);
  await found;
  assert.deepEqual(chat.get().target, { id: "100" });
  assert.deepEqual(shownFar(chat), ["70", "129", 60]);
  assert.equal(chat.get().finding, false);
  assert.deepEqual(server.asked("chat"), [["c", { limit: 60, around: "100" }]]);
  assert.equal(chat.get().messages.length, 60, "the end stays loaded");
});

test("pages before and after a far message join the end without a gap", async () => {
  const { chat } = await openFar();
  await chat.find("800");
  assert.deepEqual(shownFar(chat), ["770", "829", 60]);
  await chat.loadOlder();
  assert.deepEqual(shownFar(chat), ["710", "829", 120]);
  await chat.loadLater();
  await chat.loadLater();
  assert.equal(chat.get().stretch, null);
  const ids = chat.get().messages.map(({ id }) => id);
  assert.deepEqual(ids, FAR.slice(710).map(({ id }) => id));
  assert.equal(chat.get().hasMore, true);
});

test("a page that reaches the end joins it at once", async () => {
  const { chat } = await openFar();
  await chat.find("920");
  assert.equal(chat.get().stretch, null);
  assert.deepEqual(shownFar(chat), ["890", "999", 110]);
});

test("the end is shown again on demand, for a message there, and for a new question", async () => {
  const { chat } = await openFar();
  await chat.find("100");
  chat.toLatest();
  assert.deepEqual(shownFar(chat), ["940", "999", 60]);
  await chat.find("100");
  await chat.find("990");
  assert.deepEqual([shownFar(chat)[0], chat.get().target], ["940", { id: "990" }]);
  await chat.find("100");
  void chat.send("new", []);
  await until(chat, ({ messages }) => messages.some(({ parts }) => parts[0].text === "new"));
  assert.equal(chat.get().stretch, null);
});

test("events change far messages, and an edit of one joins what is left", async () => {
  const { chat, events } = await openFar();
  await chat.find("100");
  const far = () => chat.get().stretch?.messages.map(textOf) ?? [];
  events.push("message_updated", { message: said("99", "user", "changed") });
  events.push("message_added", { message: said("1000", "user", "new"), after: "999" });
  await says(chat, "new");
  assert.deepEqual([far()[29], shownFar(chat)], ["changed", ["70", "129", 60]]);
  events.push("messages_truncated", { after: "100" });
  events.push("message_added", { message: said("x", "user", "edited"), after: "100" });
  await says(chat, "edited");
  assert.equal(chat.get().stretch, null);
  assert.deepEqual(shownFar(chat), ["70", "x", 32]);
});

test("far messages are loaded again when the connection was lost, or left", async () => {
  let there = true;
  const { chat, events, server } = await openChat(
    { messages: FAR.slice(-60), has_more: true },
    { routes: { chat: (/** @type {string} */ id, /** @type {any} */ page) => there && pageOf(id, page) } },
  );
  await chat.find("100");
  events.restart();
  await eventually(() => server.asked("chat").length === 2);
  assert.deepEqual(shownFar(chat), ["70", "129", 60]);
  there = false;
  events.restart();
  await until(chat, ({ stretch }) => stretch === null);
  assert.deepEqual(shownFar(chat), ["940", "999", 60]);
});

test("find switches to the version that contains the message", async () => {
  const { chat, events, commands } = await openChat(
    { messages: [said("2", "user", "b")] },
    {
      routes: {
        chat: () => null,
        command() {
          events.now({ messages: [said("1", "user", "a")] });
          return ACCEPTED;
        },
      },
    },
  );
  await chat.find("1");
  assert.deepEqual(commands(), [{ type: "switch_version", message_id: "1" }]);
  assert.deepEqual(chat.get().target, { id: "1" });
});

test("branch returns the id of the new chat", async () => {
  const { chat, commands } = await openChat(
    {},
    { routes: { command: () => ({ ...ACCEPTED, chat_id: "other" }) } },
  );
  assert.equal(await chat.branch("m"), "other");
  assert.deepEqual(commands(), [{ type: "branch_from_chat", message_id: "m" }]);
});

test("an unchanged draft is not sent again", async () => {
  const { chat, commands } = await openChat({ draft: "old" });
  assert.equal(chat.get().draft, "old");
  assert.equal(await chat.keepDraft("old"), true);
  assert.equal(await chat.keepDraft("new"), true);
  assert.equal(await chat.keepDraft("new"), true);
  assert.equal(await chat.keepDraft(""), true);
  assert.deepEqual(commands(), [{ type: "set_draft", text: "new" }, { type: "clear_draft" }]);
});

test("the duration of a part is measured while it streams", async () => {
  let clock = 0;
  const { chat, events } = await openChat(
    { messages: [said("u", "user", "Hi")] },
    { more: { now: () => new Date((clock += 1000)) } },
  );
  events.push("stream_started", { message: empty("a") });
  for (const chunk of [
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-end", id: "r" },
  ]) {
    events.push("stream_delta", { message_id: "a", chunk });
  }
  await until(chat, ({ durations }) => durations["a/0"] === 1000);
});

test("a call that waited for approval has no duration", async () => {
  let clock = 0;
  const { chat, events } = await openChat(
    { messages: [said("u", "user", "Hi")] },
    { more: { now: () => new Date((clock += 1000)) } },
  );
  events.push("stream_started", { message: empty("a") });
  for (const chunk of [
    { type: "tool-input-start", toolCallId: "t", toolName: "save", dynamic: true },
    { type: "tool-input-available", toolCallId: "t", toolName: "save", input: {}, dynamic: true },
    { type: "tool-approval-request", approvalId: "p", toolCallId: "t" },
    { type: "tool-output-available", toolCallId: "t", output: "saved", dynamic: true },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-end", id: "r" },
  ]) {
    events.push("stream_delta", { message_id: "a", chunk });
  }
  const { durations } = await until(chat, (state) => Object.keys(state.durations).length > 0);
  assert.deepEqual(Object.keys(durations), ["a/1"]);
});

test("a refusal carries what to do instead", async () => {
  const { chat, commands } = await openChat(asking());
  assert.equal(await chat.reject(asked(chat), "Another name, please"), true);
  const sent = { type: "reject_tools", reason: "Another name, please", ids: ["t"], approval_ids: ["p"] };
  assert.deepEqual(commands(), [sent]);
});

const QUESTION = {
  for: "answer",
  question: "Which size?",
  options: [{ label: "1k" }, { label: "2k" }],
  multiple: false,
  allow_other: true,
};
const questioning = () => ({
  messages: [
    said("u", "user", "make it larger"),
    {
      id: "a",
      role: "assistant",
      parts: [
        { type: "dynamic-tool", toolName: "askUser", toolCallId: "t", state: "input-available" },
        { type: "data-waiting", id: "t", data: QUESTION },
      ],
    },
  ],
  runtime: running("waiting_user_input"),
});

test("an answer to a question is shown before the server has it", async () => {
  const { chat, commands } = await openChat(questioning());
  const answered = chat.answer(asked(chat), { choices: ["2k"] });
  assert.deepEqual(
    [asked(chat).state, asked(chat).output],
    ["output-available", { choices: ["2k"] }],
  );
  assert.equal(await answered, true);
  const sent = { type: "tool_result", tool_call_id: "t", output: { choices: ["2k"] } };
  assert.deepEqual(commands(), [sent]);
});

for (const [by, respond] of /** @type {[string, (chat: Chat) => unknown][]} */ ([
  ["in the card", (chat) => chat.answer(asked(chat), { choices: ["2k"] })],
  ["by a message", (chat) => chat.send("2k", [])],
])) {
  test(`an answer ${by} is not one to a version's question that has the same id`, async () => {
    const { chat, events } = await openChat(questioning());
    await respond(chat);
    assert.equal(asked(chat).state, "output-available");
    const other = { ...questioning().messages[1], id: "b" };
    events.push("messages_truncated", { after: "u" });
    events.push("stream_started", { message: other });
    events.push("stream_finished", { message_id: "b", state: "waiting_user_input" });
    await until(chat, ({ messages }) => messages[1]?.id === "b");
    assert.equal(asked(chat).state, "input-available");
  });
}

test("an answer that did not arrive can be given again", async () => {
  const { chat } = await openChat(questioning(), { routes: { command: offline } });
  assert.equal(await chat.answer(asked(chat), { text: "3k" }), false);
  assert.equal(asked(chat).state, "input-available");
  assert.match(chat.get().failure?.message ?? "", /did not reach/);
});

test("a message answers the question, and is shown in no other place", async () => {
  const command = () => ({ ...ACCEPTED, answered: true });
  const { chat, commands } = await openChat(questioning(), { routes: { command } });
  const sent = chat.send("3k, please", []);
  await until(chat, () => asked(chat).output);
  assert.deepEqual(asked(chat).output, { text: "3k, please" });
  assert.deepEqual([texts(chat), chat.get().unsent], [["make it larger", ""], []]);
  assert.equal(await sent, true);
  assert.deepEqual([texts(chat), chat.get().unsent], [["make it larger", ""], []]);
  assert.equal(commands()[0].type, "user_message");
});

test("a message that the server refuses as an answer goes back to the user", async () => {
  const command = () => {
    throw new ApiError(400, { message: "the assistant waits for an answer in words" });
  };
  const { chat } = await openChat(questioning(), { routes: { command } });
  assert.equal(await chat.send("see the picture", []), false);
  assert.equal(asked(chat).state, "input-available");
});

test("what asks first is set before the first message of a new chat", async () => {
  const { chat, server, commands } = await openChat({}, { known: false });
  await chat.setParams({ approval: "ask" });
  assert.deepEqual([server.calls, chat.get().params], [[], { approval: "ask" }]);
  await chat.send("Hi", []);
  assert.deepEqual(
    commands().map(({ type, params }) => [type, params]),
    [
      ["set_params", { approval: "ask" }],
      ["user_message", undefined],
    ],
  );
});

test("the mode that another tab or the server sets later is shown", async () => {
  const mode = (/** @type {string} */ approval) => ({ chat: { params: { approval } } });
  const { chat, events } = await openChat({ chat: { id: "c", params: { approval: "edits" } } });
  await chat.setParams({ approval: "ask" });
  assert.equal(chat.get().params.approval, "ask", "also before its event has come");
  events.push("thread_updated", mode("ask"));
  events.push("thread_updated", mode("budget"));
  await eventually(() => chat.get().params.approval === "budget");
});

test("a mode that the server refuses is not shown", async () => {
  const refuse = () => {
    throw new ApiError(400, { message: "no" });
  };
  const { chat } = await openChat(
    { chat: { id: "c", title: "T", params: { approval: "ask" } } },
    { routes: { command: refuse } },
  );
  await chat.setParams({ approval: "edits" });
  assert.deepEqual(chat.get().params, { approval: "ask" });
  assert.equal(chat.get().failure?.message, "no");
});

const UNDO = { workflow_id: "w", base: {}, steps: [{ do: "values", node: "3", values: { steps: 20 } }] };

test("undo carries the server's steps out, and the server says that it is undone", async () => {
  /** @type {any[]} */
  const applied = [];
  const { chat, events, commands } = await openChat(
    { messages: [said("u", "user", "Hi"), said("a", "assistant", "Done.")] },
    {
      routes: { command: () => ({ ...ACCEPTED, ...UNDO, also: [{ ...UNDO, workflow_id: "v" }] }) },
      more: { applyChange: async (/** @type {any} */ change) => void applied.push(change.workflow_id) },
    },
  );
  const undone = chat.undoEdits("a");
  assert.deepEqual(chat.get().taken.get("a"), { undone: false, busy: true, refused: null });
  await undone;
  assert.deepEqual(applied, ["w", "v"]);
  assert.deepEqual([commands()[0].type, commands()[0].message_id], ["undo_edits", "a"]);
  events.push("runtime_updated", { runtime: running("idle", { undone: ["a"] }) });
  await until(chat, ({ taken }) => taken.get("a")?.undone);
  assert.deepEqual(chat.get().taken.get("a"), { undone: true, busy: false, refused: null });
});

test("workflows that are not open are named: the changes there stay as they are", async () => {
  const { chat } = await openChat(
    { runtime: running("idle", { undone: ["b"] }) },
    {
      routes: { command: () => ({ ...ACCEPTED, ...UNDO, left: ["flux", "wan"] }) },
      more: { applyChange: async () => null },
    },
  );
  await chat.undoEdits("a");
  const text = "Not taken back in: flux, wan. Open that workflow and try again.";
  assert.deepEqual(chat.get().taken.get("a"), { undone: false, busy: false, refused: { nodes: [], text } });
  await chat.redoEdits("b");
  assert.equal(chat.get().taken.get("b")?.refused?.text, "Still taken back in: flux, wan.");
});

test("a refused undo names the nodes that were changed since", async () => {
  const refuse = () => {
    throw new ApiError(409, { code: "changed_since", message: "Changed.", nodes: ["3", "57:8"] });
  };
  const { chat } = await openChat({}, { routes: { command: refuse } });
  await chat.undoEdits("a");
  assert.deepEqual(chat.get().taken.get("a")?.refused, { nodes: ["3", "57:8"], text: "Changed." });
  assert.equal(chat.get().failure, null);
});

for (const [what, first, failed] of /** @type {[string, any, any][]} */ ([
  ["whose answer was lost", new NetworkError("lost"), []],
  ["that the canvas did not take", { ...ACCEPTED, ...UNDO }, [{ error: "No." }]],
])) {
  test(`an undo ${what} is offered again, since the canvas has the changes`, async () => {
    const results = [...failed];
    const { chat, events, commands } = await openChat(
      { messages: [said("u", "user", "Hi"), said("a", "assistant", "Done.")] },
      {
        routes: { command: inTurn(first, { ...ACCEPTED, ...UNDO }) },
        more: { applyChange: async () => results.shift() ?? null },
      },
    );
    await chat.undoEdits("a");
    events.push("runtime_updated", { runtime: running("idle", { undone: ["a"] }) });
    events.push("thread_updated", { chat: { title: "Later" } });
    await until(chat, ({ title }) => title === "Later");
    assert.equal(chat.get().taken.get("a")?.undone, false);
    assert.notEqual(chat.get().taken.get("a")?.refused, null);
    await chat.undoEdits("a");
    assert.deepEqual(chat.get().taken.get("a"), { undone: true, busy: false, refused: null });
    assert.deepEqual(commands().map(({ type }) => type), ["undo_edits", "undo_edits"]);
  });
}

test("a canvas that does not take the steps is said", async () => {
  const { chat } = await openChat(
    {},
    {
      routes: { command: () => ({ ...ACCEPTED, ...UNDO }) },
      more: { applyChange: async () => ({ refused: "changed", text: "Node 3 has other values." }) },
    },
  );
  await chat.redoEdits("a");
  assert.equal(chat.get().taken.get("a")?.refused?.text, "Node 3 has other values.");
});
