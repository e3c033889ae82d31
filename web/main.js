// @ts-check
/**
 * Registers the panel as a tab of ComfyUI's side bar. ComfyUI imports every script in this folder;
 * only this module has side effects on import.
 */

// @ts-ignore ComfyUI serves this script two folders above the extension's folder.
import { app } from "../../scripts/app.js";
// @ts-ignore
import { api as hostApi } from "../../scripts/api.js";
import { createApi } from "./services/api.js";
import { createCanvasHand } from "./services/canvas-hand.js";
import { createCanvasLeave, LEFT } from "./services/canvas-leave.js";
import { createCanvasView } from "./services/canvas-view.js";
import { claimClientId } from "./services/client-id.js";
import { download, readAttachment } from "./services/files.js";
import { createEditResults } from "./services/edit-results.js";
import { createHost } from "./services/host.js";
import { createPanelTools } from "./services/panel-tools.js";
import { createPause, later } from "./services/pause.js";
import { createPromptNode } from "./services/prompt-node.js";
import { createPromptTarget } from "./services/prompt-target.js";
import { createPanelStorage, newId } from "./services/storage.js";
import { BUSY_STATES } from "./state/chat-state.js";
import { pendingApprovals } from "./state/messages.js";
import { openQuestion } from "./state/waiting.js";
import { createWorkflowIds, createWorkflowReader } from "./services/workflow.js";
import { createPanel } from "./state/panel.js";
import { t } from "./strings.js";
import { OPEN_KEYS } from "./views/isolation.js";
import { createPanelView } from "./views/panel.js";

const TAB = "comfyui-assistant";
const TOGGLE = `Workspace.ToggleSidebarTab.${TAB}`;
const OPEN = "ComfyUIAssistant.Open";
/** The user can give the command other keys in ComfyUI's settings. */
const KEYBINDINGS = OPEN_KEYS.map((key) => ({ commandId: OPEN, combo: { alt: true, key } }));
/** Chats that are looked at for a step that waits, the newest ones. */
const RECENT = 30;
/** Name of the stored value that says that a turn ran when the page was left. */
const WORKED = "worked";
/** Name of the stored value that has the id of the chat that was open then, where no turn was known. */
const RESTED = "rested";
/** States of a chat that waits for the user. */
const WAITS = new Set(["paused", "waiting_user_input"]);
const STYLES = ["panel.css", "conversation.css", "cards.css", "composer.css", "pages.css", "memory.css"];

const host = createHost(app, hostApi);
const canvas = { ...createCanvasView(app), ...createPromptTarget(app) };
/** @type {import("./state/panel.js").Panel | null} */
let panel = null;
/** @type {ReturnType<typeof createPanelView> | null} */
let view = null;
/** What had the focus before the key opened the panel. @type {Element | null} */
let before = null;

/** Creates the panel when the tab is opened first, so that ComfyUI's start is not slowed down. */
function openPanel() {
  if (panel) return panel;
  const tabStorage = storageOfTab();
  const clientId = claimClientId(tabStorage, window, newId);
  const pause = createPause();
  const workflow = createWorkflowReader(host, createWorkflowIds(tabStorage, window, newId));
  const leave = createCanvasLeave(host, workflow.id, tabStorage, window, () => performance.now());
  const hand = createCanvasHand(host, workflow.id, createEditResults(tabStorage), leave);
  const made = createPanel({
    api: createApi(host.fetch, clientId),
    clientId,
    tools: createPanelTools(),
    storage: createPanelStorage(host.user(), () => localStorage),
    tabStorage,
    workflow: workflow.snapshot,
    workflowName: workflow.name,
    hand,
    applyChange: hand.apply,
    summary: workflow.summary,
    wait: pause.wait,
    wake: pause.wake,
    later,
    download,
    readAttachment,
    frame: (draw) => requestAnimationFrame(draw),
    now: () => new Date(),
    newId,
  });
  window.addEventListener("online", pause.wake);
  window.addEventListener("pagehide", (event) => {
    const { id, known, temporary } = made.chat().get();
    if (made.chat().works()) tabStorage.set(WORKED, "1");
    else if (known && !temporary) tabStorage.set(RESTED, id);
    if (!event.persisted) made.endTemporary();
  });
  window.addEventListener("pageshow", () => forgetLeaving(tabStorage));
  window.addEventListener("beforeunload", (event) => {
    if (made.losesOnReload()) event.preventDefault();
  });
  document.addEventListener("visibilitychange", updateShown);
  host.onReconnected(made.tryNow);
  host.onGraphChanged(made.refreshWorkflow);
  made.subscribe(updateBadge);
  void made.start();
  panel = made;
  return made;
}

