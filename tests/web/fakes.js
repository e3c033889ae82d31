// @ts-check
/**
 * Stands in for the server and the browser: answers are queued, events are pushed, and what was
 * asked is remembered.
 */

import { after } from "node:test";

import { NetworkError } from "../../web/services/api.js";
import { createChat } from "../../web/state/chat.js";
import { IDLE_RUNTIME } from "../../web/state/fold-events.js";

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

/** @param {string} id @returns {UIMessage} an answer before its first chunk */
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

/** @param {Record<string, unknown>} [more] fields of a snapshot that differ from an empty chat's */
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
    /** What the next snapshot says. @param {Record<string, unknown>} more */
    now(more) {
      current = snapshot(more);
    },
    /** A turn of one answer, from its start to its end. @param {string} id @param {string} text */
    turn(id, text) {
      push("runtime_updated", { runtime: running("generating") });
      push("stream_started", { message: empty(id) });
      for (const chunk of answer(id, text)) push("stream_delta", { message_id: id, chunk });
      push("stream_finished", { message_id: id, state: "idle" });
      push("runtime_updated", { runtime: running("idle") });
    },
    /** The connections break. */
    cut() {
      for (const reader of readers) reader.error(new TypeError("network error"));
      readers.clear();
    },
    /** The server stops, and starts again with other numbers. */
    restart() {
      this.cut();
      epoch = `${epoch}+`;
      seq = 100;
    },
    /** @param {Error | null} error what every subscription is refused with */
    refuse(error) {
      refusal = error;
    },
  };
}

/**
 * A server whose routes are functions; a route that was not given is an error of the test.
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

/** @param {...unknown} answers given one after the other; errors are thrown */
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

export const ACCEPTED = { accepted: true, queued: 0 };

/** What every chat needs of the browser, with a clock that stands still. */
export function services(/** @type {any} */ api, /** @type {Record<string, unknown>} */ more = {}) {
  let ids = 0;
  return /** @type {any} */ ({
    api,
    clientId: "me",
    tools: { run: async () => ({ error: "no such tool" }) },
    workflow: () => ({ id: "w", name: "flux", revision: 3, graph: {}, selection: [] }),
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
 * A chat that the server has, loaded, and its server.
 * @param {Record<string, unknown>} [first] what the server says of it
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

/** @param {() => unknown} condition that no state tells of */
export async function eventually(condition) {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
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
