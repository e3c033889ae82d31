// @ts-check
/** State and actions of the chats page, without elements: live list, search, changes of chats. */

import { ApiError } from "../services/api.js";
import { followEvents } from "../services/events.js";
import { t } from "../strings.js";
import { newestFirst } from "../text/chat-list.js";
import { errorText } from "../text/format.js";
import { foldFeed } from "./fold-events.js";

/** @typedef {import("../services/api.js").ExportFormat} ExportFormat */
/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").PanelState} PanelState */

/** Most chats in a snapshot of the list. */
const LISTED = 200;
/** Chats per page of older chats. */
const PAGE = 50;
/** Milliseconds without a keystroke before the search is sent. */
const REST = 180;
/** Milliseconds that a toast is shown; the server can undo a deletion for one minute. */
const TOAST_TIME = 30_000;

/**
 * @typedef {object} ListServices
 * @property {import("../services/api.js").Api} api
 * @property {(milliseconds: number) => Promise<void>} wait
 * @property {(run: () => void, milliseconds: number) => () => void} later returns the cancel
 *   function
 * @property {(file: Response, name: string, wanted?: string) => Promise<void>} download
 */

/** The search state without a query. */
export const NO_SEARCH = { query: "", results: null, failed: "" };

/**
 * @param {ListServices} services
 * @param {import("./store.js").Store<PanelState>} store
 * @param {{open: (id: string) => unknown, current: () => string, leave: () => unknown,
 *   back: (id: string) => unknown, learnedFrom: (id: string) => Promise<number>,
 *   changed: () => void}} shown `open` opens a chat, `current` returns the id of the open chat;
 *   `leave` replaces the open chat with a new one and `back` with the given one, both without a
 *   change of page; `learnedFrom`: how many memories came from a chat; `changed`: memories went or
 *   came back with a chat
 */
