// @ts-check
/**
 * Test doubles of the server and the browser: scripted answers, pushed events, recorded requests.
 */

import { after } from "node:test";

import { NetworkError } from "../../web/services/api.js";
import { createPanelStorage } from "../../web/services/storage.js";
import { createChat } from "../../web/state/chat.js";
import { IDLE_RUNTIME } from "../../web/state/fold-events.js";
import { createOutbox } from "../../web/state/outbox.js";

/** @typedef {import("../../web/types.js").Chunk} Chunk */
/** @typedef {import("../../web/types.js").UIMessage} UIMessage */

/**
 * @param {string} id
 * @param {string} text
 * @param {Record<string, unknown>} [metadata]
 * @returns {Chunk[]}
 */
export const answer = (id, text, metadata) => [
  { type: "start", messageId: id },
  { type: "start-step" },
  { type: "text-start", id: `${id}-t` },
  { type: "text-delta", id: `${id}-t`, delta: text },
  { type: "text-end", id: `${id}-t` },
  { type: "finish-step" },
  { type: "finish", finishReason: "stop", ...(metadata ? { messageMetadata: metadata } : {}) },
];

/**
 * @param {string} id
 * @param {"user" | "assistant"} role
 * @param {string} text
 * @returns {UIMessage}
 */
export const said = (id, role, text) => ({ id, role, parts: [{ type: "text", text }] });

/** @param {string} id @returns {UIMessage} an answer without parts */
export const empty = (id) => ({ id, role: "assistant", parts: [] });

/** @param {UIMessage[]} messages @param {Record<string, unknown>} [more] */
export const stored = (messages, more) => ({
  id: "c",
  title: "Title",
  state: "idle",
  messages,
  has_more: false,
  ...more,
});

/** @param {string} state @param {Record<string, unknown>} [more] */
export const running = (state, more) => ({ ...IDLE_RUNTIME, state, ...more });

/** @param {Record<string, unknown>} [more] fields that replace those of an empty chat */
export const snapshot = (more) => ({
  chat: { id: "c", title: "Title" },
  messages: [],
  has_more: false,
  versions: {},
  stream: null,
  queue: [],
  held: false,
  draft: null,
  runtime: IDLE_RUNTIME,
  context: null,
  ...more,
});