/**
 * The command of the key: it opens the panel, or goes on in it, and when one works there closes it.
 */
function toggle() {
  const active = document.activeElement;
  if (view && !view.element.contains(active)) {
    before = active;
    view.focus();
    return;
  }
  if (!view) before = active;
  else if (before instanceof HTMLElement && before.isConnected) before.focus();
  else if (active instanceof HTMLElement) active.blur();
  host.execute(TOGGLE);
}

const storageOfTab = () => createPanelStorage(host.user(), () => sessionStorage);

/** @param {import("./services/storage.js").PanelStorage} storage */
function forgetLeaving(storage) {
  for (const name of [WORKED, RESTED]) storage.set(name, null);
}

/**
 * A turn that ran when the page was loaded again may wait for this page's canvas, and the canvas may
 * lack the panel's last change: the panel goes on in the background.
 */
async function goOn() {
  const storage = storageOfTab();
  const goesOn = [WORKED, LEFT].some((name) => storage.get(name) !== null);
  const rested = storage.get(RESTED);
  forgetLeaving(storage);
  if (!goesOn && !(await runsAfterAll(rested))) return;
  if (panel) return;
  openPanel();
  updateShown();
}

/**
 * A page may be left between a click that lets a turn go on and the event that tells of it.
 * @param {string | null} id of a chat
 */
async function runsAfterAll(id) {
  if (id === null) return false;
  const chat = await createApi(host.fetch, "").chat(id, { limit: 1 }).catch(() => null);
  return chat !== null && BUSY_STATES.has(chat.state);
}

/** Passes on whether the panel is visible. */
function updateShown() {
  panel?.setShown(view !== null && !document.hidden);
  updateBadge();
}

/** Shows on the icon how many steps wait for a decision, while the panel is closed. */
function updateBadge() {
  const { messages } = panel?.get().chat ?? { messages: [] };
  const asked = pendingApprovals(messages).length + (openQuestion(messages) ? 1 : 0);
  setBadge(asked && !view ? String(asked) : "");
}

/** @param {string} text "" for no badge */
function setBadge(text) {
  // The host watches its own copy of the tab.
  const tabs = app.extensionManager?.sidebarTab?.sidebarTabs;
  const shown = tabs?.find?.((/** @type {{id: string}} */ { id }) => id === TAB) ?? tab;
  if (shown.iconBadge !== text) shown.iconBadge = text;
}

/** After a reload the panel is closed, and chats may wait for a decision since an earlier visit. */
async function lookForWaiting() {
  const chats = await createApi(host.fetch, "").chats({ limit: RECENT }).catch(() => []);
  const waiting = chats.filter(({ state }) => WAITS.has(state)).length;
  if (!panel && waiting) setBadge(String(waiting));
}

function addStyles() {
  for (const name of STYLES) {
    const href = new URL(`./styles/${name}`, import.meta.url).href;
    if (document.head.querySelector(`link[href="${href}"]`)) continue;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    document.head.append(link);
  }
}

const tab = {
  id: TAB,
  title: t("panel.title"),
  tooltip: t("panel.title"),
  icon: "pi pi-comments",
  type: "custom",
  iconBadge: "",
  /** @param {HTMLElement} element */
  render(element) {
    // The host calls this again each time it draws its side bar.
    if (view?.element.parentNode === element) return;
    const isOpening = !view || view.element.contains(document.activeElement);
    view?.destroy();
    const opened = openPanel();
    opened.refreshWorkflow();
    view = createPanelView(opened, host, canvas, () => host.execute(TOGGLE));
    element.classList.add("ca-mount");
    element.replaceChildren(view.element);
    updateShown();
    // The host puts the element into the page after this call.
    if (isOpening) requestAnimationFrame(() => view?.focus());
  },
  destroy() {
    view?.destroy();
    view = null;
    updateShown();
  },
};

app.registerExtension({
  name: "comfyui.assistant",
  commands: [{ id: OPEN, label: t("panel.command"), icon: "pi pi-comments", function: toggle }],
  keybindings: KEYBINDINGS,
  ...createPromptNode(app),
  async setup() {
    addStyles();
    const manager = app.extensionManager;
    if (manager?.sidebarTab?.registerSidebarTab) manager.sidebarTab.registerSidebarTab(tab);
    else manager?.registerSidebarTab?.(tab);
    (window.requestIdleCallback ?? setTimeout)(() => {
      void goOn();
      void lookForWaiting();
    });
  },
  afterConfigureGraph() {
    panel?.refreshWorkflow();
  },
});
