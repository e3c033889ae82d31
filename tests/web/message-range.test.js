// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  around,
  atEnd,
  earlier,
  isSame,
  later,
  MOST,
  moved,
  STEP,
} from "../../web/state/message-range.js";

const messages = (/** @type {number} */ from, /** @type {number} */ to) =>
  Array.from({ length: to - from }, (_each, index) => ({ id: `m${from + index}` }));

test("the range of a short chat has all messages", () => {
  assert.deepEqual(atEnd(7), { from: 0, to: 7 });
  assert.deepEqual(earlier({ from: 0, to: 7 }), { from: 0, to: 7 });
  assert.deepEqual(later({ from: 0, to: 7 }, 7), { from: 0, to: 7 });
});

test("scrolling up and down shows every message, never more than the maximum at once", () => {
  const length = 1000;
  let range = atEnd(length);
  const visited = new Set();
  const visit = () => {
    assert.ok(range.to - range.from <= MOST);
    for (let index = range.from; index < range.to; index += 1) visited.add(index);
  };
  for (visit(); range.from > 0; visit()) range = earlier(range);
  assert.equal(visited.size, length);
  for (; range.to < length; visit()) {
    const next = later(range, length);
    assert.ok(next.to > range.to && next.from < range.to, "the ranges overlap");
    range = next;
  }
});

test("a range around a message has messages on both sides", () => {
  const { from, to } = around(500, 1000);
  assert.ok(from < 500 && 500 < to && to - from === MOST);
  assert.deepEqual(around(1, 1000), { from: 0, to: MOST });
  assert.deepEqual(around(999, 1000), { from: 1000 - MOST, to: 1000 });
  assert.deepEqual(around(3, 5), { from: 0, to: 5 });
});

test("the range keeps its messages when older ones are added", () => {
  const next = moved({ from: 0, to: 60 }, messages(60, 120), messages(0, 120), false);
  assert.deepEqual(next, { from: 60, to: 120 });
});

test("the range follows new messages only if the reader is at the end", () => {
  const before = messages(0, MOST);
  const next = messages(0, MOST + 2);
  assert.deepEqual(moved({ from: 0, to: MOST }, before, next, true), { from: 2, to: MOST + 2 });
  assert.deepEqual(moved({ from: 0, to: MOST }, before, next, false), { from: 0, to: MOST });
  const short = moved({ from: 0, to: 5 }, messages(0, 5), messages(0, 7), false);
  assert.deepEqual(short, { from: 0, to: 7 });
});

test("another path starts at its end", () => {
  const next = moved({ from: 0, to: 60 }, messages(0, 60), messages(500, 1000), false);
  assert.deepEqual(next, atEnd(500));
  assert.ok(STEP < MOST);
});

test("the range is the same while an answer grows, not after a message is added", () => {
  const range = { from: 2, to: 5 };
  assert.equal(isSame(range, messages(0, 5), messages(0, 5)), true);
  assert.equal(isSame(range, messages(0, 5), messages(0, 6)), false);
  assert.equal(isSame(range, messages(0, 5), messages(1, 6)), false);
});
