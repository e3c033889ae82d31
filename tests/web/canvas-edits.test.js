// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, NetworkError } from "../../web/services/api.js";
import { changeSince } from "../../web/services/canvas-base.js";
import { createCanvasHand } from "../../web/services/canvas-hand.js";
import { unknownTypes } from "../../web/services/canvas-steps.js";
import { createEditResults, keyOf, LOST } from "../../web/services/edit-results.js";
import { freeName } from "../../web/services/host.js";
import { createPanelStorage } from "../../web/services/storage.js";
import { ACCEPTED, heldWait, inTurn, offline, openChat, running, said } from "./fakes.js";

/** @param {Record<string, unknown>} [more] */
const call = (more) => ({
  tool_call_id: "call_1",
  for: "panel",
  tool: "editWorkflow",
  workflow_id: "w",
  base: {},
  new_ids: {},
  steps: [],
  ...more,
});

const APPLIED = { output: { before: { nodes: [] }, after: { nodes: [1] }, ids: {} } };
const KEPT = { ...ACCEPTED, verdict: "kept", differs: [] };
const UNDO = { ...ACCEPTED, verdict: "undo", differs: ["3.steps"] };

/** A hand that notes what it is asked for. */
function fakeHand(/** @type {any} */ result = APPLIED, takesBack = true) {
  /** @type {string[]} */
  const log = [];
  return {
    log,
    sends: () => undefined,
    arrived: () => undefined,
    onItsWay: () => null,
    run: async (/** @type {any} */ { tool_call_id: id }) => {
      log.push(`run ${id}`);
      return result;
    },
    undo: async (/** @type {any} */ { tool_call_id: id }) => {
      log.push(`undo ${id}`);
      return takesBack;
    },
  };
}

const waiting = (/** @type {any[]} */ ...calls) =>
  running("waiting_client", { client_id: "me", waiting: calls });

const OTHER = { tool_call_id: "other", for: "panel", tool: "pickColour" };

/** Until the fakes have answered everything. */
async function settled() {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * A chat whose snapshot has these calls waiting.
 * @param {any} hand
 * @param {(command: any) => any} answer to each command
 * @param {any} runtime
 * @param {Record<string, unknown>} [services]
 */
async function opened(hand, answer, runtime, services = {}) {
  /** @type {any[]} */
  const sent = [];
  const workflow = () => ({ id: "w", name: "flux", graph: { nodes: [] }, selection: [] });
  const more = { hand, workflow, ...services };
  const routes = {
    command: async (/** @type {string} */ _id, /** @type {any} */ command) => {
      sent.push(command);
      return answer(command);
    },
  };
  const first = { messages: [said("q", "user", "Edit")], runtime };
  const { chat, events } = await openChat(first, { routes, more });
  await settled();
  return { chat, events, sent };
}

test("a waiting edit is carried out once, and its result sent", async () => {
  const hand = fakeHand();
  const { events, sent } = await opened(hand, () => KEPT, waiting(OTHER, call()));
  events.push("runtime_updated", { runtime: waiting(OTHER, call()) });
  await settled();
  assert.deepEqual(hand.log, ["run call_1"]);
  assert.deepEqual(sent, [{ type: "tool_result", tool_call_id: "call_1", ...APPLIED }]);
});

const NO_RELOAD = { back: Promise.resolve(), changed() {} };

test("a call of another answer with the same id is another call", async () => {
  const hand = fakeHand();
  const { events } = await opened(hand, () => KEPT, waiting(call({ message_id: "a" })));
  events.push("runtime_updated", { runtime: waiting(call({ message_id: "b" })) });
  await settled();
  assert.deepEqual(hand.log, ["run call_1", "run call_1"]);

  const storage = createPanelStorage("", () => {
    throw new Error("blocked");
  });
  /** @type {string[]} */
  const tabs = [];
  const host = /** @type {any} */ ({
    ready: async () => undefined,
    openNew: async (/** @type {any} */ _graph, /** @type {string} */ name) => name,
    graph: () => ({ serialize: () => ({ nodes: [] }) }),
  });
  const real = createCanvasHand(host, () => "w", createEditResults(storage), NO_RELOAD);
  const open = async (/** @type {string} */ answer) => {
    const made = call({ message_id: answer, tool: "openWorkflow", name: answer, graph: {} });
    const result = await real.run(/** @type {any} */ (made));
    tabs.push("output" in result ? result.output.name : result.error);
  };
  for (const answer of ["a", "a", "b"]) await open(answer);
  assert.deepEqual(tabs, ["a", "a", "b"]);
});

test("a result that had not arrived when the page was left is sent again, and its edit taken back", async () => {
  const storage = createPanelStorage("", () => {
    throw new Error("blocked");
  });
  /** The hand of a page whose tab has this storage. */
  const page = () => {
    const results = createEditResults(storage);
    const hand = fakeHand();
    const run = (/** @type {any} */ call) => {
      results.keep(keyOf(call), /** @type {any} */ (APPLIED));
      return hand.run(call);
    };
    return { ...results, ...hand, run, sends: results.sends, arrived: results.arrived, onItsWay: results.onItsWay };
  };
  const first = page();
  await opened(first, offline, waiting(call({ message_id: "a" })), { wait: heldWait().wait });
  assert.deepEqual(first.log, ["run call_1"]);
  const second = page();
  const { sent } = await opened(second, () => UNDO, running("idle"));
  assert.equal(sent[0].tool_call_id, "call_1");
  assert.deepEqual(second.log, ["run call_1", "undo call_1"]);
  const third = page();
  await opened(third, () => UNDO, running("idle"));
  assert.deepEqual(third.log, []);
});

test("edits of another panel are left alone", async () => {
  const hand = fakeHand();
  await opened(hand, () => KEPT, { ...waiting(call()), client_id: "other" });
  assert.deepEqual(hand.log, []);
});

test("what the server does not keep is taken back before the next edit", async () => {
  const hand = fakeHand();
  await opened(hand, () => UNDO, waiting(call(), call({ tool_call_id: "call_2" })));
  assert.deepEqual(hand.log, ["run call_1", "undo call_1", "run call_2", "undo call_2"]);
});

test("the user learns of an edit that cannot be taken back", async () => {
  const { chat } = await opened(fakeHand(APPLIED, false), () => UNDO, waiting(call()));
  assert.match(chat.get().failure?.message ?? "", /should have been taken back/);
});

test("a result is sent again until the server has it, also when it has given the call up", async () => {
  const hand = fakeHand();
  let lost = 3;
  const answer = () => {
    lost -= 1;
    if (lost >= 0) throw new NetworkError("gone");
    return UNDO;
  };
  const { events, sent } = await opened(hand, answer, waiting(call()));
  events.now({ runtime: running("generating") });
  await settled();
  assert.equal(sent.length, 4);
  assert.deepEqual(hand.log, ["run call_1", "undo call_1"]);
});

test("there is a pause before a result is sent again, also when the server is busy", async () => {
  const { wait, pauses, pass } = heldWait();
  const busy = new ApiError(503, { code: "busy", message: "Busy." });
  const answer = inTurn(offline, busy, KEPT);
  const { sent } = await opened(fakeHand(), answer, waiting(call()), { wait });
  for (const attempts of [1, 2]) {
    assert.deepEqual([sent.length, pauses.length], [attempts, 1]);
    pass();
    await settled();
  }
  assert.equal(sent.length, 3);
});

test("a result is kept over a reload, and the last one only", () => {
  const values = new Map();
  const open = () =>
    /** @type {any} */ ({
      getItem: (/** @type {string} */ key) => values.get(key) ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
        if (value.length > 1000) throw new Error("full");
        values.set(key, value);
      },
      removeItem: (/** @type {string} */ key) => values.delete(key),
    });
  const before = createEditResults(createPanelStorage("", open));
  assert.equal(before.of("call_1"), null);
  before.keep("call_1", APPLIED);
  before.keep("call_2", { error: "no" });
  before.keep("call_3", { output: "x".repeat(2000) });
  const after = createEditResults(createPanelStorage("", open));
  assert.deepEqual(after.of("call_1"), { error: LOST });
  assert.deepEqual(after.of("call_3"), { error: LOST });
  after.keep("call_4", APPLIED);
  assert.deepEqual(createEditResults(createPanelStorage("", open)).of("call_4"), APPLIED);
  assert.equal(after.of("call_5"), null);
});

