// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { createCanvasLeave, LEFT } from "../../web/services/canvas-leave.js";
import { createPanelStorage } from "../../web/services/storage.js";

/** A page with one workflow, whose host keeps undo steps as ComfyUI's does. */
function page(/** @type {any} */ kept = null, ready = Promise.resolve()) {
  const target = new EventTarget();
  const storage = createPanelStorage("", () => {
    throw new Error("blocked");
  });
  if (kept) storage.set(LEFT, kept);
  const state = { steps: 20, time: 0, id: "w" };
  const graph = () => ({ nodes: [{ id: 1, widgets_values: [state.steps] }] });
  const tracker = {
    undoQueue: /** @type {any[]} */ ([]),
    redoQueue: /** @type {any[]} */ ([]),
    async undo() {
      tracker.redoQueue.push(graph());
      state.steps = tracker.undoQueue.pop().nodes[0].widgets_values[0];
    },
  };
  const host = /** @type {any} */ ({
    ready: () => ready,
    graph: () => ({ serialize: graph }),
    tracker: () => tracker,
  });
  const leave = () => createCanvasLeave(host, () => state.id, storage, target, () => state.time);
  return {
    state,
    tracker,
    storage,
    leave,
    change(/** @type {ReturnType<typeof leave>} */ made, /** @type {number} */ steps) {
      const before = graph();
      state.steps = steps;
      made.changed(before);
    },
    /** @returns {string | null} what the next page finds */
    close() {
      target.dispatchEvent(new Event("pagehide"));
      return storage.get(LEFT);
    },
  };
}

/** What is on the canvas when the page comes again, and the host opens a workflow. */
async function cameBack(/** @type {string | null} */ kept, /** @type {number} */ steps, id = "w") {
  const next = page(kept);
  Object.assign(next.state, { steps, id });
  await next.leave().back;
  assert.equal(next.storage.get(LEFT), null);
  assert.deepEqual([next.tracker.undoQueue, next.tracker.redoQueue], [[], []]);
  return next.state.steps;
}

test("a change that the host did not store is put back after a reload", async () => {
  const first = page();
  const made = first.leave();
  first.change(made, 30);
  first.change(made, 40);
  const kept = first.close();
  for (const stored of [20, 30, 40]) assert.equal(await cameBack(kept, stored), 40);
});

test("what is put back is what was there when the page was left", async () => {
  const first = page();
  first.change(first.leave(), 30);
  first.state.steps = 20;
  assert.equal(await cameBack(first.close(), 30), 20);
});

test("another workflow, and one that was changed elsewhere, stay as they are", async () => {
  const first = page();
  first.change(first.leave(), 30);
  const kept = first.close();
  assert.equal(await cameBack(kept, 20, "other"), 20);
  assert.equal(await cameBack(kept, 99), 99);
});

test("nothing is kept of a change that the host has stored by now, or of none", async () => {
  const first = page();
  const made = first.leave();
  assert.equal(first.close(), null);
  first.change(made, 30);
  first.state.time = 60_000;
  assert.equal(first.close(), null);
});

test("a page that is left again before its workflow is loaded leaves the change to the next one", async () => {
  const first = page();
  first.change(first.leave(), 30);
  /** @type {() => void} */
  let load = () => undefined;
  const second = page(first.close(), new Promise((resolve) => (load = resolve)));
  const { back } = second.leave();
  assert.equal(await cameBack(second.close(), 20), 30);
  load();
  await back;
  assert.equal(second.storage.get(LEFT), null);
});

test("what was put back is kept over a reload like a change", async () => {
  const first = page();
  first.change(first.leave(), 30);
  const second = page(first.close());
  await second.leave().back;
  assert.equal(await cameBack(second.close(), 20), 30);
});

test("a damaged value changes nothing", async () => {
  assert.equal(await cameBack("{", 20), 20);
});
