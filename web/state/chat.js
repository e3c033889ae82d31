// @ts-check
/**
 * One chat as the panel holds it: its messages, what runs, and what the user may do with it. Lives
 * outside any element: a closed tab or a new mount changes nothing. Following a turn is `turn.js`.
 */

import { NetworkError } from "../services/api.js";
import { failureOf } from "./failure.js";
import * as list from "./messages.js";
import { createStore } from "./store.js";
import { createTurn, PAGE } from "./turn.js";

/** @typedef {import("../services/api.js").ChatRequest} ChatRequest */
/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").ChatState} ChatState */

/** @typedef {ReturnType<typeof createChat>} Chat */

/** Milliseconds that a stopped turn may take to say so. */
const STOP_PATIENCE = 5000;

/** @param {ChatState} state */
export const isBusy = (state) => state.status !== "idle";

/** @param {string} id @param {ChatState["report"]} report @returns {ChatState} */
const emptyChat = (id, report) => ({
  id,
  title: "",
  messages: [],
  hasMore: false,
  loading: false,
  status: "idle",
  report,
  failure: null,
  durations: {},
});

/**
 * @param {import("./turn.js").ChatServices} services
 * @param {string} id made by the panel, or one that the server knows
 * @param {ChatState["report"]} [report] the last one of that chat, from an earlier page
 */
export function createChat(services, id, report = null) {
  const { api } = services;
  const store = createStore(emptyChat(id, report));
  const turn = createTurn(services, id, store);
  /** @type {ChatRequest | null} one that the server did not take, for trying again */
  let refused = null;

  /** @param {number} number @param {ChatRequest} request @returns {Promise<boolean>} */
  async function open(number, request) {
    refused = request;
    const answer = await turn.open(number, request);
    if (turn.current(number) && answer !== "refused") refused = null;
    return answer !== "bounced";
  }

  /** @param {Omit<ChatRequest, "id" | "workflow">} next @param {ChatState["messages"]} messages */
  async function begin(next, messages) {
    const waiting = list.pendingApprovals(store.get().messages).length > 0;
    const number = turn.next();
    store.set({ messages, status: "sending", failure: null });
    // A turn that waits for the user ends when the user says something else.
    if (waiting) await api.command(id, { type: "abort" }).catch(() => undefined);
    return open(number, { id, ...next, workflow: services.workflow() });
  }

  /**
   * @param {string[]} ids
   * @param {boolean} approved
   * @param {Record<string, unknown> & {type: string}} command
   */
  async function decide(ids, approved, command) {
    const { messages } = store.get();
    const number = turn.next();
    store.set({ messages: list.withDecision(messages, ids, approved), failure: null });
    try {
      await api.command(id, command);
    } catch (error) {
      if (turn.current(number)) store.set({ messages, failure: failureOf(error, "approval") });
      return;
    }
    if (!turn.current(number) || list.pendingApprovals(store.get().messages).length) return;
    await turn.rejoin(number, true);
  }

  /**
   * What the server knows of the last request; a stream that began meanwhile knows better.
   * @param {number} number
   */
  async function loadReport(number) {
    const { report: known } = store.get();
    const told = await api.context(id).catch(() => null);
    if (told && turn.current(number) && store.get().report === known) store.set({ report: told });
  }

  return {
    get: store.get,
    subscribe: store.subscribe,

    /** Shows what the server keeps, and joins the turn that runs. */
    async load() {
      const number = turn.next();
      store.set({ loading: true, failure: null });
      try {
        const stored = await api.chat(id, { limit: PAGE });
        if (!turn.current(number)) return;
        if (stored) turn.adopt(stored);
        store.set({ loading: false });
        if (stored) void loadReport(number);
        const response = stored ? await api.join(id) : null;
        if (!turn.current(number)) return;
        if (response) await turn.follow(number, response, { goesOn: false, live: false });
        else if (stored?.state === "waiting_client") await turn.runPanelCalls(number);
      } catch (error) {
        if (!turn.current(number)) return;
        store.set({ loading: false });
        if (error instanceof NetworkError) await turn.heal(number, null);
        else turn.fail(error);
      }
    },

    async loadOlder() {
      const { messages, hasMore } = store.get();
      if (!hasMore || !messages.length) return;
      const page = await api.chat(id, { limit: PAGE, before: messages[0].id }).catch(() => null);
      const known = new Set(store.get().messages.map((message) => message.id));
      const older = page?.messages.filter((message) => !known.has(message.id)) ?? [];
      store.set({
        messages: [...older, ...store.get().messages],
        hasMore: Boolean(page?.has_more && older.length),
      });
    },

    /**
     * @param {string} text
     * @param {readonly Attachment[]} files
     * @param {string} [replaces] the id of the user's message that this one stands for (a branch)
     * @returns {Promise<boolean>} false when the chat was busy: the text is the user's again
     */
    send(text, files, replaces) {
      const { messages } = store.get();
      const open = services.workflow();
      const metadata = {
        created: services.now().toISOString(),
        ...(open?.name ? { workflow: { id: open.id, name: open.name } } : {}),
      };
      const message = list.userMessage(services.newId(), text, files, metadata);
      const kept = replaces ? list.before(messages, replaces) : messages;
      return begin(
        { message, trigger: "submit-message", ...(replaces ? { messageId: replaces } : {}) },
        [...kept, message],
      );
    },

    /** Answers the last message of the user again. */
    regenerate() {
      const { messages } = store.get();
      const answer = messages.at(-1)?.role === "assistant" ? messages.at(-1) : undefined;
      return begin(
        { trigger: "regenerate-message", ...(answer ? { messageId: answer.id } : {}) },
        answer ? messages.slice(0, -1) : messages,
      );
    },

    /** Tries again what failed: the request that was not taken, the answer, or the loading. */
    async retry() {
      if (!refused) {
        await (store.get().messages.length ? this.regenerate() : this.load());
        return;
      }
      store.set({ failure: null, status: "sending" });
      await open(turn.next(), refused);
    },

    async stop() {
      if (store.get().status === "reconnecting") {
        turn.next();
        turn.fail(new NetworkError());
        return;
      }
      const number = turn.number();
      store.set({ status: "stopping" });
      await api.command(id, { type: "abort" }).catch(() => undefined);
      await services.wait(STOP_PATIENCE);
      if (!turn.current(number) || store.get().status !== "stopping") return;
      await turn.settle(turn.next(), true);
    },

    /** @param {string[]} ids @param {boolean} remember allow the tool for the rest of this chat */
    approve: (ids, remember) =>
      decide(ids, true, { type: "approve_tools", ids, ...(remember ? { remember } : {}) }),

    /** @param {string[]} ids */
    reject: (ids) => decide(ids, false, { type: "reject_tools", ids }),

    dismissFailure: () => store.set({ failure: null }),

    /** @param {string} title */
    rename: (title) => store.set({ title }),

    /** Falls silent: another chat is shown. The turn goes on at the server. */
    leave() {
      turn.next();
    },
  };
}