export function createChatsList(services, store, shown) {
  const { api, later } = services;
  /** @type {import("../services/events.js").Following | null} */
  let feed = null;
  let cancelSearch = () => {};
  let cancelToast = () => {};

  const listed = () => store.get().chats ?? [];

  /** @param {ChatEvent} event @returns {boolean} */
  function take(event) {
    const before = listed();
    const folded = foldFeed(before, event);
    if (event.type !== "snapshot") store.set({ chats: [...folded] });
    else {
      // Older pages that were loaded before stay.
      const oldest = folded.at(-1)?.updated ?? "";
      const known = new Set(folded.map((chat) => chat.id));
      const below = before.filter((chat) => !known.has(chat.id) && chat.updated < oldest);
      const moreChats = below.length ? store.get().moreChats : folded.length >= LISTED;
      store.set({ chats: [...folded, ...below], moreChats });
    }
    return true;
  }

  /** @param {PanelState["toast"]} toast */
  function say(toast) {
    cancelToast();
    store.set({ toast });
    cancelToast = later(() => store.set({ toast: null }), TOAST_TIME);
  }

  /** @param {unknown} error */
  const complain = (error) => say({ kind: "said", text: errorText(error) });

  /**
   * Shows a change before the server confirms it, and undoes the change when the server refuses it.
   * @param {ChatEntry[]} chats
   * @param {() => Promise<unknown>} send
   */
  async function change(chats, send) {
    const before = store.get().chats;
    if (before) store.set({ chats });
    try {
      await send();
      return true;
    } catch (error) {
      store.set({ chats: before });
      complain(error);
      return false;
    }
  }

  /** @param {string} id @param {{title?: string, pinned?: boolean}} changes */
  const changed = (id, changes) =>
    change(
      listed().map((chat) => (chat.id === id ? { ...chat, ...changes } : chat)),
      () => api.changeChat(id, changes),
    );

  /** @param {string} query */
  async function search(query) {
    try {
      const results = await api.search(query);
      if (store.get().search.query === query) store.set({ search: { query, results, failed: "" } });
    } catch (error) {
      const failed = errorText(error);
      if (store.get().search.query === query) {
        store.set({ search: { query, results: [], failed } });
      }
    }
  }

  return {
    /** Follows the list's events until `closeList`. */
    openList() {
      if (feed && !feed.stopped()) return;
      feed = followEvents({
        open: (position, signal) => api.subscribe(null, position, signal),
        wait: services.wait,
        take,
        onLost: () => undefined,
        onRefused: complain,
      });
    },
    closeList() {
      feed?.stop();
      feed = null;
    },

    /** Loads the next page of older chats. */
    async moreChats() {
      // A pinned chat may be older than the page, so it cannot say where the next page starts.
      const last = newestFirst(listed().filter((chat) => !chat.pinned)).at(-1);
      const before = last ? { before: last.id } : {};
      const more = await api.chats({ limit: PAGE, ...before }).catch(complain);
      if (!more) return;
      const known = new Set(listed().map((chat) => chat.id));
      store.set({
        chats: [...listed(), ...more.filter((chat) => !known.has(chat.id))],
        moreChats: more.length === PAGE,
      });
    },

    /** @param {string} typed */
    searchChats(typed) {
      const query = typed.trim();
      cancelSearch();
      if (query === store.get().search.query) return;
      const { results } = store.get().search;
      store.set({ search: query ? { query, results, failed: "" } : NO_SEARCH });
      if (query) cancelSearch = later(() => void search(query), REST);
    },

    /** @param {string} id @param {string} title */
    renameChat: (id, title) => changed(id, { title }),
    /** @param {string} id @param {boolean} pinned */
    pinChat: (id, pinned) => changed(id, { pinned }),

    /** @param {string} id */
    async deleteChat(id) {
      const title = listed().find((chat) => chat.id === id)?.title ?? store.get().chat.title;
      const others = listed().filter((chat) => chat.id !== id);
      if (!(await change(others, () => api.deleteChat(id)))) return;
      const open = id === shown.current();
      if (open) shown.leave();
      /** @type {PanelState["toast"]} */
      const toast = { kind: "deleted", chat: { id, title }, open };
      say(toast);
      const learned = await shown.learnedFrom(id).catch(() => 0);
      if (learned && store.get().toast === toast) say({ ...toast, learned });
    },

    /** What was learned from the chat that was just deleted goes, too: one undo brings both back. */
    async forgetLearned() {
      const { toast } = store.get();
      if (toast?.kind !== "deleted" || !toast.learned) return;
      const { learned, ...rest } = toast;
      try {
        // The server takes both together, from a chat that is there.
        await api.restoreChat(toast.chat.id);
        await api.deleteChat(toast.chat.id, true);
        shown.changed();
        say({ ...rest, forgotten: learned });
      } catch (error) {
        complain(error);
      }
    },

    async undoDelete() {
      const { toast } = store.get();
      if (!toast || toast.kind === "said") return;
      store.set({ toast: null });
      try {
        if (toast.kind === "cleaned") {
          for (const id of toast.ids) await api.restoreChat(id);
          return;
        }
        if (toast.kind === "gone") {
          await toast.back();
          return;
        }
        await api.restoreChat(toast.chat.id);
        if (toast.forgotten) shown.changed();
        if (toast.open) shown.back(toast.chat.id);
      } catch (error) {
        complain(error);
      }
    },

    /** The chats that a clean-up would delete. @param {number} days without a change */
    oldChats: (days) => api.cleanUp(days, true),

    /** Deletes the chats that did not change for so long. @param {number} days */
    async cleanUp(days) {
      try {
        const gone = new Set((await api.cleanUp(days, false)).map(({ id }) => id));
        const { chats } = store.get();
        store.set({ chats: chats && chats.filter(({ id }) => !gone.has(id)) });
        if (gone.has(shown.current())) shown.leave();
        say({ kind: "cleaned", ids: [...gone] });
      } catch (error) {
        complain(error);
      }
    },

    dismissToast: () => store.set({ toast: null }),
    /** @param {string} text */
    sayToast: (text) => say({ kind: "said", text }),
    /** @param {string} text @param {() => Promise<unknown>} back brings back what was deleted */
    offerBack: (text, back) => say({ kind: "gone", text, back }),
    complain,

    /** @param {string} id @param {ExportFormat} format @param {string} [name] of the file */
    async exportChat(id, format, name) {
      try {
        await services.download(await api.exportChat(id, format), `chat-${id}`, name);
      } catch (error) {
        complain(error);
      }
    },

    /** @param {{name: string, text(): Promise<string>}} file */
    async importChat(file) {
      try {
        const id = await api.importChat(formatOf(file.name), await file.text());
        say({ kind: "said", text: t("chats.imported") });
        shown.open(id);
      } catch (error) {
        if (error instanceof ApiError && error.status === 400) {
          say({ kind: "said", text: t("chats.import.failed") });
        } else complain(error);
      }
    },
  };
}

/** @param {string} name of a file @returns {import("../services/api.js").ImportFormat} */
function formatOf(name) {
  if (/\.jsonl$/i.test(name)) return "jsonl";
  return /\.(md|markdown)$/i.test(name) ? "share" : "trajectory";
}
