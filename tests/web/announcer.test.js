// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createAnnouncer } from "../../web/views/announcer.js";

/**
 * A chat with one question and, if given, its answer.
 * @param {string} status
 * @param {any} [answer] fields of the answer; `text` is its text
 * @param {Record<string, unknown>} [more]
 */
function chat(status, answer, more = {}) {
  const { text = "", parts = text ? [{ type: "text", text }] : [], ...rest } = answer ?? {};
  const asked = { id: "u", role: "user", parts: [{ type: "text", text: "Why?" }] };
  const messages = answer ? [asked, { id: "a", role: "assistant", parts, ...rest }] : [asked];
  return /** @type {any} */ ({ id: "c", messages, status, failure: null, ...more });
}

const waiting = (/** @type {string} */ id) => ({
  type: "dynamic-tool",
  toolName: "createUserSkill",
  toolCallId: id,
  state: "approval-requested",
  approval: { id: `question-${id}` },
});

test("an answer is told sentence by sentence, and that it was stopped", () => {
  const { update } = createAnnouncer();
  update(chat("sending"));
  assert.deepEqual(update(chat("streaming", { text: "One. Two" })).sentences, ["One."]);
  const stopped = { text: "One. Two", metadata: { cut: "aborted" } };
  assert.deepEqual(update(chat("idle", stopped)).sentences, ["Two", "Stopped."]);
  assert.deepEqual(update(chat("idle", stopped)).sentences, []);
});

test("an error is told at once and once, with its title", () => {
  const { update } = createAnnouncer();
  update(chat("sending"));
  update(chat("streaming", {}));
  const error = { code: "key_refused", message: "Enter another key." };
  const failed = chat("idle", { metadata: { error } });
  assert.equal(update(failed).alert, "The key was refused. Enter another key.");
  assert.equal(update(failed).alert, "");
});

test("an error of the panel's own request is told", () => {
  const { update } = createAnnouncer();
  update(chat("sending"));
  const failure = { code: "server", message: "Is it still running?", actions: [] };
  const failed = chat("idle", undefined, { failure });
  assert.equal(update(failed).alert, "ComfyUI is not reachable. Is it still running?");
  assert.equal(update(failed).alert, "");
  update(chat("sending"));
  assert.notEqual(update(failed).alert, "");
});

test("each question for approval is told once", () => {
  const { update } = createAnnouncer();
  update(chat("sending"));
  const about = (/** @type {string} */ id) => ({
    type: "data-waiting",
    id: `question-${id}`,
    data: { for: "decision", text: `Saves the skill ${id}.`, remember: false },
  });
  const parts = [about("one"), waiting("one"), about("two"), waiting("two")];
  const paused = chat("idle", { parts });
  assert.deepEqual(update(paused).sentences, [
    "Save this skill? Saves the skill one.",
    "Save this skill? Saves the skill two.",
  ]);
  assert.deepEqual(update(paused).sentences, []);
});

test("a question of the model is told once, with what it offers", () => {
  const { update } = createAnnouncer();
  update(chat("sending"));
  const call = { ...waiting("q"), toolName: "askUser", state: "input-available" };
  const data = { for: "answer", question: "Which size?", options: [{ label: "1k" }, { label: "2k" }] };
  const asks = chat("idle", { parts: [call, { type: "data-waiting", id: "q", data }] });
  assert.deepEqual(update(asks).sentences, ["Which size? Options: 1k, 2k"]);
  assert.deepEqual(update(asks).sentences, []);
});

test("an answer, an error and a stop from before the chat was opened are not told", () => {
  const { update } = createAnnouncer();
  const error = { code: "timeout", message: "m" };
  for (const metadata of [{}, { cut: "aborted" }, { error }]) {
    const said = update(chat("idle", { text: "Old.", metadata }, { id: JSON.stringify(metadata) }));
    assert.deepEqual([said.sentences, said.alert], [[], ""]);
  }
});

test("what was said in another chat or for an earlier answer is taken back", () => {
  const { update } = createAnnouncer();
  assert.equal(update(chat("streaming", { text: "One." })).anew, true);
  assert.equal(update(chat("idle", { text: "One. Two." })).anew, false);
  update(chat("sending"));
  assert.equal(update(chat("streaming", { text: "Three.", id: "b" })).anew, true);
  assert.equal(update(chat("idle", undefined, { id: "other" })).anew, true);
});
