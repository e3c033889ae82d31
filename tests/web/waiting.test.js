// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { decisionOn, openQuestion, questionIn } from "../../web/state/waiting.js";

/** @param {string} id @param {Record<string, unknown>} data @returns {any} */
const waits = (id, data) => ({ type: "data-waiting", id, data });
/** @param {Record<string, unknown>} [more] @returns {any} */
const call = (more) => ({
  type: "dynamic-tool",
  toolName: "askUser",
  toolCallId: "t",
  state: "input-available",
  ...more,
});
/** @param {any[]} parts @returns {any} */
const answer = (...parts) => ({ id: "a", role: "assistant", parts });

test("the sentence of a decision is that of the present question", () => {
  const parts = [
    waits("first", { for: "decision", text: "Runs it once.", remember: true }),
    waits("second", { for: "decision", text: "Runs it ten times.", remember: false }),
  ];
  const asks = (/** @type {string} */ id) => decisionOn(parts, call({ approval: { id } }));
  assert.deepEqual(asks("first"), { text: "Runs it once.", remember: true, change: null });
  assert.deepEqual(asks("second"), { text: "Runs it ten times.", remember: false, change: null });
  assert.equal(asks("third"), null);
  assert.equal(decisionOn(parts, call()), null);
});

test("a decision about an edit has what it will change", () => {
  const change = { diff: "~ 3 KSampler: steps=20 -> 30", problems: ["It has no seed.", {}, 1] };
  const parts = [waits("first", { for: "decision", text: "Edits it.", change })];
  assert.deepEqual(decisionOn(parts, call({ approval: { id: "first" } }))?.change, {
    diff: change.diff,
    problems: [{ node: "", message: "It has no seed.", fix: "" }],
    instances: 0,
  });
});

test("a question without options takes any text", () => {
  const parts = [waits("t", { for: "answer", question: "How large?", allow_other: false })];
  assert.deepEqual(questionIn(parts, call()), {
    question: "How large?",
    options: [],
    multiple: false,
    other: true,
  });
});

test("options of another form are left out, and there are eight at most", () => {
  const many = Array.from({ length: 12 }, (_, index) => ({ label: `option ${index}` }));
  const options = [{ label: "" }, "x", null, ...many];
  const found = questionIn([waits("t", { for: "answer", question: "?", options })], call());
  assert.deepEqual(
    [found?.options.length, found?.options[0]],
    [5, { label: "option 0", description: "" }],
  );
});

test("only the first call that is not settled asks", () => {
  const data = { for: "answer", question: "Which?" };
  const before = call({ toolCallId: "before", state: "approval-requested" });
  assert.equal(openQuestion([answer(call(), waits("t", data))])?.question.question, "Which?");
  assert.equal(openQuestion([answer(before, call(), waits("t", data))]), null);
  assert.equal(openQuestion([answer(call({ state: "output-available" }), waits("t", data))]), null);
  const user = { id: "u", role: "user", parts: [] };
  assert.equal(openQuestion([answer(call(), waits("t", data)), /** @type {any} */ (user)]), null);
});
