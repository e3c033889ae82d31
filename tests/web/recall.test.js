// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { NOTHING_RECALLED, recall } from "../../web/text/recall.js";

const ASKED = ["one", "two", "two", "", "three"];

test("a step back from an empty box gives the newest question", () => {
  assert.deepEqual(recall(ASKED, NOTHING_RECALLED, "", 1), { back: 1, text: "three" });
});

test("each further step gives the question before, without repeats and empty ones", () => {
  let now = NOTHING_RECALLED;
  const seen = [];
  for (;;) {
    const next = recall(ASKED, now, now.text, 1);
    if (!next) break;
    now = next;
    seen.push(now.text);
  }
  assert.deepEqual(seen, ["three", "two", "one"]);
});

test("a step past the newest question empties the box", () => {
  const newest = { back: 1, text: "three" };
  assert.deepEqual(recall(ASKED, newest, "three", -1), NOTHING_RECALLED);
  assert.equal(recall(ASKED, NOTHING_RECALLED, "", -1), null);
});

test("a text of the user's own is left alone", () => {
  assert.equal(recall(ASKED, NOTHING_RECALLED, "mine", 1), null);
  assert.equal(recall(ASKED, { back: 1, text: "three" }, "three more", 1), null);
});
