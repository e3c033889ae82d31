// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { FoldError, initialFold } from "../../web/state/fold-state.js";
import { settleInputs } from "../../web/state/fold-tool.js";
import { fold } from "../../web/state/reducer.js";

/** @typedef {import("../../web/types.js").Chunk} Chunk */
/** @typedef {import("../../web/types.js").UIMessage} UIMessage */

/** A fold that keeps its own state. @param {UIMessage | null} [message] */
function createReducer(message = null) {
  let state = initialFold(message);
  return {
    /** @param {Chunk} chunk */
    apply(chunk) {
      state = fold(state, chunk);
    },
    get message() {
      state = settleInputs(state);
      return state.message;
    },
  };
}

/** @param {UIMessage | null} message @param {Iterable<Chunk>} chunks */
function foldChunks(message, chunks) {
  const reducer = createReducer(message);
  for (const chunk of chunks) reducer.apply(chunk);
  return reducer.message;
}

const START = { type: "start", messageId: "m1" };
const call = (/** @type {Record<string, unknown>} */ more) => ({
  toolCallId: "c1",
  toolName: "getNodeInfo",
  dynamic: true,
  ...more,
});

/** @param {...Chunk} chunks */
const parts = (...chunks) => foldChunks(null, [START, ...chunks]).parts;

test("text grows by its deltas and is done at its end", () => {
  assert.deepEqual(
    parts(
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Hel" },
      { type: "text-delta", id: "t", delta: "lo" },
      { type: "text-end", id: "t" },
    ),
    [{ type: "text", text: "Hello", state: "done" }],
  );
});

test("deltas go to the open part with their id", () => {
  const [one, other] = parts(
    { type: "reasoning-start", id: "r" },
    { type: "text-start", id: "t" },
    { type: "reasoning-delta", id: "r", delta: "think" },
    { type: "text-delta", id: "t", delta: "say" },
    { type: "reasoning-end", id: "r", providerMetadata: { assistant: { ms: 6 } } },
  );
  assert.deepEqual(one, {
    type: "reasoning",
    id: "r",
    text: "think",
    state: "done",
    providerMetadata: { assistant: { ms: 6 } },
  });
  assert.deepEqual(other, { type: "text", text: "say", state: "streaming" });
});

test("steps separate rounds, and the end of a step closes its parts", () => {
  const reducer = createReducer();
  for (const chunk of [START, { type: "start-step" }, { type: "text-start", id: "t" }]) {
    reducer.apply(chunk);
  }
  reducer.apply({ type: "finish-step" });
  assert.throws(() => reducer.apply({ type: "text-delta", id: "t", delta: "x" }), FoldError);
  assert.deepEqual(reducer.message.parts[0], { type: "step-start" });
});

test("streaming arguments are parsed so far", () => {
  const [part] = parts(
    { type: "tool-input-start", ...call({ title: "Looked up a node" }) },
    { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: '{"types":["KSam' },
  );
  assert.deepEqual(part, {
    type: "dynamic-tool",
    toolName: "getNodeInfo",
    toolCallId: "c1",
    title: "Looked up a node",
    state: "input-streaming",
    rawInput: '{"types":["KSam',
    input: { types: ["KSam"] },
  });
});

