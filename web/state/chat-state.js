// @ts-check
/**
 * The state of a chat as the views show it: the server's state merged with the local state of this
 * panel (commands that are being sent, decisions, failures). Pure.
 */

import { messagesOf } from "./fold-events.js";
import { before, isShown, withDecisions } from "./messages.js";
import { withAnswers } from "./waiting.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/**
 * A change of the messages that was sent to the server and is not confirmed by an event yet.
 * @typedef {object} Outgoing
 * @property {UIMessage | null} message the user's new message
 * @property {string | null} cut the first message that the change removes, with all after it
 */

/**
 * A change of the messages that did not reach the server, and why.
 * @typedef {{command: import("../services/api.js").Command, outgoing: Outgoing,
 *   failure: import("../types.js").Failure}} Failed
 */

/**
 * @typedef {object} Local
 * @property {string} clientId
 * @property {boolean} known whether the server has the chat
 * @property {boolean} temporary whether nothing of it is kept
 * @property {boolean} loading
 * @property {boolean} lost
 * @property {number} sending number of commands whose request has not ended
 * @property {boolean} stopping
 * @property {Outgoing | null} outgoing
 * @property {readonly UIMessage[]} waiting messages that were sent and did not reach the server yet,
 *   in the order of sending
 * @property {ReadonlyMap<string, boolean>} decisions by the id of the question
 * @property {ReadonlyMap<string, import("./waiting.js").Answer>} answers by `questionKey`
 * @property {ReadonlyMap<string, Omit<import("../types.js").TakenBack, "undone"> & {undone?: boolean}>}
 *   taken by the id of the answer; `undone` where the canvas has not followed the server
 * @property {import("../types.js").ChatParams | null} params that this panel set and no event has yet
 * @property {string | null} offer the message whose workflow the canvas can be brought to
 * @property {ChatState["failure"]} failure of any other action
 * @property {Failed | null} failed the command that *Retry* sends again
 * @property {ChatState["durations"]} durations
 * @property {ChatState["target"]} target
 * @property {boolean} finding
 * @property {string} sent
 * @property {ChatState["report"]} report stored by an earlier visit
 */

/** @type {ChatState["queue"]} */
const NONE = [];
/** @type {ChatState["unsent"]} */
const NO_MESSAGES = [];
/** @type {ChatState["taken"]} */
const NONE_TAKEN = new Map();
/** @type {ChatState["params"]} */
const NO_PARAMS = {};
/** States of a chat in which the server or a panel works, without the user. */
export const BUSY_STATES = new Set(["generating", "executing_tools", "waiting_client"]);

/** States of a chat between two turns, in which the server takes the next entry of the queue. */
const BETWEEN = new Set(["idle", "completed"]);

/** @param {ServerChat | null} server @returns {boolean} whether a turn runs or is next */
export function works(server) {
  if (!server) return false;
  const { stream, runtime, queue, held } = server;
  const goesOn = queue.length > 0 && !held && BETWEEN.has(runtime.state);
  return stream !== null || goesOn || BUSY_STATES.has(runtime.state);
}

/**
 * @param {string} id
 * @param {ServerChat | null} server
 * @param {Local} local
 * @param {import("./stretch.js").Stretch | null} [stretch]
 * @returns {ChatState}
 */
export function chatState(id, server, local, stretch = null) {
  return {
    id,
    known: local.known,
    temporary: local.temporary,
    title: server?.chat.title ?? "",
    messages: shownMessages(server, local),
    versions: server?.versions ?? new Map(),
    hasMore: server?.hasMore ?? false,
    stretch: stretch && shownStretch(stretch, local),
    loading: local.loading,
    status: statusOf(server, local),
    lost: local.lost,
    report: server?.report ?? local.report,
    failure: local.failure ?? local.failed?.failure ?? errorOf(server, local),
    taken: takenOf(server, local),
    offersCanvas: local.offer !== null,
    params: paramsOf(server, local),
    budgetLeft: server?.chat.budget_left ?? null,
    durations: local.durations,
    queue: server?.queue ?? NONE,
    unsent: unsentOf(server, local),
    held: server?.held ?? false,
    draft: server?.draft ?? "",
    waitsFor: waitsFor(server, local.clientId),
    compacting: server?.chat.compacting ?? null,
    saving: server?.runtime.saving ?? { ok: true },
    workflow: server?.chat.workflow ?? null,
    target: local.target,
    finding: local.finding,
    sent: local.sent,
  };
}

