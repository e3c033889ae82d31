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
import { h, iconButton, setText, show } from "./dom.js";
import { createServerCard } from "./error-card.js";
import { keepFocusInside, typeInto } from "./focus.js";
import { createGateCard } from "./gate-card.js";
import { keepKeysInside } from "./isolation.js";
import { followPictures } from "./lightbox.js";
import { measureGutter } from "./gutter.js";
import { createLiveRegion } from "./live-region.js";
import { modelPicker } from "./model-picker.js";
import { createPopover } from "./popover.js";
import { createSettingsPage } from "./providers.js";
import { createQueue } from "./queue.js";
import { createReport } from "./report.js";
import { createSharePage } from "./share-page.js";
import { createSkillsPage } from "./skills-page.js";
import { createToast } from "./toast.js";
import { createWelcome } from "./welcome.js";
import { followWrapping } from "./wrapping.js";

/** @typedef {import("../services/host.js").Host} Host */
/** @typedef {import("../state/panel.js").Panel} Panel */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @param {Panel} panel
 * @param {Host} host
 * @param {() => void} close closes the side bar
 * @returns {{element: HTMLElement, focus(): void, destroy(): void}} `focus`: begins the work in the
 *   panel
 */
export function createPanelView(panel, host, close) {
  const title = h("h2", { class: "ca-header__title", tabindex: "-1" });
  const back = iconButton("back", t("panel.back"), {
    onclick: () => goBack(),
    hidden: true,
  });
  const chats = iconButton("clock", t("panel.chats"), { onclick: () => panel.showPage("chats") });
  const settings = iconButton("sliders", t("panel.settings"), {
    onclick: () => panel.showPage("settings"),
  });
  const header = h(
    "header",
    { class: "ca-header" },
    back,
    title,
    iconButton("plus", t("panel.new"), { onclick: () => newChat() }),
    chats,
    settings,
    iconButton("close", t("panel.close"), { onclick: close }),
  );

  const popover = createPopover();
  const live = createLiveRegion();
  const composer = createComposer({
    send: (text, files) => panel.send(text, files),
    stop: () => panel.chat().stop(),
    run: (command) => run(command),
    openReport: () => openReport(),
    openModels: () => void openModels(),
    keepDraft: panel.keepDraft,
  });
  const conversation = createConversation({
    answer: {
      markdown: host.markdown,
      regenerate: () => panel.chat().regenerate(),
      goOn: () => goOn(),
      act: (action) => act(action),
      approve: (part, remember) => panel.chat().approve(part, remember),
      reject: (part) => panel.chat().reject(part),
      branch: panel.branch,
      showVersion: (id) => panel.chat().switchVersion(id),
    },
    user: {
      resend: (text, files, replaces) => panel.send(text, files, replaces),
      giveBack: (text, files) => composer.giveBack(text, files),
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
    chooseModel: () => void openModels(),
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
      composer.setValue(`/skill ${handleOf(skill, panel.get().skills)} `);
      composer.focus();
    }),
    data: createDataPage(panel),
    share: createSharePage(panel),
  };
  const notes = createChatNotes({
    tryNow: panel.tryNow,
    takeOver: () => panel.chat().takeOver(),
    newChat: () => newChat(),
    openSettings: () => panel.showPage("settings"),
  });
  const queue = createQueue({
    async cancel(id, text, files) {
      if (!(await panel.chat().cancelQueued(id))) return;
      // The text goes back into the composer, unless the user is writing something else.
      if (composer.isEmpty()) composer.giveBack(text, files);
      composer.focus();
    },
    resume: () => panel.chat().resumeQueue(),
  });
  const toast = createToast({ undo: panel.undoDelete, close: panel.dismissToast });
  const dock = h("div", { class: "ca-dock" }, notes.element, queue.element, composer.element);
  const chatPage = h("div", { class: "ca-chat" }, gate, welcome.element, conversation.element);
  const element = h(
    "div",
    { class: "ca-panel" },
    header,
    chatPage,
    ...Object.values(pages).map((page) => page.element),
    popover.element,
    toast.element,
    dock,
    live.element,
  );

  /** @type {PanelState | null} */
  let drawn = null;
  let frame = 0;

  const goOn = () => panel.send(t("cut.prompt"), []);

  const goBack = () => panel.showPage(parentOf(panel.get().page));

  const newChat = () => {
    void panel.newChat();
    composer.focus();
  };

  const report = createReport(() => {
    popover.close();
    void panel.send("/compact", []);
  });

  const reportOf = (/** @type {PanelState} */ { chat }) => report.content(chat.report, isBusy(chat));

  const openReport = () => popover.toggle("report", t("report.title"), reportOf(panel.get()));

  const openModels = async () => {
    if (popover.name() === "models") {
      popover.close();
      return;
    }
    await panel.refreshSettings().catch(() => undefined);
    const known = panel.get().settings;
    if (!known?.providers.length) {
      panel.editProvider("");
      return;
    }
    popover.toggle(
      "models",
      t("model.choose"),
      modelPicker(known, {
        models: panel.models,
        chooseModel: (provider, model) => panel.chooseModel(provider, model).then(popover.close),
        chooseProvider: (name) => panel.useProvider(name).then(popover.close),
        manage: () => {
          popover.close();
          panel.showPage("settings");
        },
      }),
    );
  };

  /** @param {import("../text/slash.js").PanelCommand} command */
  const run = (command) => {
    if (command === "new") newChat();
    else if (command === "model") void openModels();
    else panel.showPage(command);
  };

  /** Handles the buttons of error cards. @param {string} action */
  const act = (action) => {
    const { health, chat } = panel.get();
    if (action === "retry") {
      void (chat.failure ? panel.chat().retry() : panel.chat().regenerate());
    } else if (action === "continue") void goOn();
    else if (action === "choose-model") void openModels();
    else if (action === "new-chat") newChat();
    else if (action === "enter-key") void panel.enterKey(health?.provider?.name ?? "");
    else if (action === "try-now") panel.tryNow();
    else if (action === "dismiss") panel.chat().dismissFailure();
    else if (action === "open-settings" && !health?.provider) panel.editProvider("");
    else panel.showPage("settings");
  };

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
    show(back, page !== "chat");
    const leads = t(BACK[parentOf(page)]);
    back.setAttribute("aria-label", leads);
    back.title = leads;
    for (const [name, view] of Object.entries(pages)) show(view.element, page === name);
    chats.setAttribute("aria-pressed", String(page === "chats"));
    settings.setAttribute("aria-pressed", String(page === "settings"));
    if (page === "settings" && drawn?.page !== "settings")
      void panel.refreshSettings().catch(panel.refused);
    if (page === "data" && drawn?.page !== "data") pages.data.open();
    if (page === drawn?.page || drawn === null) return;
    popover.close();
    if (page === "chat") {
      // After a search the target message gets the focus instead.
      if (state.chat.target === drawn.chat.target) composer.focus();
    } else if (page === "chats") pages.chats.focus();
    else title.focus();
  };

  const draw = () => {
    frame = 0;
    const state = panel.get();
    drawPage(state);
    drawGate(state);
    const names = {
      chats: "panel.chats",
      settings: "panel.settings",
      skills: "panel.skills",
      data: "panel.data",
      share: "panel.share",
    };
    const name = state.page === "chat" ? "" : t(/** @type {"panel.chats"} */ (names[state.page]));
    setText(title, name || chatTitle(state.chat) || t("panel.title"));
    if (state.page === "chat") {
      const empty = !state.chat.messages.length && !state.chat.loading && !state.chat.failure;
      show(welcome.element, empty && gate.hidden);
      // The log exists before its first message, so that screen readers announce this message too.
      conversation.element.classList.toggle("ca-conversation--empty", empty);
      welcome.update(state);
      conversation.update(state.chat, state.health?.provider?.model ?? "");
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
    if (popover.name() === "report" && reportChanged(state.chat, drawn?.chat)) {
      popover.fill(reportOf(state));
    }
    live.update(state.chat);
    drawn = state;
  };

  const unsubscribe = panel.subscribe(() => {
    if (!frame) frame = requestAnimationFrame(draw);
  });
  /** What has the focus where the page has nothing else: on touch no keyboard comes up unasked. */
  const resting = () => {
    if (panel.get().page !== "chat") return title;
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
    drop: (files) => void composer.attach(files),
  });
  draw();
  followPictures(element);
  followWrapping(element, panel.wraps(), panel.setWraps);
  requestAnimationFrame(() => element.isConnected && measureGutter(element));

  return {
    element,
    focus: () => (resting() ?? element).focus({ preventScroll: true }),
    destroy() {
      endFocus();
      unsubscribe();
      cancelAnimationFrame(frame);
      popover.close();
      pages.chats.close();
    },
  };
}

/** @param {import("../types.js").Page} page @returns {"chat" | "chats" | "settings"} */
const parentOf = (page) => (page === "data" ? "settings" : page === "share" ? "chats" : "chat");

/** What the button says that leads back to a page. */
const BACK = /** @type {const} */ ({
  chat: "panel.back",
  chats: "panel.back.chats",
  settings: "panel.back.settings",
});

/**
 * @param {import("../types.js").ChatState} chat
 * @param {import("../types.js").ChatState | undefined} drawn
 */
const reportChanged = (chat, drawn) =>
  !drawn || chat.report !== drawn.report || isBusy(chat) !== isBusy(drawn);

/** Most characters of the first message used as title; the header shortens them to fit. */
const TITLE_LENGTH = 80;

/** @param {import("../types.js").ChatState} chat @returns {string} "" for an empty chat */
function chatTitle(chat) {
  const first = chat.messages.find((message) => message.role === "user");
  return nameOf(chat.title) || nameOf(first ? textOf(first) : "", TITLE_LENGTH);
}