test("a tool call is one part from its start to its result", () => {
  assert.deepEqual(
    parts(
      { type: "tool-input-start", ...call({ title: "Look", providerExecuted: true }) },
      { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{}" },
      { type: "tool-input-available", ...call({ input: {} }) },
      { type: "tool-output-available", toolCallId: "c1", output: { nodes: 3 }, dynamic: true },
    ),
    [
      {
        type: "dynamic-tool",
        toolName: "getNodeInfo",
        toolCallId: "c1",
        title: "Look",
        state: "output-available",
        input: {},
        output: { nodes: 3 },
        providerExecuted: true,
      },
    ],
  );
});

test("a preliminary result is replaced by the final one", () => {
  const [part] = parts(
    { type: "tool-input-available", ...call({ input: {} }) },
    { type: "tool-output-available", toolCallId: "c1", output: 1, preliminary: true },
    { type: "tool-output-available", toolCallId: "c1", output: 2 },
  );
  assert.equal(/** @type {any} */ (part).output, 2);
  assert.equal("preliminary" in part, false);
});

test("a failed result replaces an earlier one", () => {
  const [part] = parts(
    { type: "tool-input-available", ...call({ input: { a: 1 } }) },
    { type: "tool-output-available", toolCallId: "c1", output: 1, preliminary: true },
    { type: "tool-output-error", toolCallId: "c1", errorText: "no" },
  );
  assert.deepEqual(
    [/** @type {any} */ (part).errorText, "output" in part, /** @type {any} */ (part).input],
    ["no", false, { a: 1 }],
  );
});

test("arguments that are no JSON become an error with the text as input", () => {
  const [part] = parts(
    { type: "tool-input-start", ...call({}) },
    { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{oops" },
    { type: "tool-input-error", ...call({ input: "{oops", errorText: "not JSON" }) },
  );
  assert.deepEqual(part, {
    type: "dynamic-tool",
    toolName: "getNodeInfo",
    toolCallId: "c1",
    state: "output-error",
    input: "{oops",
    errorText: "not JSON",
  });
});

test("an approval request is set on the call, which can be denied", () => {
  const reducer = createReducer();
  for (const chunk of [
    START,
    { type: "tool-input-available", ...call({ input: {} }) },
    { type: "tool-approval-request", toolCallId: "c1", approvalId: "a1" },
  ]) {
    reducer.apply(chunk);
  }
  const [asked] = /** @type {any[]} */ (reducer.message.parts);
  assert.deepEqual([asked.state, asked.approval], ["approval-requested", { id: "a1" }]);
  reducer.apply({ type: "tool-output-denied", toolCallId: "c1" });
  assert.equal(/** @type {any} */ (reducer.message.parts[0]).state, "output-denied");
});

test("a call id repeated in a later step is a new part", () => {
  const answers = parts(
    { type: "start-step" },
    { type: "tool-input-available", ...call({ input: { a: 1 } }) },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "tool-input-available", ...call({ input: { a: 2 } }) },
  ).filter((part) => part.type === "dynamic-tool");
  assert.equal(answers.length, 2);
});

test("a result finds a call of an earlier step", () => {
  const answered = parts(
    { type: "start-step" },
    { type: "tool-input-available", ...call({ input: {} }) },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "tool-output-available", toolCallId: "c1", output: "late" },
  );
  assert.equal(/** @type {any} */ (answered[1]).output, "late");
});

test("a static tool has its name in the type", () => {
  const [part] = parts({ type: "tool-input-available", toolCallId: "s", toolName: "go", input: 1 });
  assert.equal(part.type, "tool-go");
});

test("data parts with the same id are replaced, transient ones are not kept", () => {
  assert.deepEqual(
    parts(
      { type: "data-notice", id: "n", data: 1 },
      { type: "data-notice", id: "n", data: 2 },
      { type: "data-notice", data: 3 },
      { type: "data-context", data: {}, transient: true },
    ),
    [
      { type: "data-notice", id: "n", data: 2 },
      { type: "data-notice", data: 3 },
    ],
  );
});

test("files and sources become parts", () => {
  assert.deepEqual(
    parts(
      { type: "file", url: "data:x", mediaType: "image/png" },
      { type: "source-url", sourceId: "1", url: "https://x" },
      { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "T" },
    ).map((part) => part.type),
    ["file", "source-url", "source-document"],
  );
});

test("metadata of start, message-metadata and finish are merged deeply", () => {
  const { metadata } = foldChunks(null, [
    { ...START, messageMetadata: { model: "m", usage: { input_tokens: 1 } } },
    { type: "message-metadata", messageMetadata: { usage: { output_tokens: 2 } } },
    { type: "finish", messageMetadata: { steps: 1 } },
  ]);
  assert.deepEqual(metadata, {
    model: "m",
    usage: { input_tokens: 1, output_tokens: 2 },
    steps: 1,
  });
});

test("metadata cannot change a prototype", () => {
  const evil = JSON.parse('{"__proto__": {"polluted": true}}');
  foldChunks(null, [START, { type: "message-metadata", messageMetadata: evil }]);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
});

test("a continued answer keeps its parts", () => {
  const first = foldChunks(null, [START, { type: "tool-input-available", ...call({ input: {} }) }]);
  const { parts: all } = foldChunks(first, [
    START,
    { type: "tool-output-available", toolCallId: "c1", output: 1 },
    { type: "start-step" },
  ]);
  assert.deepEqual(
    all.map((part) => part.type),
    ["dynamic-tool", "step-start"],
  );
});

test("a start with another id begins a new message", () => {
  const first = foldChunks(null, [START, { type: "text-start", id: "t" }]);
  assert.deepEqual(foldChunks(first, [{ type: "start", messageId: "m2" }]), {
    id: "m2",
    role: "assistant",
    parts: [],
  });
});

for (const chunk of [
  { type: "text-delta", id: "t", delta: "x" },
  { type: "reasoning-end", id: "r" },
  { type: "tool-input-delta", toolCallId: "c", inputTextDelta: "{" },
  { type: "tool-output-available", toolCallId: "c", output: 1 },
  { type: "tool-approval-request", toolCallId: "c", approvalId: "a" },
]) {
  test(`${chunk.type} without a start is an error`, () => {
    assert.throws(() => foldChunks(null, [START, chunk]), FoldError);
  });
}

test("an unknown chunk type changes nothing", () => {
  assert.deepEqual(parts({ type: "custom-new" }, { type: "tool-new", toolCallId: "c" }), []);
});

test("unchanged parts are the same objects", () => {
  const reducer = createReducer();
  for (const chunk of [START, { type: "text-start", id: "a" }, { type: "text-start", id: "b" }]) {
    reducer.apply(chunk);
  }
  const before = reducer.message;
  reducer.apply({ type: "text-delta", id: "b", delta: "x" });
  assert.equal(reducer.message.parts[0], before.parts[0]);
  assert.notEqual(reducer.message.parts[1], before.parts[1]);
});
