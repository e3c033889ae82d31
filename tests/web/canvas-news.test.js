// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { createCanvasNews } from "../../web/state/canvas-news.js";
import { ACCEPTED, eventually, openChat } from "./fakes.js";

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
  const news = createCanvasNews(() => open, later, (tell) => tell(), send);
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

/**
 * A known chat, and its canvas.
 * @param {(id: string, body: any) => unknown} [command] answers each command
 */
async function openWithCanvas(command = () => ACCEPTED) {
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
  const { chat, commands } = await openChat({}, { more, routes: { command } });
  return {
    chat,
    commands,
    /** The workflow may have changed, and two seconds pass. @param {number} [now] steps from now on */
    async change(now = steps) {
      steps = now;
      chat.workflowChanged();
      timers.splice(0).forEach((run) => run());
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("an open chat tells of changes by set_workflow, but not of what its message brought", async () => {
  const { chat, commands, change } = await openWithCanvas();
  await chat.send("Hi", []);
  await change();
  assert.deepEqual(commands().map(({ type }) => type), ["user_message"]);
  await change(30);
  assert.deepEqual(commands()[1], { type: "set_workflow", workflow: workflow(30) });
});

for (const left of [false, true]) {
  const then = left ? "are not told when the chat was left" : "are one command with the newest graph";
  test(`changes while a message is on its way ${then}`, async () => {
    /** @type {(() => void)[]} */
    const going = [];
    const { chat, commands, change } = await openWithCanvas(
      () => new Promise((go) => going.push(() => go(ACCEPTED))),
    );
    const sent = chat.send("Hi", []);
    await eventually(() => going.length === 1);
    await change(30);
    await change(40);
    if (left) chat.leave();
    for (let at = 0; at < 3; at += 1) {
      going[at]?.();
      await sent;
      await new Promise((resolve) => setImmediate(resolve));
    }
    const told = { type: "set_workflow", workflow: workflow(40) };
    assert.deepEqual(commands().slice(1), left ? [] : [told]);
  });
}

test("a chat that the server does not have tells nothing", async () => {
  const timers = [];
  const more = { later: (/** @type {() => void} */ run) => (timers.push(run), () => undefined) };
  const { chat } = await openChat({}, { known: false, more });
  chat.workflowChanged();
  assert.equal(timers.length, 0);
});
