// @ts-check
/**
 * The panel's state and actions, without any element: which chat is open, which page is shown, the
 * server's health and settings. Lives as long as the browser's page.
 */

import { t } from "../strings.js";
import { createChat, isBusy } from "./chat.js";
import { createChatsList, NO_SEARCH } from "./chats-list.js";
import { createInstallation } from "./installation.js";
import { createLearning } from "./learning.js";
import { createMemories, noMemories } from "./memories.js";
import { textOf } from "./messages.js";
import { createPlaces } from "./places.js";
import { createPresence } from "./presence.js";
import { createProviders } from "./provider-actions.js";
import { createShare } from "./share.js";
import { createStore } from "./store.js";
import { createUserData } from "./user-data.js";
import { createWorkflowSentence } from "./workflow-sentence.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").Page} Page */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {Omit<import("./chat.js").ChatServices, "outbox"> &
 *   import("./chats-list.js").ListServices & {
 *   storage: import("../services/storage.js").PanelStorage,
 *   tabStorage: import("../services/storage.js").PanelStorage,
 *   readAttachment: import("./attached.js").ReadFile,
 *   summary: () => import("../types.js").WorkflowSummary | null,
 *   wake: () => void,
 * }} PanelServices
 */

/** @typedef {ReturnType<typeof createPanel>} Panel */

/** Name of the stored value that says whether answers show their tokens. */
const TOKENS = "tokens";
/** Key of the draft of a new chat, which the server does not have yet. */
const NEW = "new";
/** Codes of errors that another provider, key or model mends. */
const OF_THE_PROVIDER = new Set(["no_provider", "key_refused", "unknown_model", "unreachable"]);

