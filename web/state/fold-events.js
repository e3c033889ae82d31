// @ts-check
/**
 * Folds the events of a chat onto its snapshot: the result is the server's state of the chat at the
 * event's `seq`. Pure; unchanged values are shared. `reducer.js` folds the chunks of the streaming
 * answer. The local state of this panel is added in `chat-state.js`.
 */

import { newestFirst } from "../text/chat-list.js";
import { FoldError, initialFold } from "./fold-state.js";
import { settleInputs } from "./fold-tool.js";
import { withMessage } from "./messages.js";
import { fold } from "./reducer.js";

/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").Chunk} Chunk */
/** @typedef {import("../types.js").Queued} Queued */
/** @typedef {import("../types.js").Runtime} Runtime */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {import("../types.js").Version} Version */
/** @typedef {import("../types.js").Versions} Versions */
/** @typedef {import("../types.js").VersionsById} VersionsById */

/**
 * @typedef {object} ServerChat
 * @property {Partial<ChatEntry>} chat
 * @property {readonly UIMessage[]} messages the loaded messages, up to the newest one, without the
 *   streaming answer
 * @property {boolean} hasMore whether the server has older messages
 * @property {VersionsById} versions of the messages that have more than one version
 * @property {import("./fold-state.js").FoldState | null} stream the streaming answer
 * @property {readonly Queued[]} queue
 * @property {boolean} held
 * @property {string} draft
 * @property {Runtime} runtime
 * @property {import("../types.js").ContextReport | null} report
 */

/** @type {Runtime} */
export const IDLE_RUNTIME = {
  state: "idle",
  client_id: null,
  client_present: false,
  waiting: [],
  error: null,
  saving: { ok: true },
};

/**
 * @param {ServerChat | null} state null before the first snapshot
 * @param {ChatEvent} event unknown types are ignored, so that a newer server can be used
 * @returns {ServerChat}
 * @throws {FoldError} for an event that does not fit the state
 */
export function foldEvent(state, event) {
  if (event.type === "snapshot") return fromSnapshot(event);
  if (!state) throw new FoldError("expected a snapshot first");
  switch (event.type) {
    case "stream_started":
      return {
        ...withVersion(state, event.message.id, event.version),
        stream: initialFold(event.message),
      };
    case "stream_delta":
      return foldDelta(state, event.message_id, event.chunk);
    case "stream_finished":
      return finishStream(state, event.message_id);
    case "message_added":
      return addMessage(state, event);
    case "message_updated":
      return replaceMessage(state, event.message);
    case "message_removed":
      return keepMessages(state, (message) => message.id !== event.message_id);
    case "messages_truncated":
      return truncate(state, event.after ?? null);
    case "thread_updated":
      return {
        ...state,
        chat: { ...state.chat, ...event.chat },
        draft: "draft" in event ? (event.draft ?? "") : state.draft,
      };
    case "queue_updated":
      return { ...state, queue: event.queue, held: event.held };
    case "runtime_updated":
      return { ...state, runtime: event.runtime };
    case "context_compacted":
      return { ...state, report: event.report ?? state.report };
    default:
      return state;
  }
}

/** @param {ChatEvent} event @returns {ServerChat} */
function fromSnapshot(event) {
  const { stream } = event;
  const state = {
    chat: event.chat,
    messages: event.messages,
    hasMore: Boolean(event.has_more),
    versions: new Map(Object.entries(event.versions ?? {})),
    stream: stream ? initialFold(stream.message) : null,
    queue: event.queue ?? [],
    held: Boolean(event.held),
    draft: event.draft ?? "",
    runtime: event.runtime ?? IDLE_RUNTIME,
    report: event.context ?? null,
  };
  /** @type {ServerChat} */
  let folded = state;
  for (const chunk of stream?.chunks ?? []) folded = foldChunk(folded, chunk);
  return folded;
}

/** @param {ServerChat} state @param {string} id @param {Chunk} chunk @returns {ServerChat} */
function foldDelta(state, id, chunk) {
  if (state.stream?.message.id !== id) {
    throw new FoldError(`expected stream_started before the chunks of "${id}"`);
  }
  return foldChunk(state, chunk);
}

/** @param {ServerChat} state @param {Chunk} chunk @returns {ServerChat} */
function foldChunk(state, chunk) {
  const stream = state.stream && fold(state.stream, chunk);
  return { ...state, stream, report: chunk.type === "data-context" ? chunk.data : state.report };
}

