// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError } from "../../web/services/api.js";
import { textOf } from "../../web/state/messages.js";
import {
  answer,
  fakeChat,
  fakeServer,
  inTurn,
  offline,
  said,
  stored,
  streamed,
  until,
} from "./fakes.js";

/** @param {ReturnType<typeof fakeChat>} chat */
const texts = (chat) => chat.get().messages.map(textOf);

const ASKED = [
  { type: "start", messageId: "a" },
  {
    type: "tool-input-available",
    toolCallId: "t",
    toolName: "save",
    input: {},
    dynamic: true,
    providerExecuted: true,
  },
  { type: "tool-approval-request", toolCallId: "t", approvalId: "p" },
  { type: "finish" },
];

test("a message goes out with its workflow, and the answer comes in", async () => {
  const server = fakeServer({ send: () => streamed(answer("a", "Hello")) });
  const chat = fakeChat(server.api);
  assert.equal(await chat.send("Hi", []), true);
  await until(chat);
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
  const [[request]] = server.asked("send");
  assert.deepEqual(
    [request.id, request.trigger, request.message.parts, request.workflow.revision],
    ["c", "submit-message", [{ type: "text", text: "Hi" }], 3],
  );
  assert.deepEqual(request.message.metadata.workflow, { id: "w", name: "flux" });
});

test("no workflow is no reason not to send", async () => {
  const server = fakeServer({ send: () => streamed(answer("a", "Hello")) });
  const chat = fakeChat(server.api, { workflow: () => undefined });
  await chat.send("Hi", []);
  await until(chat);
  assert.equal(server.asked("send")[0][0].workflow, undefined);
});

test("attachments are file parts before the text", async () => {
  const server = fakeServer({ send: () => streamed(answer("a", "Hello")) });
  const chat = fakeChat(server.api);
  const file = {
    id: "f",
    filename: "x.txt",
    mediaType: "text/plain",
    size: 1,
    url: "data:text/plain;base64,eA==",
  };
  await chat.send("", [file]);
  await until(chat);
  assert.deepEqual(server.asked("send")[0][0].message.parts, [
    { type: "file", mediaType: "text/plain", url: file.url, filename: "x.txt" },
  ]);
});

test("asking a message anew drops what came after it", async () => {
  const server = fakeServer({
    send: inTurn(
      () => streamed(answer("a1", "one")),
      () => streamed(answer("a2", "two")),
    ),
  });
  const chat = fakeChat(server.api);
  await chat.send("first", []);
  await until(chat);
  const [first] = chat.get().messages;
  await chat.send("second", [], first.id);
  await until(chat);
  assert.deepEqual(texts(chat), ["second", "two"]);
  const [, [request]] = server.asked("send");
  assert.equal(request.messageId, first.id);
  assert.notEqual(request.message.id, first.id);
});

test("answering again replaces the last answer", async () => {
  const server = fakeServer({
    send: inTurn(
      () => streamed(answer("a1", "one")),
      () => streamed(answer("a2", "two")),
    ),
  });
  const chat = fakeChat(server.api);
  await chat.send("question", []);
  await until(chat);
  await chat.regenerate();
  await until(chat);
  assert.deepEqual(texts(chat), ["question", "two"]);
  assert.deepEqual(server.asked("send")[1][0].trigger, "regenerate-message");
  assert.equal(server.asked("send")[1][0].messageId, "a1");
});

test("a context report is kept for the meter and not in the message", async () => {
  const report = { request: 1 };
  const chunks = [{ type: "data-context", transient: true, data: report }, ...answer("a", "x")];
  const chat = fakeChat(fakeServer({ send: () => streamed(chunks) }).api);
  await chat.send("Hi", []);
  await until(chat);
  assert.equal(chat.get().report?.request, 1);
  assert.ok(chat.get().messages[1].parts.every((part) => part.type !== "data-context"));
});

test("an error with actions stays with its message", async () => {
  const error = { code: "key_refused", message: "The key was refused.", actions: ["enter-key"] };
  const chunks = [
    { type: "start", messageId: "a" },
    { type: "message-metadata", messageMetadata: { error } },
    { type: "error", errorText: error.message },
  ];
  const chat = fakeChat(fakeServer({ send: () => streamed(chunks) }).api);
  await chat.send("Hi", []);
  await until(chat);
  assert.deepEqual(chat.get().messages[1].metadata?.error, error);
  assert.equal(chat.get().failure, null);
});

test("an error without a code is shown with a way to try again", async () => {
  const chunks = [
    { type: "start", messageId: "a" },
    { type: "error", errorText: "Boom." },
  ];
  const chat = fakeChat(fakeServer({ send: () => streamed(chunks) }).api);
  await chat.send("Hi", []);
  await until(chat);
  assert.deepEqual(
    [chat.get().failure?.message, chat.get().failure?.actions],
    ["Boom.", ["retry"]],
  );
});