/** @param {PanelServices} services */
export function createPanel(services) {
  const { api, storage, tabStorage } = services;
  const places = createPlaces(
    storage,
    services.later,
    (id, text) => (id === chat.get().id ? chat.keepDraft(text) : Promise.resolve(false)),
    [services.readAttachment, () => store.set({ attached: attached().get() })],
  );
  const { outbox } = places.kept;
  let chat = createChat({ ...services, outbox }, services.newId(), { hooks: { act, gone } });
  const store = createStore(
    /** @type {PanelState} */ ({
      page: "chat",
      chat: chat.get(),
      attached: attached().get(),
      chats: null,
      moreChats: false,
      search: NO_SEARCH,
      memory: noMemories(storage),
      toast: null,
      commands: null,
      skills: [],
      health: null,
      settings: null,
      gate: null,
      unreachable: false,
      welcomed: storage.get("welcomed") !== null,
      workflow: services.summary(),
      sentence: "",
      share: null,
      tokens: storage.get(TOKENS) !== null,
      editing: null,
      field: "name",
      prefill: null,
      fromChat: false,
    }),
  );
  const learning = createLearning(services, store);
  let watching = watch();
  const chats = createChatsList(services, store, {
    open: (id) => openChat(id, true),
    current: () => chat.get().id,
    leave: () => changeChat(services.newId(), false),
    back: (id) => changeChat(id, true),
    learnedFrom: learning.learnedFrom,
    changed: () => store.set({ memory: { ...store.get().memory, known: new Map() } }),
  });
  const { complain, ...listActions } = chats;
  const memories = createMemories(services, store, {
    offerBack: chats.offerBack,
    complain,
    showPage: (page) => showPage(page),
  });
  const presence = createPresence({
    later: services.later,
    works: () => chat.works(),
    rest() {
      // The server ends a temporary chat that nobody reads.
      if (!chat.get().temporary) chat.rest();
      chats.closeList();
    },
    wake() {
      chat.wake();
      if (store.get().page === "chats") chats.openList();
    },
  });

  function draftKey() {
    return chat.get().known ? chat.get().id : NEW;
  }

  /** The files attached to the next message of the open chat. */
  function attached() {
    return places.of(chat.get()).attached.of(draftKey());
  }

  let shown = false;
  const sentence = createWorkflowSentence(services, {
    wanted() {
      const { chat: open, page, health, workflow } = store.get();
      const empty = page === "chat" && !open.messages.length && Boolean(workflow?.nodes);
      return shown && empty && health?.provider?.demo === false;
    },
    changed: (text) => store.set({ sentence: text }),
  });

  const installation = createInstallation(services, store, () => sentence.update());

  function watch() {
    let busy = isBusy(chat.get());
    let { sent } = chat.get();
    return chat.subscribe(() => {
      const next = chat.get();
      const made = next.known && !store.get().chat.known;
      const { storage: values, drafts, attached: files } = places.of(next);
      if (made) files.move(NEW, next.id);
      store.set({ chat: next });
      if (made) drafts.move(NEW, next.id);
      if (!next.temporary && (made || next.sent !== sent)) opensNext(next.id);
      sent = next.sent;
      if (busy && !isBusy(next) && next.report) {
        values.set("report", JSON.stringify({ chat: next.id, report: next.report }));
      }
      busy = isBusy(next);
      learning.followKept(next);
    });
  }

  /** What a reload of this tab opens, and a new tab. @param {string | null} id null: a new chat */
  function opensNext(id) {
    storage.set("chat", id);
    // Other tabs change the browser's value. "" says that this tab has a new chat.
    tabStorage.set("chat", id ?? "");
  }

  /**
   * The last context report of a chat, stored in this browser: the server loses it at a restart.
   * @param {string} id
   */
  function storedReport(id) {
    try {
      const kept = JSON.parse(storage.get("report") ?? "null");
      return kept?.chat === id ? kept.report : null;
    } catch {
      return null;
    }
  }

  /**
   * @param {string} id
   * @param {boolean} known whether the server has the chat
   * @param {boolean} [temporary]
   */
  function openChat(id, known, temporary) {
    const loaded = changeChat(id, known, temporary);
    showPage("chat");
    return loaded;
  }

  /**
   * Replaces the open chat and leaves the page as it is: after deleting a chat in the list, the
   * user stays in the list.
   * @param {string} id
   * @param {boolean} known
   * @param {boolean} [temporary]
   */
  function changeChat(id, known, temporary = false) {
    watching();
    chat.leave();
    endTemporary();
    const hooks = { act, gone };
    const { outbox } = places.of({ temporary });
    const from = { known, temporary, report: storedReport(id), hooks };
    chat = createChat({ ...services, outbox }, id, from);
    watching = watch();
    opensNext(!temporary && (known || outbox.of(id).length) ? id : null);
    store.set({ chat: chat.get(), attached: attached().get(), workflow: services.summary() });
    learning.followKept(chat.get());
    sentence.update();
    return chat.load();
  }

  /** A temporary chat is gone when it is left, here and on the server. */
  function endTemporary() {
    const { temporary, known, id, messages } = chat.get();
    if (!temporary) return;
    places.clear();
    if (!known) return;
    void api.endChat(id).catch(() => undefined);
    if (messages.length) chats.sayToast(t("temporary.gone"));
  }

  /** The server does not have the chat any more. @param {boolean} wasShown */
  function gone(wasShown) {
    if (chat.get().temporary) {
      void changeChat(services.newId(), false, true);
      chats.sayToast(t("temporary.ended"));
      return;
    }
    const { outbox, drafts, attached: files } = places.kept;
    // What is in the composer stays there, as the draft of the new chat, with what was not sent.
    const { id, draft } = chat.get();
    files.move(id, NEW);
    const lost = outbox.of(id).map(({ message }) => message);
    for (const message of lost) outbox.remove(message.id);
    const typed = store.get().page === "chat" ? drafts.of(id, draft) : "";
    const texts = [...lost.map(textOf), typed].filter(Boolean);
    if (texts.length) drafts.type(NEW, texts.join("\n\n"));
    void changeChat(services.newId(), false);
    const said = store.get().toast?.kind;
    if (wasShown && said !== "deleted" && said !== "cleaned") chats.sayToast(t("chats.gone"));
  }

  /** @param {boolean} shown */
  function showTokens(shown) {
    storage.set(TOKENS, shown ? "1" : null);
    store.set({ tokens: shown });
  }

  /** Action of a slash command. @param {import("./chat.js").SlashAction} asked */
  function act({ action, chat_id: id, format, name }) {
    if (action === "new_chat") void openChat(services.newId(), false);
    else if (action === "open_chat" && id) void openChat(id, true);
    else if (action === "delete_chat" && chat.get().temporary) {
      void openChat(services.newId(), false);
    } else if (action === "delete_chat") void chats.deleteChat(id ?? chat.get().id);
    else if (action === "export_chat" && id && format) void chats.exportChat(id, format, name);
    else if (action === "show_tokens" || action === "hide_tokens") {
      showTokens(action === "show_tokens");
    }
  }

  /** @param {Page} page */
  function showPage(page) {
    if (page === "chats") chats.openList();
    else chats.closeList();
    store.set({ page, editing: null, search: NO_SEARCH });
    if (page === "skills") void installation.refreshSkills();
    if (page === "memory") void memories.openMemory();
  }

  const drafts = () => places.of(chat.get()).drafts;

  /**
   * A question that had no answer for want of a provider is asked once more, in the chat.
   * @param {boolean} fromChat whether the chat is shown in any case
   */
  function askAgain(fromChat) {
    const { messages, status } = chat.get();
    const failed = OF_THE_PROVIDER.has(messages.at(-1)?.metadata?.error?.code ?? "");
    if (!fromChat && !failed) return;
    welcome();
    showPage("chat");
    if (failed && status === "idle") void chat.regenerate();
  }

  function welcome() {
    storage.set("welcomed", "1");
    store.set({ welcomed: true });
  }

  /** Shows the panel as it is the first time, after everything was deleted. */
  async function begin() {
    places.kept.attached.clear();
    const memory = noMemories(storage);
    const nothing = { share: null, chats: null, moreChats: false, memory };
    store.set({ welcomed: false, tokens: false, ...nothing });
    void openChat(services.newId(), false);
    await installation.refreshAll();
  }

  /**
   * @param {string} text
   * @param {readonly Attachment[]} files
   * @param {{typed?: boolean, replaces?: string}} [how] `typed`: the text was the chat's draft, so
   *   the draft ends; `replaces`: id of the user message that the new message is a version of
   */
  async function send(text, files, { typed = false, replaces } = {}) {
    welcome();
    const sending = chat;
    if (typed) drafts().sent(draftKey());
    const taken = await sending.send(text, files, replaces);
    const { id } = sending.get();
    // What was typed meanwhile is the next draft.
    if (taken && typed) void sending.keepDraft(places.of(sending.get()).drafts.of(id, ""));
    // The server's draft is what was sent, or the beginning of it. The composer has kept the files.
    if (!taken && typed && sending !== chat) keepUnsent(sending, text, [], "");
    return taken;
  }

  /**
   * Keeps what a chat did not take after another one was opened, before its draft.
   * @param {import("./chat.js").Chat} from
   * @param {string} text
   * @param {readonly Attachment[]} files
   * @param {string} [stored] the chat's draft where this browser has none
   */
  function keepUnsent(from, text, files, stored = from.get().draft) {
    const { id, known, temporary } = from.get();
    if (temporary) return;
    const key = known ? id : NEW;
    const { drafts, attached } = places.kept;
    drafts.type(key, [text, drafts.of(key, stored)].filter(Boolean).join("\n\n"));
    const box = attached.of(key);
    if (files.length) box.set([...files, ...box.get().files]);
  }

  return {
    get: store.get,
    subscribe: store.subscribe,
    chat: () => chat,
    send,
    welcome,
    ...installation,
    ...createProviders(api, store, installation.refreshHealth, askAgain),
    ...createShare(services, store, (page) => showPage(page)),
    ...createUserData(services, { begin, say: (text) => chats.sayToast(text) }),

    /** Loads health, skills and commands, and opens the chat that was open last, best in this tab. */
    async start() {
      const last = tabStorage.get("chat") ?? storage.get("chat");
      tabStorage.set("chat", last ?? "");
      const isNew = last !== null && outbox.of(last).some(({ known }) => !known);
      const opened = last ? openChat(last, !isNew) : Promise.resolve();
      await Promise.all([opened, installation.refreshAll()]);
    },

    newChat: () => openChat(services.newId(), false),
    /** A chat of which nothing is kept. */
    newTemporaryChat: () => openChat(services.newId(), false, true),
    /** The page is being left. */
    endTemporary,
    /** @param {string} id */
    openChat: (id) => (id === chat.get().id ? showPage("chat") : openChat(id, true)),

    /** Opens a chat and scrolls to a message. @param {string} id @param {string} messageId */
    async openMessage(id, messageId) {
      if (id === chat.get().id) showPage("chat");
      else void openChat(id, true);
      await chat.find(messageId);
    },

    /** Opens a new chat with this chat's messages up to `messageId`. @param {string} messageId */
    async branch(messageId) {
      const { temporary } = chat.get();
      const id = await chat.branch(messageId);
      if (!id) return;
      // A branch of a temporary chat is one, too.
      await openChat(id, true, temporary);
      void chat.offerCanvas();
    },
    ...listActions,
    ...memories,
    ...learning,

    /** @param {Page} page shown; the page that is shown already gives way to the chat */
    showPage: (page) => showPage(page === store.get().page ? "chat" : page),

    /** @param {boolean} visible whether the panel is visible to the user */
    setShown(visible) {
      shown = visible;
      presence.show(visible);
      sentence.update();
      if (visible) chat.workflowChanged();
    },

    /** The open workflow may have changed. */
    refreshWorkflow() {
      store.set({ workflow: services.summary() });
      sentence.update();
      // While nobody looks and no turn runs, nothing reads it.
      if (shown || chat.works()) chat.workflowChanged();
    },

    /** @param {string} token @returns {Promise<boolean>} whether the server accepted it */
    async unlock(token) {
      try {
        await api.unlock(token);
      } catch {
        return false;
      }
      store.set({ gate: null });
      await Promise.all([installation.refreshAll(), chat.load()]);
      return true;
    },

    /** Tries to connect now, without waiting for the next retry. */
    tryNow() {
      services.wake();
      void installation.refreshHealth();
    },

    /** @returns {boolean} whether a reload would lose a message that is not sent yet */
    losesOnReload: outbox.isFleeting,

    /** @returns {boolean} whether long lines of code are wrapped */
    wraps: () => storage.get("wrap") !== null,
    /** @param {boolean} value */
    setWraps: (value) => storage.set("wrap", value ? "1" : null),

    attached,
    keepUnsent,
    /** @returns {string} unsent text of the open chat */
    draft: () => drafts().of(draftKey(), chat.get().draft),
    /** @param {string} text */
    keepDraft: (text) => drafts().type(draftKey(), text),
  };
}
