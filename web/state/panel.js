// @ts-check
/**
 * The panel's state and everything it can do, without any element: which chat is open, which page
 * is shown, what the server says about itself. Lives as long as the browser's page does.
 */

import { ApiError, NetworkError } from "../services/api.js";
import { createChat, isBusy } from "./chat.js";
import { createProviders } from "./provider-actions.js";
import { createStore } from "./store.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").Gate} Gate */
/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").SkillEntry} SkillEntry */

/**
 * @typedef {import("./turn.js").ChatServices & {
 *   memory: import("../services/storage.js").Memory,
 *   summary: () => import("../types.js").WorkflowSummary | null,
 *   wake: () => void,
 * }} PanelServices
 */

/** @typedef {ReturnType<typeof createPanel>} Panel */

/** Chats per page of the list. */
const CHATS_PAGE = 50;
/** Milliseconds until a server that did not answer is asked again. */
const HEALTH_RETRY = 3000;

/** @type {Record<string, Gate["kind"]>} error codes of the trust boundary */
const GATES = {
  host_not_allowed: "host",
  origin_not_allowed: "origin",
  token_required: "token",
};

/** @param {unknown} error @returns {Gate | null} what must be settled first, if it is that */
export function gateOf(error) {
  if (!(error instanceof ApiError)) return null;
  const kind = GATES[error.code];
  return kind
    ? { kind, message: error.message, variable: error.variable, value: error.value }
    : null;
}

/** @param {PanelServices} services */
export function createPanel(services) {
  const { api, memory } = services;
  let chat = createChat(services, services.newId());
  const store = createStore(
    /** @type {PanelState} */ ({
      page: "chat",
      chat: chat.get(),
      chats: null,
      skills: [],
      health: null,
      settings: null,
      gate: null,
      unreachable: false,
      welcomed: memory.get("welcomed") !== null,
      workflow: services.summary(),
      editing: null,
      field: "name",
      draft: null,
    }),
  );
  let watching = watch();

  function watch() {
    let busy = isBusy(chat.get());
    return chat.subscribe(() => {
      const next = chat.get();
      store.set({ chat: next });
      const ended = busy && !isBusy(next);
      busy = isBusy(next);
      if (!ended) return;
      if (next.report) memory.set("report", JSON.stringify({ chat: next.id, report: next.report }));
      void refreshChats();
    });
  }

  /**
   * The meter of the chat that was open last: only a stream would bring it again.
   * @param {string} id
   */
  function recallReport(id) {
    try {
      const kept = JSON.parse(memory.get("report") ?? "null");
      return kept?.chat === id ? kept.report : null;
    } catch {
      return null;
    }
  }

  /** @param {string} id @param {boolean} known whether the server has it */
  function openChat(id, known) {
    watching();
    chat.leave();
    chat = createChat(services, id, recallReport(id));
    watching = watch();
    memory.set("chat", known ? id : null);
    store.set({ chat: chat.get(), page: "chat", workflow: services.summary() });
    return known ? chat.load() : Promise.resolve();
  }

  /** @param {unknown} error */
  function refused(error) {
    const gate = gateOf(error);
    if (gate) store.set({ gate });
  }

  /**
   * Without health nothing else would work: any other refusal of it is shown as well.
   * @param {unknown} error
   */
  function healthRefused(error) {
    const said = error instanceof Error ? error.message : String(error);
    store.set({ gate: gateOf(error) ?? { kind: "broken", message: said } });
  }

  async function refreshHealth() {
    try {
      store.set({ health: await api.health(), gate: null, unreachable: false });
    } catch (error) {
      if (!(error instanceof NetworkError)) {
        healthRefused(error);
        return;
      }
      store.set({ unreachable: true });
      await services.wait(HEALTH_RETRY);
      if (store.get().unreachable) await refreshHealth();
    }
  }

  async function refreshChats() {
    try {
      const chats = await api.chats({ limit: CHATS_PAGE });
      store.set({ chats });
      const title = chats.find((entry) => entry.id === chat.get().id)?.title;
      if (title) chat.rename(title);
    } catch (error) {
      refused(error);
    }
  }

  async function refreshSkills() {
    const [yours, shipped] = await Promise.all([
      api.userSkills().catch(() => []),
      api.systemSkills().catch(() => []),
    ]);
    /** @type {SkillEntry[]} */
    const skills = [
      ...yours.map((skill) => ({ ...skill, yours: true })),
      ...shipped.map((skill) => ({ ...skill, yours: false })),
    ];
    store.set({ skills });
  }

  async function refreshAll() {
    await Promise.all([refreshHealth(), refreshSkills(), refreshChats()]);
  }

  function welcome() {
    memory.set("welcomed", "1");
    store.set({ welcomed: true });
  }

  /** @param {string} text @param {readonly Attachment[]} files @param {string} [replaces] */
  async function send(text, files, replaces) {
    welcome();
    memory.set("chat", chat.get().id);
    memory.set("draft", null);
    return chat.send(text, files, replaces);
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    chat: () => chat,
    send,
    welcome,
    refreshAll,
    refreshHealth,
    refreshChats,
    ...createProviders(api, store, refreshHealth),

    /** The panel's first words with the server: what it is, and the chat that was open last. */
    async start() {
      const last = memory.get("chat");
      const opened = last ? openChat(last, true) : Promise.resolve();
      await Promise.all([opened, refreshAll()]);
    },

    newChat: () => openChat(services.newId(), false),
    /** @param {string} id */
    openChat: (id) => (id === chat.get().id ? store.set({ page: "chat" }) : openChat(id, true)),

    /** Older chats, below those that are listed. */
    async moreChats() {
      const chats = store.get().chats ?? [];
      const last = chats.at(-1);
      if (!last) return;
      const more = await api.chats({ limit: CHATS_PAGE, before: last.id }).catch(() => []);
      const known = new Set(chats.map((entry) => entry.id));
      store.set({ chats: [...chats, ...more.filter((entry) => !known.has(entry.id))] });
    },
    chatsPage: CHATS_PAGE,

    /** @param {Page} page the same one again leads back to the chat */
    showPage(page) {
      const next = page === store.get().page ? "chat" : page;
      store.set({ page: next, editing: null });
      if (next === "chats") void refreshChats();
      if (next === "skills") void refreshSkills();
    },

    refreshSkills,

    refreshWorkflow: () => store.set({ workflow: services.summary() }),

    /** @param {string} token @returns {Promise<boolean>} whether it was right */
    async unlock(token) {
      try {
        await api.unlock(token);
      } catch {
        return false;
      }
      store.set({ gate: null });
      await Promise.all([refreshAll(), chat.get().messages.length ? null : chat.load()]);
      return true;
    },

    /** Tries the connection at once instead of waiting. */
    tryNow() {
      services.wake();
      void refreshHealth();
    },

    draft: () => memory.get("draft") ?? "",
    /** @param {string} text */
    keepDraft: (text) => memory.set("draft", text || null),
    refused,
  };
}
