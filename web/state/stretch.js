// @ts-check
/**
 * Messages of the path that were loaded around a message which a search found, and that do not
 * reach the loaded messages at the end yet. Pure.
 */

import { withEarlier } from "./fold-events.js";
import { withMessage } from "./messages.js";

/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").StoredChat} StoredChat */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {import("../types.js").Versions} Versions */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/**
 * @typedef {object} Stretch
 * @property {readonly UIMessage[]} messages which follow each other
 * @property {boolean} hasMore whether the server has older messages
 * @property {Versions} versions of its messages that have more than one
 */

/**
 * @typedef {object} Loaded what the panel has of a chat; a stretch ends before the end's messages
 * @property {ServerChat} server
 * @property {Stretch | null} stretch
 */

/** @type {Stretch} */
const EMPTY = { messages: [], hasMore: false, versions: {} };

/** @param {readonly {id: string}[]} messages @param {string | null | undefined} id */
const has = (messages, id) => messages.some((message) => message.id === id);

/**
 * Adds a page that begins where the stretch ends, or that is a new stretch.
 * @param {ServerChat} server
 * @param {Stretch | null} stretch
 * @param {StoredChat} page
 * @returns {Loaded} without a stretch where the page reaches the messages at the end
 */
export function withLater(server, stretch, page) {
  const before = stretch ?? { ...EMPTY, hasMore: page.has_more };
  const meets = page.messages.findIndex((message) => has(server.messages, message.id));
  const next = {
    messages: [...before.messages, ...page.messages.slice(0, meets < 0 ? undefined : meets)],
    hasMore: before.hasMore,
    versions: { ...before.versions, ...page.versions },
  };
  if (meets === 0 && !stretch) return { server, stretch: null };
  if (meets >= 0) return { server: joined(server, next), stretch: null };
  return { server, stretch: page.has_later ? next : null };
}

/** @param {Stretch} stretch @param {StoredChat} page the messages before it @returns {Stretch} */
export const withOlder = (stretch, page) => ({
  messages: [...page.messages.filter(({ id }) => !has(stretch.messages, id)), ...stretch.messages],
  hasMore: page.has_more && page.messages.length > 0,
  versions: { ...page.versions, ...stretch.versions },
});

/**
 * @param {ServerChat} server the state after the event
 * @param {Stretch} stretch
 * @param {ChatEvent} event
 * @returns {Loaded}
 */
export function foldStretch(server, stretch, event) {
  const { messages } = stretch;
  switch (event.type) {
    case "message_updated":
      if (!has(messages, event.message.id)) return { server, stretch };
      return { server, stretch: { ...stretch, messages: withMessage(messages, event.message) } };
    case "message_removed": {
      const left = messages.filter((message) => message.id !== event.message_id);
      return { server, stretch: { ...stretch, messages: left } };
    }
    case "messages_truncated": {
      if (has(server.messages, event.after)) return { server, stretch };
      const end = messages.findIndex((message) => message.id === event.after) + 1;
      const kept = { ...stretch, messages: messages.slice(0, end) };
      return { server: end ? joined(server, kept) : server, stretch: null };
    }
    default:
      return { server, stretch };
  }
}

/** @param {ServerChat} server @param {Stretch} stretch which ends where the others begin */
const joined = (server, { messages, hasMore, versions }) =>
  withEarlier(server, messages, hasMore, versions);
