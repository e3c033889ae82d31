// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createCanvasNews } from "../../web/state/canvas-news.js";
import { ACCEPTED, openChat } from "./fakes.js";

/** @param {number} steps @param {Record<string, unknown>} [more] */
const workflow = (steps, more) => ({
  id: "w",
  name: "flux",
  graph: { nodes: [{ id: 3, type: "KSampler", widgets_values: [steps] }], links: [] },
  selection: [],
  ...more,
});

/** A canvas, the timers of its news, and what was sent. */
function canvas() {
  /** @type {{run: () => void, after: number}[]} */
  let timers = [];
  const later = (/** @type {() => void} */ run, /** @type {number} */ after) => {
    const timer = { run, after };
    timers.push(timer);
    return () => {
      timers = timers.filter((each) => each !== timer);
    };
  };
  /** @type {any} */
  let open = workflow(20);
  let refuses = false;
  /** @type {any[]} */
  const sent = [];
  const send = async (/** @type {any} */ each) => {
    sent.push(each);
    if (refuses) throw new Error("offline");
  };
  const news = createCanvasNews(() => open, later, send);
  return {
    news,
    sent,
    timers: () => timers,
    /** Ends the pause. */
    async pass() {
      const due = timers;
      timers = [];
      due.forEach(({ run }) => run());
      await new Promise((resolve) => setImmediate(resolve));
    },
    show: (/** @type {any} */ next) => void (open = next),
    refuse: (/** @type {boolean} */ value) => void (refuses = value),
  };
}

test("many changes within two seconds are one command with the newest graph", async () => {
  const { news, sent, timers, pass, show } = canvas();
  news.changed();
  news.changed();
  show(workflow(30));
  assert.deepEqual(timers().map(({ after }) => after), [2000]);
  await pass();
  assert.deepEqual(sent, [workflow(30)]);
});

test("a graph that the server has is not sent again", async () => {
  const { news, sent, pass, show } = canvas();
  news.sent(workflow(20));
  news.changed();
  await pass();
  assert.deepEqual(sent, []);
  show(workflow(21));
  news.changed();
  await pass();
  news.changed();
  await pass();
  assert.deepEqual(sent, [workflow(21)]);
  show(workflow(21, { id: "copy" }));
  news.changed();
  await pass();
  assert.equal(sent.length, 2);
});

test("a large graph, one that is not sent, and none at all send nothing", async () => {
  const { news, sent, pass, show } = canvas();
  const text = "x".repeat(2_000_000);
  for (const open of [workflow(1, { graph: { text } }), workflow(1, { graph: null }), undefined]) {
    show(open);
    news.changed();
    await pass();
  }
  assert.deepEqual(sent, []);
});

test("what could not be sent is sent with the next change", async () => {
  const { news, sent, pass, refuse } = canvas();
  refuse(true);
  news.changed();
  await pass();
  refuse(false);
  news.changed();
  await pass();
  assert.equal(sent.length, 2);
});

test("a stopped canvas sends nothing any more", async () => {
  const { news, sent, pass } = canvas();
  news.changed();
  news.stop();
  await pass();
  assert.deepEqual(sent, []);
});

test("an open chat tells of changes by set_workflow, but not of what its message brought", async () => {
  /** @type {(() => void)[]} */
  const timers = [];
  let steps = 20;
  const more = {
    workflow: () => workflow(steps),
    later: (/** @type {() => void} */ run) => {
      timers.push(run);
      return () => undefined;
    },
  };
  const { chat, commands } = await openChat({}, { more, routes: { command: () => ACCEPTED } });
  const pass = async () => {
    timers.splice(0).forEach((run) => run());
    await new Promise((resolve) => setImmediate(resolve));
  };
  await chat.send("Hi", []);
  chat.workflowChanged();
  await pass();
  assert.deepEqual(commands().map(({ type }) => type), ["user_message"]);
  steps = 30;
  chat.workflowChanged();
  await pass();
  assert.deepEqual(commands()[1], { type: "set_workflow", workflow: workflow(30) });
});

test("a chat that the server does not have tells nothing", async () => {
  const timers = [];
  const more = { later: (/** @type {() => void} */ run) => (timers.push(run), () => undefined) };
  const { chat } = await openChat({}, { known: false, more });
  chat.workflowChanged();
  assert.equal(timers.length, 0);
});
