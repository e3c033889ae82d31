// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { factsOf, nextStep, shownOf, stateOf } from "../../web/state/shown.js";
import { openChat, said } from "./fakes.js";

const EMPTY = (await openChat(undefined, { known: false })).chat.get();
/** @param {Partial<import("../../web/types.js").ChatState>} more */
const chat = (more) => ({
  ...EMPTY,
  messages: [said("u", "user", "Why?"), said("a", "assistant", "So.")],
  ...more,
});
/** No memory is known. */
const NOTHING = { known: new Map(), told: true };
const QUEUED = { held: true, queue: [{ id: "q", type: "user_message" }] };
const FAILED = { ...said("a", "assistant", ""), metadata: { error: { code: "x", message: "No." } } };
const FAILURE = { code: "server", message: "Away.", actions: ["retry"] };

test("one step at a time is the likely next one", () => {
  assert.equal(nextStep(chat({})), "answer");
  assert.equal(nextStep(chat(QUEUED)), "queue");
  assert.equal(nextStep(chat({ ...QUEUED, held: false })), "answer");
  assert.equal(nextStep(chat({ ...QUEUED, messages: [FAILED] })), "answer");
  assert.equal(nextStep(chat({ ...QUEUED, messages: [FAILED], failure: FAILURE })), "failure");
});

test("an answer is drawn again when the likely next step moves to the queue", () => {
  const before = factsOf(shownOf(chat({})), 1, NOTHING);
  const after = factsOf(shownOf(chat(QUEUED)), 1, NOTHING);
  assert.equal(before.leads, true);
  assert.equal(after.leads, false);
  assert.notEqual(stateOf(before), stateOf(after));
});
