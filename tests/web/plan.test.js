// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { isPlan, planOf, progressOf } from "../../web/state/plan.js";

/** @param {any[]} steps @param {Record<string, unknown>} [more] @returns {any} */
const call = (steps, more) => ({
  type: "dynamic-tool",
  toolName: "updatePlan",
  toolCallId: "t",
  state: "output-available",
  input: { steps },
  ...more,
});
const OPEN = { text: "Look", state: "open" };
const DONE = { text: "Look", state: "done" };

test("the newest plan of an answer counts", () => {
  assert.deepEqual(planOf([call([OPEN]), { type: "text", text: "Then" }, call([DONE])]), [DONE]);
  assert.deepEqual(planOf([{ type: "text", text: "No plan" }]), []);
});

test("a plan that was refused does not count, and is shown as a step", () => {
  const refused = call([DONE], { state: "output-error" });
  assert.deepEqual(planOf([call([OPEN]), refused]), [OPEN]);
  assert.deepEqual([isPlan(refused), isPlan(call([OPEN]))], [false, true]);
});

test("a plan that is still arriving does not make the card shorter", () => {
  const begun = call([{ text: "Look", state: "done" }], { state: "input-streaming" });
  const two = [OPEN, { text: "Change", state: "open" }];
  assert.deepEqual(planOf([call(two), begun]), two);
  assert.deepEqual(planOf([begun]), [DONE]);
});

test("steps of another form are left out, and an unknown state is open", () => {
  const steps = [{ text: "Look", state: "blocked" }, { text: " " }, "Do", null, { state: "done" }];
  assert.deepEqual(planOf([call(steps)]), [OPEN]);
  assert.deepEqual(planOf([call([], { input: "steps" })]), []);
});

test("dropped steps are not part of the progress", () => {
  const plan = /** @type {any[]} */ ([DONE, OPEN, { text: "Run", state: "dropped" }]);
  assert.deepEqual(progressOf(plan), { done: 1, all: 2 });
});
