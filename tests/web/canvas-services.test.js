// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { asOneStep } from "../../web/services/canvas-undo.js";
import { createCanvasView } from "../../web/services/canvas-view.js";
import { createPromptTarget } from "../../web/services/prompt-target.js";

/** @param {any[]} nodes @param {any} [more] @returns {any} */
const graphOf = (nodes, more) => ({
  nodes,
  getNodeById: (/** @type {any} */ id) => nodes.find((node) => node.id === id) ?? null,
  subgraphs: new Map(),
  ...more,
});

/** A workflow with node 3, and an instance 57 of the subgraph "Upscale" with node 8. */
function withSubgraph() {
  const inner = { id: 8, boundingRect: [0, 0, 10, 10] };
  const subgraph = graphOf([inner], { name: "Upscale" });
  const outer = { id: 3, boundingRect: [5, 5, 10, 10] };
  const instance = { id: 57, subgraph };
  const root = graphOf([outer, instance], { subgraphs: new Map([["u", subgraph]]) });
  /** @type {any[]} */
  const done = [];
  const canvas = {
    graph: root,
    openSubgraph: (/** @type {any} */ graph, /** @type {any} */ from) => {
      canvas.graph = graph;
      done.push(["open", from.id]);
    },
    setGraph: (/** @type {any} */ graph) => {
      canvas.graph = graph;
      done.push(["graph", graph === root ? "root" : "inner"]);
    },
    deselectAll: () => undefined,
    select: (/** @type {any} */ node) => done.push(["select", node.id]),
    animateToBounds: (/** @type {any} */ bounds) => done.push(["move", bounds[0]]),
  };
  return { view: createCanvasView({ rootGraph: root, canvas }), done, subgraph, canvas };
}

test("a node is selected and moved to", () => {
  const { view, done } = withSubgraph();
  assert.equal(view.show({ id: "3" }), true);
  assert.deepEqual(done, [
    ["select", 3],
    ["move", 5],
  ]);
});

test("a node of a subgraph is shown inside of it, by its address or the subgraph's name", () => {
  for (const place of [{ id: "57:8" }, { id: "8", inside: "Upscale" }]) {
    const { view, done } = withSubgraph();
    assert.equal(view.show(place), true);
    assert.deepEqual(done, [
      ["open", 57],
      ["select", 8],
      ["move", 0],
    ]);
  }
});

test("a node of the workflow itself is shown outside of the subgraph that is open", () => {
  const { view, done, subgraph, canvas } = withSubgraph();
  canvas.graph = subgraph;
  assert.equal(view.show({ id: "3" }), true);
  assert.deepEqual(done[0], ["graph", "root"]);
});

test("a node that is not there changes nothing", () => {
  const { view, done } = withSubgraph();
  for (const place of [{ id: "4" }, { id: "3:8" }, { id: "57:9" }, { id: "8", inside: "Other" }]) {
    assert.equal(view.show(place), false);
  }
  assert.deepEqual(done, []);
});

/** @param {any[]} selected */
function targetOf(...selected) {
  /** @type {string[]} */
  const steps = [];
  const changeTracker = {
    captureCanvasState: () => steps.push("capture"),
    beforeChange: () => steps.push("before"),
    afterChange: () => steps.push("after"),
  };
  const app = {
    canvas: { selected_nodes: Object.fromEntries(selected.map((node, at) => [at, node])) },
    extensionManager: { workflow: { activeWorkflow: { changeTracker } } },
  };
  return { ...createPromptTarget(app), steps };
}
const box = (name = "text") => ({ name, type: "customtext", value: "old" });

test("the text goes into the one selected text box, as one step of undo", () => {
  const widget = box();
  const { target, put, steps } = targetOf({ title: "Positive", widgets: [widget] });
  assert.deepEqual(target(), { name: "Positive", reason: "" });
  assert.equal(put("new"), true);
  assert.deepEqual([widget.value, steps], ["new", ["capture", "before", "after"]]);
});

test("of several text boxes the prompt's is chosen, and none that is fed or read only", () => {
  const [note, prompt] = [box("note"), box("prompt")];
  const answer = { ...box("answer"), options: { read_only: true } };
  targetOf({ title: "A", widgets: [answer, note, prompt] }).put("new");
  assert.deepEqual([answer.value, note.value, prompt.value], ["old", "old", "new"]);
  const inputs = [{ widget: { name: "prompt" }, link: 7 }];
  targetOf({ title: "A", inputs, widgets: [note, prompt] }).put("newer");
  assert.deepEqual([note.value, prompt.value], ["newer", "new"]);
});

test("without a text box it is said why", () => {
  const inputs = [{ widget: { name: "text" }, link: 7 }];
  const cases = {
    none: targetOf(),
    several: targetOf({}, {}),
    textless: targetOf({ type: "KSampler", widgets: [{ name: "steps", type: "number" }] }),
    linked: targetOf({ title: "A", inputs, widgets: [box()] }),
  };
  for (const [reason, { target, put, steps }] of Object.entries(cases)) {
    assert.equal(target().reason, reason);
    assert.equal(put("new"), false);
    assert.deepEqual(steps, []);
  }
});

test("what the front end puts off until the script ends belongs to the step of undo", async () => {
  const graph = { values: ["lora", 1] };
  /** @type {string[]} */
  const states = [];
  const tracker = {
    captureCanvasState: () => undefined,
    afterChange: () => states.push(JSON.stringify(graph)),
  };
  const step = await asOneStep(tracker, () => graph, () => {
    queueMicrotask(() => graph.values.shift());
  });
  assert.deepEqual([step.before, step.after], [{ values: ["lora", 1] }, { values: [1] }]);
  assert.deepEqual(states, ['{"values":[1]}']);
});
