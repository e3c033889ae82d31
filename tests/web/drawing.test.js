// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createPartDrawing } from "../../web/views/drawing.js";

/** A drawing that runs slices one by one, as the test asks for it. */
function fakeDrawing() {
  /** @type {Set<() => boolean>} */
  const waiting = new Set();
  return {
    /** @param {() => boolean} slice */
    draw: (slice) => void waiting.add(slice),
    step() {
      const [slice] = waiting;
      waiting.delete(slice);
      if (slice()) waiting.add(slice);
    },
  };
}

test("a message is drawn when the last slice of all its parts is", () => {
  const { draw, step } = fakeDrawing();
  let done = 0;
  const part = createPartDrawing(draw, () => (done += 1));
  assert.equal(part.isDrawn(), true);
  let left = 2;
  part.draw(() => (left -= 1) > 0);
  part.draw(() => false);
  assert.equal(part.isDrawn(), false);
  step();
  step();
  assert.deepEqual([part.isDrawn(), done], [false, 0]);
  step();
  assert.deepEqual([part.isDrawn(), done], [true, 1]);
});

test("a slice that is asked for twice is drawn once", () => {
  const { draw, step } = fakeDrawing();
  let drawn = 0;
  const part = createPartDrawing(draw, () => undefined);
  const slice = () => {
    drawn += 1;
    return false;
  };
  part.draw(slice);
  part.draw(slice);
  step();
  assert.deepEqual([drawn, part.isDrawn()], [1, true]);
});
