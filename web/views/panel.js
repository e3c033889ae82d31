// @ts-check
/**
 * The panel's elements: header, the current page, composer, popover. Draws the state at most once
 * per frame. Holds no state of its own, so it can be destroyed and created again.
 */

import { isBusy } from "../state/chat.js";
import { textOf } from "../state/messages.js";
import { t } from "../strings.js";
import { nameOf } from "../text/plain.js";
import { handleOf } from "../text/slash.js";
import { createChatNotes } from "./chat-notes.js";
import { createChatsPage } from "./chats-page.js";
import { createComposer } from "./composer.js";
import { createConversation } from "./conversation.js";
import { createDataPage } from "./data-page.js";
import { h, icon, setText, show } from "./dom.js";
import { createErrorActions } from "./error-actions.js";
import { createServerCard } from "./error-card.js";
import { keepFocusInside, typeInto } from "./focus.js";
import { createGateCard } from "./gate-card.js";
import { keepKeysInside } from "./isolation.js";
import { followPictures } from "./lightbox.js";
import { measureGutter } from "./gutter.js";
import { createHeader } from "./header.js";
import { createLiveRegion } from "./live-region.js";
import { createMemoryPage } from "./memory-page.js";
import { createPopovers } from "./popovers.js";
import { followPutting } from "./put-text.js";
import { createSettingsPage } from "./providers.js";
import { createQueue } from "./queue.js";
import { createSharePage } from "./share-page.js";
import { createSkillsPage } from "./skills-page.js";
import { createToast } from "./toast.js";
import { createWelcome } from "./welcome.js";
import { followWrapping } from "./wrapping.js";

/** @typedef {import("../services/host.js").Host} Host */
/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../state/panel.js").Panel} Panel */
/** @typedef {import("../types.js").PanelState} PanelState */
/**
 * What the panel shows and puts on the canvas.
 * @typedef {ReturnType<typeof import("../services/canvas-view.js").createCanvasView> &
 *   ReturnType<typeof import("../services/prompt-target.js").createPromptTarget>} Canvas
 */

/**
 * @param {Panel} panel
 * @param {Host} host
 * @param {Canvas} canvas
 * @param {() => void} close closes the side bar
 * @returns {{element: HTMLElement, focus(): void, destroy(): void}} `focus`: begins the work in the
 *   panel
 */
