// @ts-check
/**
 * The running turn of a chat, as the panel follows it: asked for, watched, lost and found again.
 * The turn itself belongs to the server. What the user may do with a chat is `chat.js`.
 */

import { NetworkError } from "../services/api.js";
import { failureOf } from "./failure.js";
import { followStream } from "./follow.js";
import * as list from "./messages.js";

/** @typedef {import("../services/api.js").ChatRequest} ChatRequest */
/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").StoredChat} StoredChat */

/**
 * @typedef {object} ChatServices
 * @property {import("../services/api.js").Api} api
 * @property {import("../services/panel-tools.js").PanelTools} tools
 * @property {() => import("../types.js").WorkflowSnapshot | undefined} workflow
 * @property {(milliseconds: number) => Promise<void>} wait may end early when the network is back
 * @property {(draw: () => void) => void} frame runs it before the next picture
 * @property {() => Date} now
 * @property {() => string} newId
 */

/** Messages per page of a long chat. */
export const PAGE = 60;
/** Milliseconds between tries to reach ComfyUI again; the last one repeats. */
const RETRY_DELAYS = [300, 1000, 2000, 4000, 8000];
/** Milliseconds to look for a turn that a decision of the user has just set going again. */
const RESUME_DELAYS = [0, 200, 600, 1500];

/** @typedef {ReturnType<typeof createTurn>} Turn */

/**
 * @param {ChatServices} services
 * @param {string} id the chat's
 * @param {import("./store.js").Store<ChatState>} store
 */