test("a request that was refused can be sent again as it was", async () => {
  const server = fakeServer({
    send: inTurn(new ApiError(429, { code: "too_many", message: "Too many." }), () =>
      streamed(answer("a", "ok")),
    ),
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat);
  assert.equal(chat.get().failure?.message, "Too many.");
  await chat.retry();
  await until(chat);
  assert.deepEqual(texts(chat), ["Hi", "ok"]);
  const [[first], [second]] = server.asked("send");
  assert.equal(second.message.id, first.message.id);
});

test("a chat that answers elsewhere gives the text back and shows that answer", async () => {
  const server = fakeServer({
    send: inTurn(new ApiError(409, { code: "turn_running", message: "Runs." })),
    join: () => streamed(answer("other", "from elsewhere")),
    chat: () =>
      stored([said("u", "user", "asked there"), said("other", "assistant", "from elsewhere")]),
  });
  const chat = fakeChat(server.api);
  assert.equal(await chat.send("Hi", []), false);
  await until(chat, (state) => state.status === "streaming");
  await until(chat);
  assert.deepEqual(texts(chat), ["asked there", "from elsewhere"]);
});

test("a stream that was cut is found again", async () => {
  const server = fakeServer({
    send: () => streamed(answer("a", "Hel").slice(0, 4), { cut: true }),
    chat: inTurn(offline, offline, () => stored([said("id1", "user", "Hi")])),
    join: () => streamed(answer("a", "Hello")),
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat, (state) => state.status === "reconnecting");
  await until(chat, (state) => state.status === "streaming");
  assert.equal(server.asked("chat").length, 3);
  await until(chat, (state) => textOf(state.messages.at(-1) ?? said("", "user", "")) === "Hello");
});

test("a turn that ended while the connection was away is read from the log", async () => {
  const server = fakeServer({
    send: () => streamed(answer("a", "Hel").slice(0, 4), { cut: true }),
    chat: () => stored([said("id1", "user", "Hi"), said("a", "assistant", "Hello")]),
    join: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat, (state) => state.status === "reconnecting");
  await until(chat);
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
});

test("an answer that the server lost is offered to be continued", async () => {
  const server = fakeServer({
    send: () => streamed(answer("a", "Hel").slice(0, 4), { cut: true }),
    chat: () => null,
    join: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat, (state) => state.status === "reconnecting");
  await until(chat);
  assert.equal(chat.get().messages[1].metadata?.cut, "cut");
});

test("a message that never arrived is sent again when ComfyUI is back", async () => {
  const server = fakeServer({
    send: inTurn(offline, () => streamed(answer("a", "Hello"))),
    chat: inTurn(offline, () => null),
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat, (state) => state.messages.length === 2);
  await until(chat);
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
  assert.equal(server.asked("send")[0][0].message.id, server.asked("send")[1][0].message.id);
});

test("a message that did arrive is not sent twice", async () => {
  const server = fakeServer({
    send: offline,
    chat: () => stored([said("id1", "user", "Hi"), said("a", "assistant", "Hello")]),
    join: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat);
  assert.deepEqual(texts(chat), ["Hi", "Hello"]);
  assert.equal(server.asked("send").length, 1);
});

test("giving up on a lost connection says so and offers to try again", async () => {
  const chat = fakeChat(fakeServer({ send: offline, chat: offline }).api);
  await chat.send("Hi", []);
  await until(chat, (state) => state.status === "reconnecting");
  await chat.stop();
  assert.deepEqual([chat.get().status, chat.get().failure?.code], ["idle", "server"]);
});

test("a stream that contradicts itself ends as an unreadable answer", async () => {
  const chunks = [
    { type: "start", messageId: "a" },
    { type: "text-delta", id: "no", delta: "x" },
  ];
  const chat = fakeChat(fakeServer({ send: () => streamed(chunks) }).api);
  await chat.send("Hi", []);
  await until(chat);
  assert.equal(chat.get().failure?.code, "garbage");
});

test("opening a chat joins the turn that runs", async () => {
  const server = fakeServer({
    chat: () => stored([said("u", "user", "Hi")]),
    join: () => streamed(answer("a", "Hello")),
  });
  const chat = fakeChat(server.api);
  void chat.load();
  await until(
    chat,
    (state) => state.messages.length === 2 && textOf(state.messages[1]) === "Hello",
  );
  assert.equal(chat.get().title, "Title");
});

test("stopping asks the server, and what was written stays", async () => {
  /** @type {() => void} */
  let end = () => undefined;
  const hold = new Promise((resolve) => {
    end = () => resolve(undefined);
  });
  const server = fakeServer({
    send: () => streamed(answer("a", "Hel").slice(0, 4), { hold: /** @type {any} */ (hold) }),
    command: () => end(),
  });
  const chat = fakeChat(server.api);
  await chat.send("Hi", []);
  await until(chat, (state) => textOf(state.messages.at(-1) ?? said("", "user", "")) === "Hel");
  void chat.stop();
  await until(chat);
  assert.deepEqual(server.asked("command"), [["c", { type: "abort" }]]);
  assert.deepEqual(texts(chat), ["Hi", "Hel"]);
});

test("an allowed call goes on where the answer stopped", async () => {
  const server = fakeServer({
    send: () => streamed(ASKED),
    command: () => undefined,
    join: () =>
      streamed([
        { type: "start", messageId: "a" },
        { type: "tool-output-available", toolCallId: "t", output: "saved" },
        { type: "start-step" },
        { type: "text-start", id: "x" },
        { type: "text-delta", id: "x", delta: "Saved." },
        { type: "finish" },
      ]),
    chat: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.send("save it", []);
  await until(chat);
  void chat.approve(["t"], true);
  await until(chat, (state) => textOf(state.messages[1]) === "Saved.");
  const tool = /** @type {any} */ (chat.get().messages[1].parts[0]);
  assert.deepEqual([tool.state, tool.output], ["output-available", "saved"]);
  assert.deepEqual(server.asked("command"), [
    ["c", { type: "approve_tools", ids: ["t"], remember: true }],
  ]);
});

test("a decision that does not arrive can be made again", async () => {
  const server = fakeServer({ send: () => streamed(ASKED), command: offline });
  const chat = fakeChat(server.api);
  await chat.send("save it", []);
  await until(chat);
  await chat.reject(["t"]);
  assert.equal(/** @type {any} */ (chat.get().messages[1].parts[0]).state, "approval-requested");
  assert.match(chat.get().failure?.message ?? "", /did not reach/);
});

test("a new message ends a turn that waits for a decision", async () => {
  const server = fakeServer({
    send: inTurn(
      () => streamed(ASKED),
      () => streamed(answer("b", "ok")),
    ),
    command: () => undefined,
  });
  const chat = fakeChat(server.api);
  await chat.send("save it", []);
  await until(chat);
  await chat.send("no, wait", []);
  await until(chat);
  assert.deepEqual(
    server.calls.map(([name]) => name),
    ["send", "command", "send"],
  );
});

test("a tool that the panel does not have is answered with an error", async () => {
  const call = { toolCallId: "t", toolName: "paint", input: {}, dynamic: true };
  const server = fakeServer({
    send: () =>
      streamed([
        { type: "start", messageId: "a" },
        { type: "tool-input-available", ...call },
        { type: "finish" },
      ]),
    command: () => undefined,
    join: () =>
      streamed([
        { type: "start", messageId: "a" },
        { type: "tool-output-error", toolCallId: "t", errorText: "no" },
      ]),
    chat: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.send("paint", []);
  await until(
    chat,
    (state) => /** @type {any} */ (state.messages[1]?.parts[0])?.state === "output-error",
  );
  assert.deepEqual(server.asked("command")[0][1], {
    type: "tool_result",
    tool_call_id: "t",
    error: "no such tool",
  });
});

test("a chat that was left changes no more", async () => {
  const server = fakeServer({ send: () => streamed(answer("a", "Hello")) });
  const chat = fakeChat(server.api);
  const sent = chat.send("Hi", []);
  chat.leave();
  await sent;
  assert.deepEqual(texts(chat), ["Hi"]);
});

test("older messages come before the others, each once", async () => {
  const server = fakeServer({
    chat: inTurn(
      () => stored([said("3", "user", "c"), said("4", "assistant", "d")], { has_more: true }),
      () => stored([said("1", "user", "a"), said("2", "assistant", "b"), said("3", "user", "c")]),
    ),
    join: () => null,
  });
  const chat = fakeChat(server.api);
  await chat.load();
  await chat.loadOlder();
  assert.deepEqual(texts(chat), ["a", "b", "c", "d"]);
  assert.equal(server.asked("chat")[1][1].before, "3");
  assert.equal(chat.get().hasMore, false);
});

test("how long a part took is measured while it is watched", async () => {
  const times = [0, 0, 0, 1000, 7000].map((at) => new Date(at));
  const chunks = [
    { type: "start", messageId: "a" },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-end", id: "r" },
    { type: "finish" },
  ];
  const chat = fakeChat(fakeServer({ send: () => streamed(chunks) }).api, {
    now: () => (times.length > 1 ? times.shift() : times[0]),
  });
  await chat.send("Hi", []);
  await until(chat);
  assert.ok(chat.get().durations["a/0"] >= 0);
});
