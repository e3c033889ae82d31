// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createReplay } from "../../web/state/replay.js";

/** @typedef {import("../../web/types.js").UIMessage} UIMessage */

const START = { type: "start", messageId: "a" };
const call = (/** @type {string} */ type, /** @type {Record<string, unknown>} */ more = {}) => ({
  type,
  toolCallId: "t",
  toolName: "look",
  dynamic: true,
  ...more,
});
/** @type {UIMessage} */
const HELD = {
  id: "a",
  role: "assistant",
  parts: [
    { type: "text", text: "Before.", state: "done" },
    {
      type: "dynamic-tool",
      toolName: "look",
      toolCallId: "t",
      state: "approval-responded",
      input: {},
    },
  ],
};
const WHOLE = [
  START,
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "Before." },
  { type: "text-end", id: "1" },
  call("tool-input-start"),
  call("tool-input-available", { input: {} }),
  call("tool-output-available", { output: 1 }),
];
const REST = [START, call("tool-output-available", { output: 1 }), { type: "start-step" }];

/** @param {readonly any[]} chunks @param {boolean} goesOn */
function replay(chunks, goesOn) {
  const folding = createReplay((id) => (id === "a" ? HELD : undefined), goesOn);
  for (const chunk of chunks) folding.apply(chunk);
  return folding.message.parts.map((part) => part.type);
}

for (const goesOn of [true, false]) {
  test(`a replay from the beginning is not added to what is known (expected to go on: ${goesOn})`, () => {
    assert.deepEqual(replay(WHOLE, goesOn), ["text", "dynamic-tool"]);
  });

  test(`a continuation is added to what is known (expected to go on: ${goesOn})`, () => {
    assert.deepEqual(replay(REST, goesOn), ["text", "dynamic-tool", "step-start"]);
  });
}

test("an answer without tools is always told from its beginning", () => {
  const folding = createReplay(() => ({ ...HELD, parts: HELD.parts.slice(0, 1) }), true);
  for (const chunk of WHOLE.slice(0, 4)) folding.apply(chunk);
  assert.equal(folding.message.parts.length, 1);
});

test("an answer that the panel never saw is folded as it comes", () => {
  const folding = createReplay(() => undefined, false);
  for (const chunk of WHOLE) folding.apply(chunk);
  assert.equal(folding.message.parts.length, 2);
});