export function createTurn(services, id, store) {
  const { api } = services;
  // Each thing that runs has a number; a later one makes the earlier fall silent.
  let run = 0;
  const current = (/** @type {number} */ number) => number === run;

  /** @param {StoredChat} stored */
  const adopt = (stored) =>
    store.set({ messages: stored.messages, title: stored.title, hasMore: stored.has_more });

  /** @param {unknown} error */
  const fail = (error) => store.set({ status: "idle", loading: false, failure: failureOf(error) });

  /**
   * @param {number} number
   * @param {ChatRequest} request
   * @returns {Promise<"taken" | "refused" | "bounced" | "lost">} "bounced": the chat answers
   *   already
   */
  async function open(number, request) {
    try {
      const response = await api.send(request);
      if (current(number)) void follow(number, response, { goesOn: false, live: true });
      return "taken";
    } catch (error) {
      if (!current(number)) return "lost";
      if (error instanceof NetworkError) {
        void heal(number, request);
        return "lost";
      }
      if (isRunning(error)) return bounce(number, request, error);
      fail(error);
      return "refused";
    }
  }

  /**
   * The chat answers already (another tab asked): give the text back and watch that answer.
   * @param {number} number
   * @param {ChatRequest} request
   * @param {unknown} error
   * @returns {"bounced"}
   */
  function bounce(number, request, error) {
    const { message } = request;
    const messages = store.get().messages.filter((each) => each.id !== message?.id);
    store.set({ messages, failure: failureOf(error) });
    void refresh(number).then(() => rejoin(number, false));
    return "bounced";
  }

  /**
   * @param {number} number
   * @param {Response} response
   * @param {{goesOn: boolean, live: boolean}} kind
   */
  async function follow(number, response, { goesOn, live }) {
    if (store.get().status !== "stopping") store.set({ status: "streaming" });
    const ended = await followStream(response, {
      store,
      goesOn,
      now: live ? services.now : null,
      frame: services.frame,
      current: () => current(number),
    });
    if (!current(number)) return;
    if (ended === "cut") await heal(number, null);
    else if (ended === "broken") store.set({ status: "idle" });
    else await settle(number, !live || asksForSkill(store.get().messages));
  }

  /** @param {number} number @param {boolean} stale the server knows more than was watched */
  async function settle(number, stale) {
    if (stale) await refresh(number);
    if (!current(number)) return;
    store.set({ status: "idle" });
    await runPanelCalls(number);
  }

  /**
   * What the server stored is the last word on an answer that was watched in parts.
   * @param {number} number
   */
  async function refresh(number) {
    try {
      const stored = await api.chat(id, { limit: Math.max(PAGE, store.get().messages.length) });
      if (stored && current(number)) adopt(stored);
    } catch {
      // The answer is on the screen; the next load brings the rest.
    }
  }

  /** @param {number} number */
  async function runPanelCalls(number) {
    const state = store.get();
    const { cut, error } = state.messages.at(-1)?.metadata ?? {};
    const calls = cut || error ? [] : list.pendingPanelCalls(state.messages);
    if (!calls.length || list.pendingApprovals(state.messages).length) return;
    for (const call of calls) {
      const result = await services.tools.run(list.toolName(call), call.input);
      await api
        .command(id, { type: "tool_result", tool_call_id: call.toolCallId, ...result })
        .catch(() => undefined); // Another panel was first, or the turn is over.
    }
    if (current(number)) await rejoin(number, true);
  }

  /**
   * Looks for a turn that has just been set going.
   * @param {number} number
   * @param {boolean} goesOn whether it continues the last answer
   */
  async function rejoin(number, goesOn) {
    if (store.get().status === "idle") store.set({ status: "sending" });
    try {
      for (const delay of RESUME_DELAYS) {
        if (delay) await services.wait(delay);
        if (!current(number)) return;
        const response = await api.join(id);
        if (!current(number)) return;
        if (response) return await follow(number, response, { goesOn, live: false });
      }
      await refresh(number);
      if (current(number)) store.set({ status: "idle" });
    } catch (error) {
      if (!current(number)) return;
      if (error instanceof NetworkError) await heal(number, null);
      else fail(error);
    }
  }

  /**
   * The connection broke: try until ComfyUI answers, then go on where the turn is by now.
   * @param {number} number
   * @param {ChatRequest | null} unsent one that may not have arrived
   */
  async function heal(number, unsent) {
    if (store.get().status !== "stopping") store.set({ status: "reconnecting" });
    for (let attempt = 0; current(number); attempt += 1) {
      await services.wait(RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length - 1)]);
      if (!current(number)) return;
      try {
        const stored = await api.chat(id, { limit: PAGE });
        if (!current(number)) return;
        store.set({ failure: null });
        if (unsent && !arrived(stored, unsent)) {
          store.set({ status: "sending" });
          await open(number, unsent);
          return;
        }
        if (stored) adopt(stored);
        const response = await api.join(id);
        if (!current(number)) return;
        if (response) await follow(number, response, { goesOn: false, live: false });
        else {
          if (!stored) store.set({ messages: list.withCut(store.get().messages) });
          await settle(number, false);
        }
        return;
      } catch (error) {
        if (error instanceof NetworkError) {
          if (current(number)) store.set({ failure: failureOf(error, "reconnect") });
          continue;
        }
        if (current(number)) fail(error);
        return;
      }
    }
  }

  return {
    /** @returns {number} of what begins now; everything before it falls silent */
    next() {
      run += 1;
      return run;
    },
    number: () => run,
    current,
    adopt,
    fail,
    open,
    follow,
    heal,
    rejoin,
    runPanelCalls,
    settle,
  };
}

/** @param {unknown} error */
const isRunning = (error) =>
  error instanceof Error && "code" in error && error.code === "turn_running";

/** @param {StoredChat | null} stored @param {ChatRequest} request */
function arrived(stored, request) {
  if (!stored) return false;
  const { message, messageId } = request;
  if (message) return stored.messages.some((each) => each.id === message.id);
  return messageId !== undefined && stored.messages.every((each) => each.id !== messageId);
}

/**
 * The server adds the skill that it found to the user's message.
 * @param {readonly import("../types.js").UIMessage[]} messages
 */
function asksForSkill(messages) {
  const asked = messages.findLast((message) => message.role === "user");
  return asked !== undefined && /^\s*\/skill\b/i.test(list.textOf(asked));
}