/** @param {ServerChat} state @param {string} id @returns {ServerChat} */
function finishStream(state, id) {
  if (state.stream?.message.id !== id) throw new FoldError(`expected the stream of "${id}"`);
  return { ...state, messages: messagesOf(state), stream: null };
}

/** @param {ServerChat} state @param {ChatEvent} event @returns {ServerChat} */
function addMessage(state, { message, after, version }) {
  const versioned = withVersion(state, message.id, version);
  const { messages } = state;
  if (messages.some((each) => each.id === message.id)) return replaceMessage(versioned, message);
  const index = after == null ? -1 : messages.findIndex((each) => each.id === after);
  if (after != null && index < 0) throw new FoldError(`expected a message "${after}"`);
  const at = after == null && state.hasMore ? messages.length : index + 1;
  return { ...versioned, messages: [...messages.slice(0, at), message, ...messages.slice(at)] };
}

/** @param {ServerChat} state @param {UIMessage} message @returns {ServerChat} */
function replaceMessage(state, message) {
  const known = state.messages.some((each) => each.id === message.id);
  return known ? { ...state, messages: withMessage(state.messages, message) } : state;
}

/** @param {ServerChat} state @param {string | null} after @returns {ServerChat} */
function truncate(state, after) {
  if (after === null) return { ...keepMessages(state, () => false), hasMore: false };
  const index = state.messages.findIndex((message) => message.id === after);
  if (index < 0 && !state.hasMore) throw new FoldError(`expected a message "${after}"`);
  const kept = new Set(state.messages.slice(0, index + 1));
  return keepMessages(state, (message) => kept.has(message));
}

/**
 * @param {ServerChat} state
 * @param {(message: UIMessage) => boolean} stays
 * @returns {ServerChat}
 */
function keepMessages(state, stays) {
  const messages = state.messages.filter(stays);
  const ids = new Set(messages.map((message) => message.id));
  const versions = new Map([...state.versions].filter(([id]) => ids.has(id)));
  return { ...state, messages, versions };
}

/**
 * @param {ServerChat} state
 * @param {string} id
 * @param {Version | undefined} version
 * @returns {ServerChat}
 */
function withVersion(state, id, version) {
  if (!version) return state;
  return { ...state, versions: new Map(state.versions).set(id, version) };
}

/**
 * @param {ServerChat} state
 * @returns {readonly UIMessage[]} the messages with the streaming answer
 */
export function messagesOf(state) {
  if (!state.stream) return state.messages;
  return withMessage(state.messages, settleInputs(state.stream).message);
}

/**
 * Keeps the older messages that were loaded before a new snapshot, which holds the newest only.
 * @param {ServerChat | null} before
 * @param {ServerChat} next
 * @returns {ServerChat}
 */
export function keepEarlier(before, next) {
  const first = next.messages[0]?.id;
  const index = before?.messages.findIndex((message) => message.id === first) ?? -1;
  if (!before || !next.hasMore || index <= 0) return next;
  const versions = Object.fromEntries(before.versions);
  return withEarlier(next, before.messages.slice(0, index), before.hasMore, versions);
}

/**
 * @param {ServerChat} state
 * @param {readonly UIMessage[]} earlier
 * @param {boolean} hasMore
 * @param {Versions} [versions]
 * @returns {ServerChat}
 */
export function withEarlier(state, earlier, hasMore, versions = {}) {
  const known = new Set(state.messages.map((message) => message.id));
  const added = earlier.filter((message) => !known.has(message.id));
  return {
    ...state,
    messages: [...added, ...state.messages],
    hasMore: hasMore && added.length > 0,
    versions: new Map([...Object.entries(versions), ...state.versions]),
  };
}

/**
 * Folds an event of the list of chats.
 * @param {readonly ChatEntry[]} chats
 * @param {ChatEvent} event
 * @returns {readonly ChatEntry[]} the chat that was changed last first
 */
export function foldFeed(chats, event) {
  switch (event.type) {
    case "snapshot":
      return event.chats;
    case "chat_created":
    case "chat_changed": {
      const others = chats.filter((each) => each.id !== event.chat.id);
      const before = chats.find((each) => each.id === event.chat.id);
      return newestFirst([...others, { ...before, ...event.chat }]);
    }
    case "chat_deleted":
      return chats.filter((each) => each.id !== event.chat_id);
    default:
      return chats;
  }
}