/** @type {import("../../web/services/canvas-base.js").NodeFacts} */
const SAMPLER = {
  type: "KSampler",
  mode: 0,
  widgets: [
    { name: "seed", value: 7, turns: true },
    { name: "steps", value: 20, turns: false },
    { name: "size", value: { b: 1, a: [2] }, turns: false },
  ],
  sources: { model: { address: "4", slot: 0, name: "MODEL" } },
};
const BASE = {
  type: "KSampler",
  mode: /** @type {const} */ ("run"),
  values: { seed: 1, steps: 20, size: { a: [2], b: 1 }, gone: "x" },
  links: { model: "4.MODEL" },
};

test("a canvas that has what the edit was worked out from is not changed", () => {
  assert.equal(changeSince({ 3: BASE }, () => SAMPLER), "");
  assert.equal(changeSince({ 3: { ...BASE, links: { model: "4.0" } } }, () => SAMPLER), "");
  assert.equal(changeSince({}, () => null), "");
});

for (const [what, base] of /** @type {[string, any][]} */ ([
  ["steps", { ...BASE, values: { steps: 21 } }],
  ["its mode", { ...BASE, mode: "mute" }],
  ["its type", { ...BASE, type: "KSamplerAdvanced" }],
  ["the link of model", { ...BASE, links: {} }],
  ["the link of model", { ...BASE, links: { model: "5.MODEL" } }],
  ["the link of positive", { ...BASE, links: { ...BASE.links, positive: "6.0" } }],
])) {
  test(`a change of ${what} is named`, () => {
    assert.equal(
      changeSince({ 3: base }, () => SAMPLER),
      `The node 3 (KSampler) was changed on the canvas: ${what}.`,
    );
  });
}

test("a node that is gone is named", () => {
  assert.match(changeSince({ "57:8": BASE }, () => null), /node 57:8 is not on the canvas/);
});

test("types count as unknown where neither the front end nor the workflow has them", () => {
  const before = { nodes: [{ type: "Old" }], definitions: { subgraphs: [{ id: "s", nodes: [] }] } };
  const steps = [
    { do: "add", raw: { type: "Old" } },
    { do: "add", raw: { type: "s" } },
    { do: "add", raw: { type: "new" } },
    { do: "define", subgraph: { id: "new", nodes: [{ type: "KSampler" }, { type: "Strange" }] } },
  ];
  assert.deepEqual(
    unknownTypes(steps, before, (type) => type === "KSampler"),
    ["Strange"],
  );
});

test("a name that is taken gets the first free number", () => {
  assert.equal(freeName("flux", []), "flux");
  assert.equal(freeName("flux", ["Flux", "flux (2)"]), "flux (3)");
  assert.equal(freeName("  ", ["Workflow"]), "Workflow (2)");
});