export function createPanelView(panel, host, canvas, close) {
  const header = createHeader({
    back: () => goBack(),
    newChat: () => newChat(),
    showPage: panel.showPage,
    items: () => [
      { label: t("panel.temporary"), run: () => newChat(true) },
      { label: t("panel.memory"), run: () => panel.showPage("memory") },
      { label: t("panel.skills"), run: () => panel.showPage("skills") },
      { label: t("panel.data"), run: () => panel.showPage("data") },
    ],
    close,
  });

  /**
   * Remembers the open chat: what it does not take is given back to it, also when another one is open
   * by then.
   * @returns {(text: string, files: readonly Attachment[]) => void}
   */
  const givingBack = () => {
    const asked = panel.chat();
    return (text, files) => {
      if (panel.get().chat.id === asked.get().id) composer.giveBack(text, files);
      else panel.keepUnsent(asked, text, files);
    };
  };

  const popovers = createPopovers(panel);
  const live = createLiveRegion();
  const composer = createComposer({
    send: (text, files) => panel.send(text, files, { typed: true }),
    stop: () => panel.chat().stop(),
    run: (command) => run(command),
    openReport: popovers.openReport,
    openModels: () => void popovers.openModels(),
    openModes: popovers.openModes,
    keepDraft: panel.keepDraft,
    attached: panel.attached,
  });
  const memoryActions = {
    forget: panel.forget,
    lookUp: panel.lookUp,
    showMemory: panel.showMemory,
    openMemory: () => {
      panel.memoryTold();
      panel.showPage("memory");
    },
    memoryTold: panel.memoryTold,
  };
  const conversation = createConversation({
    answer: {
      memories: memoryActions,
      markdown: host.markdown,
      regenerate: () => panel.chat().regenerate(),
      goOn: () => goOn(),
      act: (action) => act(action),
      approve: (part, remember) => panel.chat().approve(part, remember),
      reject: async (part, instead) => {
        const giveBack = givingBack();
        const taken = await panel.chat().reject(part, instead);
        if (!taken && instead) giveBack(instead, []);
      },
      answer: async (part, answer) => {
        const giveBack = givingBack();
        const taken = await panel.chat().answer(part, answer);
        if (!taken && answer.text) giveBack(answer.text, []);
      },
      undoEdits: (id) => panel.chat().undoEdits(id),
      redoEdits: (id) => panel.chat().redoEdits(id),
      showNode: canvas.show,
      branch: panel.branch,
      showVersion: (id) => panel.chat().switchVersion(id),
    },
    user: {
      resend: (text, files, replaces) => panel.send(text, files, { replaces }),
      givingBack,
      branch: panel.branch,
      showVersion: (id) => panel.chat().switchVersion(id),
    },
    loadOlder: () => panel.chat().loadOlder(),
    loadLater: () => panel.chat().loadLater(),
    toLatest: () => panel.chat().toLatest(),
  });
  const welcome = createWelcome({
    ask: (text) => panel.send(text, []),
    start: () => {
      panel.welcome();
      composer.focus();
    },
    look: panel.refreshHealth,
    setUp: () => panel.editProvider(""),
    chooseModel: () => void popovers.openModels(),
  });
  const gate = h("div", { class: "ca-gate" });
  const pages = {
    chats: createChatsPage({
      open: panel.openChat,
      openMessage: panel.openMessage,
      search: panel.searchChats,
      more: panel.moreChats,
      rename: panel.renameChat,
      pin: panel.pinChat,
      remove: panel.deleteChat,
      exportAs: panel.exportChat,
      share: panel.shareChat,
      importFile: panel.importChat,
      cleanUp: { old: panel.oldChats, remove: panel.cleanUp },
    }),
    settings: createSettingsPage(panel),
    skills: createSkillsPage((skill) => {
      panel.showPage("chat");
      // In place of a command that was begun, or of a skill that was chosen before.
      const typed = composer.textBox.value.replace(/^\/\w*$|^\/skill\s+\S*\s*/i, "");
      composer.setValue(`/skill ${handleOf(skill, panel.get().skills)} ${typed}`);
      composer.focus();
    }),
    memory: createMemoryPage(panel),
    data: createDataPage(panel),
    share: createSharePage(panel),
  };
  const notes = createChatNotes({
    tryNow: panel.tryNow,
    takeOver: () => panel.chat().takeOver(),
    bringCanvas: () => panel.chat().bringCanvas(),
    hideOffer: () => panel.chat().hideOffer(),
    newChat: () => newChat(),
    openSettings: () => panel.showPage("settings"),
  });
  const queue = createQueue({
    async cancel(id, text, files) {
      const asked = panel.chat();
      const giveBack = givingBack();
      if (!(await asked.cancelQueued(id))) return;
      const stays = panel.get().chat.id === asked.get().id;
      // The text goes back into the composer, unless the user is writing something else.
      if (!stays || composer.isEmpty()) giveBack(text, files);
      if (stays) composer.focus();
    },
    resume: () => panel.chat().resumeQueue(),
  });
  const toast = createToast({
    undo: panel.undoDelete,
    forget: panel.forgetLearned,
    close: panel.dismissToast,
  });
  const dock = h("div", { class: "ca-dock" }, notes.element, queue.element, composer.element);
  const temporary = h(
    "p",
    { class: "ca-temporary", role: "note", hidden: true },
    icon("mask"),
    h("span", {}, t("temporary.about")),
  );
  const chatPage = h("div", { class: "ca-chat" }, gate, welcome.element, conversation.element);
  const element = h(
    "div",
    { class: "ca-panel" },
    header.element,
    temporary,
    chatPage,
    ...Object.values(pages).map((page) => page.element),
    popovers.element,
    toast.element,
    dock,
    live.element,
  );

  /** @type {PanelState | null} */
  let drawn = null;
  let frame = 0;

  const goOn = () => panel.send(t("cut.prompt"), []);

  const goBack = () => panel.showPage(parentOf(panel.get().page));

  const newChat = (temporary = false) => {
    void (temporary ? panel.newTemporaryChat() : panel.newChat());
    composer.focus();
  };

  /** @param {import("../text/slash.js").PanelCommand} command */
  const run = (command) => {
    if (command === "new") newChat();
    else if (command === "model") void popovers.openModels();
    else panel.showPage(command);
  };

  const act = createErrorActions(panel, {
    newChat,
    goOn: () => void goOn(),
    openModels: () => void popovers.openModels(),
    edit: conversation.edit,
  });

  /** @param {PanelState} state */
  const drawGate = (state) => {
    if (state.gate === drawn?.gate && state.unreachable === drawn?.unreachable) return;
    const card = state.gate
      ? createGateCard(state.gate, { again: panel.refreshAll, unlock: panel.unlock })
      : state.unreachable && !state.health
        ? createServerCard(panel.tryNow)
        : null;
    gate.replaceChildren(...(card ? [card] : []));
    show(gate, card !== null);
  };

  /** @param {PanelState} state */
  const drawPage = (state) => {
    const page = state.page;
    show(chatPage, page === "chat");
    show(dock, page === "chat" && !state.gate);
    for (const [name, view] of Object.entries(pages)) show(view.element, page === name);
    header.update(page, parentOf(page));
    if (page === "settings" && drawn?.page !== "settings")
      void panel.refreshSettings().catch(panel.refused);
    if (page === "data" && drawn?.page !== "data") pages.data.open();
    if (page === drawn?.page || drawn === null) return;
    popovers.close();
    if (page === "chat") {
      // After a search the target message gets the focus instead.
      if (state.chat.target === drawn.chat.target) composer.focus();
    } else if (page === "chats") pages.chats.focus();
    else if (page !== "memory" || !state.memory.target) header.title.focus();
  };

  const draw = () => {
    frame = 0;
    const state = panel.get();
    drawPage(state);
    drawGate(state);
    const name = state.page === "chat" ? titleOf(state.chat) : t(`panel.${state.page}`);
    setText(header.title, name);
    header.title.title = name;
    show(temporary, state.page === "chat" && state.chat.temporary);
    element.classList.toggle("ca-panel--temporary", state.chat.temporary);
    if (state.page === "chat") {
      const empty = !state.chat.messages.length && !state.chat.loading && !state.chat.failure;
      show(welcome.element, empty && gate.hidden);
      // The log exists before its first message, so that screen readers announce this message too.
      conversation.element.classList.toggle("ca-conversation--empty", empty);
      welcome.update(state);
      conversation.update(state.chat, state.health?.provider?.model ?? "", state.memory);
    } else {
      pages[state.page].update(state);
    }
    if (state.chat.id !== drawn?.chat.id) composer.open(state.chat.id, panel.draft());
    else if (state.chat.draft !== drawn.chat.draft) composer.offer(panel.draft());
    composer.update(state);
    notes.update(state.chat, state.workflow, state.health);
    queue.update(state.chat);
    toast.update(state.toast);
    element.classList.toggle("ca-panel--tokens", state.tokens);
    popovers.update(state.chat, drawn?.chat);
    live.update(state.chat);
    drawn = state;
  };

  const unsubscribe = panel.subscribe(() => {
    if (!frame) frame = requestAnimationFrame(draw);
  });
  /** What has the focus where the page has nothing else: on touch no keyboard comes up unasked. */
  const resting = () => {
    if (panel.get().page !== "chat") return header.title;
    return dock.hidden || matchMedia("(pointer: coarse)").matches ? null : composer.textBox;
  };
  const endFocus = keepFocusInside(element, resting);
  typeInto(element, composer.textBox);
  keepKeysInside(element, {
    escape: () => {
      const { page, chat } = panel.get();
      if (page !== "chat") goBack();
      else if (isBusy(chat) && chat.status !== "stopping") void panel.chat().stop();
    },
    drop: (files) => composer.attach(files),
  });
  draw();
  element.addEventListener("ca-export", (event) => {
    const { id, format, name } = /** @type {CustomEvent} */ (event).detail;
    void panel.exportChat(id, format, name);
  });
  followPictures(element);
  followWrapping(element, panel.wraps(), panel.setWraps);
  const endPutting = followPutting(element, canvas);
  requestAnimationFrame(() => element.isConnected && measureGutter(element));

  return {
    element,
    focus: () => (resting() ?? element).focus({ preventScroll: true }),
    destroy() {
      endFocus();
      endPutting();
      unsubscribe();
      cancelAnimationFrame(frame);
      popovers.close();
      header.close();
      pages.chats.close();
      pages.memory.close();
    },
  };
}

/** @param {import("../types.js").Page} page @returns {"chat" | "chats" | "settings"} */
const parentOf = (page) => (page === "data" ? "settings" : page === "share" ? "chats" : "chat");

/** Most characters of the first message used as title; the header shortens them to fit. */
const TITLE_LENGTH = 80;

/** @param {import("../types.js").ChatState} chat @returns {string} */
function titleOf(chat) {
  const first = chat.messages.find((message) => message.role === "user");
  const named = nameOf(chat.title) || nameOf(first ? textOf(first) : "", TITLE_LENGTH);
  return named || t(chat.temporary ? "temporary.title" : "panel.title");
}
