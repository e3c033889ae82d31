// @ts-check
/**
 * One chat in the panel: its state, and the commands that the user can send. Lives outside any
 * element, so closing the side bar or mounting the panel again changes nothing. Turns run on the
 * server.
 */

import { ApiError } from "../services/api.js";
import { createAsking } from "./asking.js";
import { createCanvasEdits } from "./canvas-edits.js";
import { createCanvasNews } from "./canvas-news.js";
import { createCanvasOffer } from "./canvas-offer.js";
import { createChatStream, PAGE } from "./chat-stream.js";
import { chatState, works } from "./chat-state.js";
import { createDecisions } from "./decisions.js";
import { createDelivery } from "./delivery.js";
import { failureOf } from "./failure.js";
import * as list from "./messages.js";
import { createPanelCalls } from "./panel-calls.js";
import { createStore } from "./store.js";
import { t } from "../strings.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("./chat-state.js").Local} Local */
/** @typedef {import("./chat-state.js").Outgoing} Outgoing */

/**
 * @typedef {object} ChatServices
 * @property {import("../services/api.js").Api} api
 * @property {string} clientId id of this panel
 * @property {import("../services/panel-tools.js").PanelTools} tools
 * @property {import("./outbox.js").Outbox} outbox
 * @property {() => import("../types.js").WorkflowSnapshot | undefined} workflow
 * @property {() => import("../types.js").WorkflowName | undefined} workflowName
 * @property {Pick<import("../services/canvas-hand.js").CanvasHand,
 *   "run" | "undo" | "sends" | "arrived" | "onItsWay">} hand
 * @property {(change: import("../types.js").CanvasChange) =>
 *   Promise<{text: string} | {error: string} | null>} applyChange null: it is on the canvas
 * @property {(run: () => void, milliseconds: number) => () => void} later returns the cancel
 *   function
 * @property {(milliseconds: number) => Promise<void>} wait ends early when the network is back
 * @property {(draw: () => void) => void} frame calls `draw` before the next frame
 * @property {() => Date} now
 * @property {() => string} newId
 */

/**
 * What the answer to a slash command asks the panel to do (`data-action`).
 * @typedef {{action: string, chat_id?: string, format?: import("../services/api.js").ExportFormat,
 *   name?: string}} SlashAction
 */

/**
 * @typedef {object} ChatHooks
 * @property {(action: SlashAction) => void} act carries out the action of a
 *   slash command (`data-action`)
 * @property {(wasShown: boolean) => void} gone the server does not have the chat; `wasShown`:
 *   whether the panel had loaded it
 */

/** @typedef {ReturnType<typeof createChat>} Chat */

/** Milliseconds after which a stop that is not confirmed asks for a snapshot. */
const STOP_PATIENCE = 5000;
/** @param {ChatState} state */
export const isBusy = (state) => state.status !== "idle";

/**
 * @param {ChatServices} services
 * @param {string} id of a stored chat, or a new id
 * @param {{known?: boolean, temporary?: boolean, report?: ChatState["report"],
 *   hooks?: Partial<ChatHooks>}} [from]
 */
