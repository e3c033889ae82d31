// @ts-check
/**
 * The server's state of one chat: follows the chat's events, folds them, and loads older pages of
 * messages. Commands are left to `chat.js`.
 */

import { followEvents } from "../services/events.js";
import { createDurations } from "./durations.js";
import { FoldError } from "./fold-state.js";
import { foldEvent, keepEarlier, withEarlier } from "./fold-events.js";

/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/** Messages per page of older messages. */
export const PAGE = 60;

/**
 * @typedef {object} StreamListener
 * @property {(event: ChatEvent | null) => void} changed null: older messages were loaded
 * @property {(lost: boolean) => void} lost whether the server cannot be reached
 * @property {(error: import("../services/api.js").ApiError) => void} refused
 */

/** @typedef {ReturnType<typeof createChatStream>} ChatStream */

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id
 * @param {StreamListener} listener
 */
export function createChatStream(services, id, listener) {
  const { api } = services;
  const durations = createDurations(services.now);
  /** @type {ServerChat | null} */
  let server = null;
  /** @type {import("../services/events.js").Following | null} */
  let following = null;
  /** @type {import("../services/events.js").Position | null} */
  let position = null;
  /** @type {((server: ServerChat | null) => void)[]} */
  let waiting = [];
  /** @type {Promise<boolean> | null} */
  let older = null;
  let left = false;

  const settle = () => {
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve(server);
  };

  /** @param {ChatEvent} event @returns {boolean} */
  function take(event) {
    try {
      const next = foldEvent(server, event);
      server = event.type === "snapshot" ? keepEarlier(server, next) : next;
    } catch (error) {
      if (error instanceof FoldError) return false;
      throw error;
    }
    if (event.type === "stream_delta" && server.stream) {
      durations.note(server.stream.message, event.chunk);
    }
    listener.changed(event);
    if (event.type === "snapshot") settle();
    return true;
  }

  function open() {
    if (left || (following && !following.stopped())) return;
    following = followEvents(
      {
        open: (from, signal) => api.subscribe(id, from, signal),
        wait: services.wait,
        take,
        onLost: listener.lost,
        onRefused(error) {
          listener.refused(error);
          settle();
        },
      },
      server ? position : null,
    );
  }

  /** @param {number} limit */
  async function fetchOlder(limit) {
    const first = server?.messages[0]?.id;
    const page = await api.chat(id, { limit, before: first }).catch(() => null);
    if (!server || !page || server.messages[0]?.id !== first) return false;
    server = withEarlier(server, page.messages, page.has_more, page.versions);
    listener.changed(null);
    return true;
  }

  return {
    server: () => server,
    durations: durations.all,
    open,

    /** Closes the connection; `open` continues after the last event. */
    close() {
      if (following) position = following.stop();
      following = null;
      settle();
    },

    /** Closes the connection for good: another chat is open. */
    leave() {
      left = true;
      this.close();
    },

    /** @returns {Promise<ServerChat | null>} the state of the next snapshot */
    fresh() {
      if (left) return Promise.resolve(null);
      const fresh = new Promise((resolve) => waiting.push(resolve));
      if (following && !following.stopped()) following.renew();
      else {
        position = null;
        open();
      }
      return /** @type {Promise<ServerChat | null>} */ (fresh);
    },

    /** @param {number} [limit] @returns {Promise<boolean>} whether messages were added */
    loadOlder(limit = PAGE) {
      if (!server?.hasMore) return Promise.resolve(false);
      older ??= fetchOlder(limit).finally(() => {
        older = null;
      });
      return older;
    },
  };
}
