// @ts-check
/**
 * The server's state of one chat: follows the chat's events, folds them, and loads pages of
 * messages: older ones, or those around a message that is far from the end (a stretch). Commands
 * are left to `chat.js`.
 */

import { followEvents } from "../services/events.js";
import { createDurations } from "./durations.js";
import { FoldError } from "./fold-state.js";
import { foldEvent, keepEarlier, withEarlier } from "./fold-events.js";
import { foldStretch, withLater, withOlder } from "./stretch.js";

/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").StoredChat} StoredChat */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/** Messages per page. */
export const PAGE = 60;

/**
 * @typedef {object} StreamListener
 * @property {(event: ChatEvent | null) => void} changed null: messages were loaded
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
  /** @type {import("./stretch.js").Stretch | null} */
  let stretch = null;
  /** @type {import("../services/events.js").Following | null} */
  let following = null;
  /** @type {import("../services/events.js").Position | null} */
  let position = null;
  /** @type {((server: ServerChat | null) => void)[]} */
  let waiting = [];
  /** @type {Promise<boolean> | null} */
  let older = null;
  /** @type {Promise<boolean> | null} */
  let later = null;
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
    if (stretch) ({ server, stretch } = foldStretch(server, stretch, event));
    if (stretch && event.type === "snapshot") void renew(stretch);
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
          position = following?.stop() ?? null;
          listener.refused(error);
          settle();
        },
      },
      server ? position : null,
    );
  }

  const first = () => (stretch ?? server)?.messages[0]?.id;

  async function fetchOlder() {
    const before = first();
    const page = await api.chat(id, { limit: PAGE, before }).catch(() => null);
    if (!server || !page || first() !== before) return false;
    if (stretch) stretch = withOlder(stretch, page);
    else server = withEarlier(server, page.messages, page.has_more, page.versions);
    listener.changed(null);
    return true;
  }

  async function fetchLater() {
    const from = stretch;
    const after = from?.messages.at(-1)?.id;
    const page = await api.chat(id, { limit: PAGE, after }).catch(() => null);
    if (!server || !page || stretch !== from) return false;
    ({ server, stretch } = withLater(server, from, page));
    listener.changed(null);
    return true;
  }

  /**
   * Loads a stretch again after a snapshot: the path may be another one by now.
   * @param {import("./stretch.js").Stretch} from
   */
  async function renew(from) {
    const around = from.messages[from.messages.length >> 1]?.id;
    const page = around ? await api.chat(id, { limit: PAGE, around }).catch(() => null) : null;
    if (!server || stretch !== from) return;
    stretch = null;
    if (page) ({ server, stretch } = withLater(server, null, page));
    listener.changed(null);
  }

  return {
    server: () => server,
    durations: durations.all,
    open,
    /** @returns {boolean} whether the server has refused to send the chat's events */
    isRefused: () => following?.stopped() ?? false,

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

    stretch: () => stretch,
    /** @param {string} messageId @returns {boolean} whether the message is among those shown */
    shows: (messageId) =>
      Boolean((stretch ?? server)?.messages.some((message) => message.id === messageId)),

    /** @returns {Promise<boolean>} whether messages were added */
    loadOlder() {
      if (!(stretch ?? server)?.hasMore) return Promise.resolve(false);
      older ??= fetchOlder().finally(() => {
        older = null;
      });
      return older;
    },

    /** @returns {Promise<boolean>} whether messages were added after the stretch */
    loadLater() {
      if (!stretch) return Promise.resolve(false);
      later ??= fetchLater().finally(() => {
        later = null;
      });
      return later;
    },

    /** Shows the page of messages around one of them. @param {StoredChat} page */
    showPage(page) {
      if (!server) return;
      ({ server, stretch } = withLater(server, null, page));
      listener.changed(null);
    },

    /** Leaves the stretch: the messages at the end are shown again. */
    toLatest() {
      if (!stretch) return;
      stretch = null;
      listener.changed(null);
    },
  };
}