/** @param {ServerChat | null} server @param {Local} local @returns {ChatState["params"]} */
function paramsOf(server, { params }) {
  return params ? { ...server?.chat.params, ...params } : (server?.chat.params ?? NO_PARAMS);
}

/** @param {ServerChat | null} server @param {Local} local @returns {ChatState["taken"]} */
function takenOf(server, { taken }) {
  const undone = new Set(server?.runtime.undone ?? []);
  if (!undone.size && !taken.size) return NONE_TAKEN;
  const ids = [...undone, ...taken.keys()];
  return new Map(
    ids.map((id) => {
      const { busy = false, refused = null, undone: here } = taken.get(id) ?? {};
      return [id, { undone: here ?? undone.has(id), busy, refused }];
    }),
  );
}

/** @param {ServerChat | null} server @param {Local} local @returns {UIMessage[]} */
function shownMessages(server, { outgoing, decisions, answers }) {
  const messages = server ? messagesOf(server).filter(isShown) : [];
  if (!outgoing) return withDecisions(withAnswers(messages, answers), decisions);
  const { message, cut } = outgoing;
  const kept = cut ? before(messages, cut) : messages;
  return message ? [...kept, message] : [...kept];
}

/**
 * @param {import("./stretch.js").Stretch} stretch
 * @param {Local} local
 * @returns {ChatState["stretch"]} with the message that takes the place of one of its messages
 */
function shownStretch({ messages, hasMore, versions }, { outgoing }) {
  const cut = outgoing?.cut;
  const cuts = messages.some((message) => message.id === cut);
  const kept = cut && cuts ? before(messages, cut) : messages;
  const added = cuts && outgoing?.message ? [outgoing.message] : [];
  return { messages: [...kept.filter(isShown), ...added], hasMore, versions };
}

/**
 * The messages that the server does not have and the log does not show.
 * @param {ServerChat | null} server
 * @param {Local} local
 * @returns {ChatState["unsent"]}
 */
function unsentOf(server, { waiting, outgoing }) {
  if (!waiting.length) return NO_MESSAGES;
  const isShownElsewhere = (/** @type {UIMessage} */ message) =>
    message.id === outgoing?.message?.id ||
    (server !== null && arrived(server, { message, cut: null }));
  return waiting.filter((message) => !isShownElsewhere(message));
}

/** @param {ServerChat | null} server @param {Local} local @returns {ChatState["status"]} */
function statusOf(server, local) {
  if (works(server)) {
    if (local.stopping) return "stopping";
    return server?.stream ? "streaming" : "working";
  }
  const unheard = local.outgoing && !local.failed && !local.failure;
  return local.sending > 0 || unheard ? "sending" : "idle";
}

/**
 * The error of the last turn, unless the last message shows it already.
 * @param {ServerChat | null} server
 * @param {Local} local
 * @returns {ChatState["failure"]}
 */
function errorOf(server, local) {
  const error = server?.runtime.error;
  if (!server || !error || works(server) || local.outgoing) return null;
  const last = server.messages.findLast(isShown);
  if (last?.role === "assistant" && last.metadata?.error) return null;
  return { code: error.code, message: error.message, actions: ["retry"] };
}

/** @param {ServerChat | null} server @param {string} clientId @returns {ChatState["waitsFor"]} */
function waitsFor(server, clientId) {
  if (!server || server.runtime.state !== "waiting_client") return "";
  if (server.runtime.client_id === clientId) return "here";
  return server.runtime.client_present ? "elsewhere" : "gone";
}

/**
 * @param {ServerChat} server
 * @param {Outgoing} outgoing
 * @returns {boolean} whether the server's state contains the change
 */
export function arrived(server, { message, cut }) {
  const known = (/** @type {string} */ id) => server.messages.some((each) => each.id === id);
  if (!message) return cut !== null && !known(cut);
  return known(message.id) || server.queue.some((each) => each.message?.id === message.id);
}