/** The events of one chat, numbered as the server numbers them. */
export function fakeEvents(/** @type {Record<string, unknown>} */ first = {}) {
  const encoder = new TextEncoder();
  /** @type {Set<ReadableStreamDefaultController>} */
  const readers = new Set();
  /** @type {any[]} */
  const asked = [];
  let seq = 0;
  let epoch = "e1";
  let current = snapshot(first);
  let refusal = /** @type {Error | null} */ (null);

  /** @param {Record<string, unknown> & {type: string}} event */
  const bytes = (event) =>
    encoder.encode(`id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

  /** @param {string} type @param {Record<string, unknown>} [fields] */
  const push = (type, fields = {}) => {
    seq += 1;
    const event = bytes({ seq, type, epoch, chat_id: "c", ...fields });
    for (const reader of readers) reader.enqueue(event);
  };

  return {
    asked,
    push,
    readers,
    /** @param {string} _id @param {any} position @param {AbortSignal} signal */
    subscribe: async (_id, position, signal) => {
      asked.push(position);
      if (refusal) throw refusal;
      /** @type {ReadableStreamDefaultController} */
      let mine;
      const body = new ReadableStream({
        start(controller) {
          mine = controller;
          readers.add(controller);
          if (position?.epoch === epoch && position.seq === seq) return;
          controller.enqueue(bytes({ seq, type: "snapshot", epoch, chat_id: "c", ...current }));
        },
        cancel: () => void readers.delete(mine),
      });
      signal.addEventListener("abort", () => readers.delete(mine));
      return new Response(body);
    },
    /** Sets the next snapshot. @param {Record<string, unknown>} more */
    now(more) {
      current = snapshot(more);
    },
    /** Pushes the events of a whole turn. @param {string} id @param {string} text */
    turn(id, text) {
      push("runtime_updated", { runtime: running("generating") });
      push("stream_started", { message: empty(id) });
      for (const chunk of answer(id, text)) push("stream_delta", { message_id: id, chunk });
      push("stream_finished", { message_id: id, state: "idle" });
      push("runtime_updated", { runtime: running("idle") });
    },
    /** Breaks all connections. */
    cut() {
      for (const reader of readers) reader.error(new TypeError("network error"));
      readers.clear();
    },
    /** Restarts the server: another epoch, other event numbers. */
    restart() {
      this.cut();
      epoch = `${epoch}+`;
      seq = 100;
    },
    /** @param {Error | null} error thrown by every subscription; null: none */
    refuse(error) {
      refusal = error;
    },
  };
}

/**
 * A fake API whose routes are functions; a call of a missing route fails the test.
 * @param {Record<string, (...given: any[]) => any>} routes
 */
export function fakeServer(routes) {
  /** @type {[string, ...any[]][]} */
  const calls = [];
  const api = new Proxy(
    {},
    {
      get:
        (_target, /** @type {string} */ name) =>
        async (/** @type {any[]} */ ...given) => {
          calls.push([name, ...given]);
          if (!routes[name]) throw new Error(`the test does not expect ${name}`);
          return routes[name](...given);
        },
    },
  );
  return {
    api: /** @type {any} */ (api),
    calls,
    /** @param {string} name */
    asked: (name) => calls.filter(([route]) => route === name).map(([, ...given]) => given),
  };
}

/** @param {...unknown} answers in order, the last one repeats; errors are thrown */
export function inTurn(...answers) {
  return () => {
    const next = answers.length > 1 ? answers.shift() : answers[0];
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next() : next;
  };
}

export const offline = () => {
  throw new NetworkError("refused");
};

/** A `wait` whose pauses end when the test says so. */
export function heldWait() {
  /** @type {(() => void)[]} */
  const pauses = [];
  return {
    pauses,
    wait: () => new Promise((resolve) => void pauses.push(() => resolve(undefined))),
    /** Ends the pauses that have begun. */
    pass: () => pauses.splice(0).forEach((end) => end()),
  };
}

/** Values that last as long as the page. */
export const pageStorage = () =>
  createPanelStorage("", () => {
    throw new Error("blocked");
  });

export const ACCEPTED = { accepted: true, queued: 0 };

/** The services of a chat, with a clock that stands still. */
export function services(/** @type {any} */ api, /** @type {Record<string, unknown>} */ more = {}) {
  let ids = 0;
  return /** @type {any} */ ({
    api,
    clientId: "me",
    tools: { run: async () => ({ error: "no such tool" }) },
    outbox: createOutbox(pageStorage()),
    tabStorage: pageStorage(),
    workflow: () => ({ id: "w", name: "flux", graph: {}, selection: [] }),
    workflowName: () => ({ id: "w", name: "flux" }),
    applyChange: async () => null,
    hand: { onItsWay: () => null },
    later: () => () => undefined,
    wait: () => new Promise((resolve) => setImmediate(resolve)),
    frame: (/** @type {() => void} */ draw) => draw(),
    now: () => new Date("2026-11-21T14:00:00Z"),
    newId: () => `id${(ids += 1)}`,
    ...more,
  });
}

/** @type {{leave(): void}[]} */
const opened = [];
after(() => opened.forEach((chat) => chat.leave()));

/**
 * Opens a chat with a fake server; a known chat is loaded.
 * @param {Record<string, unknown>} [first] fields of the first snapshot
 * @param {{routes?: Record<string, (...given: any[]) => any>, known?: boolean, hooks?: any,
 *   more?: Record<string, unknown>}} [how]
 */
export async function openChat(first, { routes, known = true, hooks, more } = {}) {
  const events = fakeEvents(first);
  const server = fakeServer({
    subscribe: events.subscribe,
    command: () => ACCEPTED,
    createChat: () => undefined,
    ...routes,
  });
  const chat = createChat(services(server.api, more), "c", { known, hooks });
  opened.push(chat);
  if (known) await chat.load();
  return { chat, events, server, commands: () => server.asked("command").map(([, body]) => body) };
}

/** Turns of the event loop: far more than anything here takes. */
const MOST_TURNS = 100_000;

/** Waits until the condition holds. @param {() => unknown} condition */
export async function eventually(condition) {
  for (let turn = 0; !condition(); turn += 1) {
    if (turn === MOST_TURNS) throw new Error(`It never came to this: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * @template T
 * @param {{get: () => T, subscribe: (listener: () => void) => () => void}} store
 * @param {(state: T) => unknown} condition
 * @returns {Promise<T>}
 */
export function until(store, condition) {
  return new Promise((resolve) => {
    let end = () => {};
    const check = () => {
      if (!condition(store.get())) return false;
      end();
      resolve(store.get());
      return true;
    };
    if (!check()) end = store.subscribe(check);
  });
}
