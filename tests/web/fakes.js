// @ts-check
/**
 * Stands in for the server and the browser: answers are queued, and what was asked is remembered.
 */

import { NetworkError } from "../../web/services/api.js";
import { createChat } from "../../web/state/chat.js";

/** @typedef {import("../../web/types.js").Chunk} Chunk */
/** @typedef {import("../../web/types.js").UIMessage} UIMessage */

/**
 * @param {readonly Chunk[]} chunks
 * @param {{cut?: boolean, hold?: Promise<void>}} [how] cut: without [DONE]; hold: wait before the
 *   end
 * @returns {Response}
 */
export function streamed(chunks, { cut = false, hold } = {}) {
  const encoder = new TextEncoder();
  const rest = [...chunks];
  // One at a time, as it is asked for: an error would take what is still queued with it.
  const body = new ReadableStream({
    async pull(controller) {
      const chunk = rest.shift();
      if (chunk) {
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
        return;
      }
      await hold;
      if (cut) controller.error(new TypeError("network error"));
      else {
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        controller.close();
      }
    },
  });
  return new Response(body);
}

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

/** @param {UIMessage[]} messages @param {Record<string, unknown>} [more] */
export const stored = (messages, more) => ({
  id: "c",
  title: "Title",
  state: "idle",
  messages,
  has_more: false,
  ...more,
});

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

/** @param {any} api @param {Record<string, unknown>} [more] */
export function fakeChat(api, more) {
  let ids = 0;
  return createChat(
    /** @type {any} */ ({
      api,
      tools: { run: async () => ({ error: "no such tool" }) },
      workflow: () => ({ id: "w", name: "flux", revision: 3, graph: {}, selection: [] }),
      wait: () => new Promise((resolve) => setImmediate(resolve)),
      frame: (/** @type {() => void} */ draw) => draw(),
      now: () => new Date("2026-11-21T14:00:00Z"),
      newId: () => `id${(ids += 1)}`,
      ...more,
    }),
    "c",
  );
}

/**
 * @param {ReturnType<typeof fakeChat>} chat
 * @param {(state: import("../../web/types.js").ChatState) => boolean} [condition] idle, if not
 *   given
 */
export function until(chat, condition = (state) => state.status === "idle" && !state.loading) {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition(chat.get())) return;
      end();
      resolve(chat.get());
    };
    const end = chat.subscribe(check);
    check();
  });
}