export function createChat(
  services,
  id,
  { known = false, temporary = false, report = null, hooks = {} } = {},
) {
  const { api } = services;
  /** @type {Local} */
  let local = {
    clientId: services.clientId,
    known,
    temporary,
    loading: known,
    lost: false,
    sending: 0,
    stopping: false,
    outgoing: null,
    waiting: services.outbox.of(id).map(({ message }) => message),
    decisions: new Map(),
    answers: new Map(),
    taken: new Map(),
    params: null,
    offer: null,
    failure: null,
    failed: null,
    durations: {},
    target: null,
    finding: false,
    sent: "",
    report,
  };
  const store = createStore(chatState(id, null, local));
  const stream = createChatStream(services, id, {
    changed,
    lost: (lost) => set({ lost }),
    refused,
  });
  const calls = createPanelCalls(services, id, stream.fresh);
  const delivery = createDelivery(services, id, stream, {
    isKnown: () => local.known,
    temporary,
    known: () => set({ known: true, lost: false }),
    lost: () => set({ lost: true }),
    params: () => local.params,
  });
  const { inOrder } = delivery;
  const canvas = createCanvasNews(services.workflow, services.later, inOrder, (workflow) =>
    api.command(id, { type: "set_workflow", workflow }),
  );
  const asking = createAsking(services, id, {
    stream,
    delivery,
    canvas,
    local: () => local,
    set,
    get: store.get,
    endDraft,
  });
  const decisions = createDecisions(services, id, {
    inOrder,
    local: () => local,
    set,
    get: store.get,
    canvas,
  });
  const edits = createCanvasEdits(services, id, {
    fresh: stream.fresh,
    canvas,
    stays: () =>
      set({ failure: { code: "canvas", message: t("canvas.stays"), actions: ["dismiss"] } }),
  });
  const offer = createCanvasOffer(services, id, {
    fresh: stream.fresh,
    canvas,
    plain,
    set,
    local: () => local,
  });
  /** The draft that this panel sent last; null: the server's draft counts. @type {string | null} */
  let draft = null;
  let drawing = false;
  /** Counts the stops: a later one has its own patience. */
  let stops = 0;

  const publish = () => store.set(chatState(id, stream.server(), local, stream.stretch()));

  /** @param {Partial<Local>} changes */
  function set(changes) {
    local = { ...local, ...changes };
    publish();
  }

  /** @param {ChatEvent | null} event */
  function changed(event) {
    const server = stream.server();
    local = { ...local, ...asking.arrivals(event) };
    if (!works(server)) {
      const over = local.failure?.code === "turn_running";
      local = { ...local, stopping: false, failure: over ? null : local.failure };
    }
    if (event?.type === "snapshot") {
      local = { ...local, loading: false, lost: false, failure: null };
    }
    // The event has the parameters that were set, and another tab may set others later.
    if (event?.type === "snapshot" || (event?.type === "thread_updated" && "params" in event.chat)) {
      local = { ...local, params: null };
    }
    if (server && draft !== null && event?.type === "thread_updated" && "draft" in event) {
      draft = server.draft === draft ? null : draft;
    }
    if (event) carryOut(event);
    calls.look(server);
    edits.look(server);
    if (event?.type !== "stream_delta") {
      publish();
    } else if (!drawing) {
      drawing = true;
      services.frame(() => {
        drawing = false;
        set({ durations: stream.durations() });
      });
    }
  }

  /**
   * Carries out the actions of slash commands that this panel sent: once, when the event arrives,
   * and never from a snapshot.
   * @param {ChatEvent} event
   */
  function carryOut({ type, chunk, message }) {
    const last = stream.server()?.messages.findLast(
      (each) => each.role === "user" && list.isShown(each),
    );
    if (!last || !asking.isOurs(last.id)) return;
    if (type === "stream_delta" && chunk.type === "data-action") hooks.act?.(chunk.data);
    if (type !== "message_added") return;
    for (const part of message.parts) {
      if (part.type === "data-action") hooks.act?.(part.data);
    }
  }

  /** @param {ApiError} error */
  function refused(error) {
    if (error.status === 404) {
      const wasShown = stream.server() !== null;
      set({ loading: false, known: false });
      hooks.gone?.(wasShown);
    } else set({ loading: false, failure: failureOf(error) });
  }

  /**
   * Sends a command without a message.
   * @param {Command} command
   * @returns {Promise<any>} the answer's body; null: failed
   */
  async function plain(command) {
    try {
      return await inOrder(() => api.command(id, command));
    } catch (error) {
      set({ failure: failureOf(error, "action") });
      return null;
    }
  }

  const knownDraft = () => draft ?? stream.server()?.draft ?? "";

  /** @param {string} text @returns {Promise<boolean>} whether the server has this draft */
  async function keepDraft(text) {
    if (!local.known) return false;
    if (knownDraft() === text) return true;
    draft = text;
    const command = text ? { type: "set_draft", text } : { type: "clear_draft" };
    try {
      await inOrder(() => api.command(id, command));
      return true;
    } catch {
      draft = null;
      return false;
    }
  }

  /** The text was sent: it is no draft any more. @param {string} text */
  function endDraft(text) {
    if (knownDraft().trim() === text) void keepDraft("");
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    /**
     * @returns {boolean} whether a turn runs, or something was sent of which no event has told yet: the
     *   server may answer a command before its turn is heard of
     */
    works: () => isBusy(store.get()),

    /** Loads the stored messages and follows the chat's events. */
    async load() {
      if (local.known && !(await stream.fresh())) return;
      asking.resume();
    },
    loadOlder: () => stream.loadOlder(),
    loadLater: () => stream.loadLater(),
    toLatest: () => stream.toLatest(),

    /** Closes the connection while the panel is hidden. */
    rest: stream.close,
    /** Opens the connection again. */
    wake: () => local.known && stream.open(),

    send: asking.send,
    regenerate: asking.regenerate,
    /** Repeats what failed: the command that was not accepted, loading the chat, or the answer. */
    async retry() {
      if (await asking.repeat()) return;
      if (store.get().messages.length && !stream.isRefused()) await asking.regenerate();
      else {
        set({ failure: null, loading: true });
        await stream.fresh();
      }
    },

    async stop() {
      const begun = works(stream.server());
      if (!begun && (local.lost || !local.known)) {
        delivery.giveUp();
        return;
      }
      const abort = () => api.command(id, { type: "abort" });
      set({ stopping: true, failure: null });
      stops += 1;
      const mine = stops;
      try {
        // A message that is being sent must arrive before its turn can be stopped.
        await (begun ? abort() : inOrder(abort));
      } catch (error) {
        set({ stopping: false, failure: failureOf(error, "action") });
        return;
      }
      await services.wait(STOP_PATIENCE);
      if (!local.stopping || mine !== stops) return;
      await stream.fresh();
      if (mine === stops) set({ stopping: false });
    },

    ...decisions,

    /**
     * Parameters of the chat's next turns, shown before an event has them. A chat that the server
     * does not have yet keeps them until its first message.
     * @param {import("../types.js").ChatParams} params
     */
    async setParams(params) {
      set({ params: { ...local.params, ...params }, failure: null });
      if (!local.known) return;
      const done = await plain({ type: "set_params", params });
      if (!done) set({ params: null });
    },

    /** @param {string} queuedId @returns {Promise<unknown>} null: it is not taken back */
    async cancelQueued(queuedId) {
      return asking.takeBack(queuedId) || plain({ type: "cancel_queued", id: queuedId });
    },
    resumeQueue: () => plain({ type: "resume_queue" }),
    takeOver: () => plain({ type: "take_over", workflow: services.workflow() }),
    /** @param {string} messageId */
    async switchVersion(messageId) {
      const done = await plain({ type: "switch_version", message_id: messageId });
      if (done) void offer.look();
      return done;
    },
    /** Offers to bring the canvas to what it was at the end of this chat. */
    offerCanvas: offer.look,
    bringCanvas: offer.bring,
    hideOffer: offer.hide,
    /** @param {string} messageId @returns {Promise<string | null>} id of the new chat */
    async branch(messageId) {
      const answer = await plain({ type: "branch_from_chat", message_id: messageId });
      return answer?.chat_id ?? null;
    },
    keepDraft,

    /**
     * Loads the page around a message, unless the message is loaded, and makes it the target. The
     * page is asked for while the chat itself is loading. @param {string} messageId
     */
    async find(messageId) {
      const known = () => stream.server()?.messages.some((each) => each.id === messageId);
      if (known()) stream.toLatest();
      const load = () => api.chat(id, { limit: PAGE, around: messageId });
      const page = stream.shows(messageId) ? null : load().catch(() => undefined);
      if (page) set({ finding: true });
      if (!stream.server()) await stream.fresh();
      let around = await page;
      if (around === null && page) {
        await plain({ type: "switch_version", message_id: messageId });
        await stream.fresh();
        around = await load().catch(() => undefined);
      }
      if (around) stream.showPage(around);
      set({ finding: false, target: stream.shows(messageId) ? { id: messageId } : null });
    },

    dismissFailure: () => set({ failure: null }),

    /** The open workflow may have changed: the server is told soon. */
    workflowChanged: () => local.known && canvas.changed(),

    /** Closes the connection for good: another chat is open. The turn continues on the server. */
    leave() {
      canvas.stop();
      stream.leave();
    },
  };
}
