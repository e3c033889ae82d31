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
import { claimClientId } from "./services/client-id.js";
import { download } from "./services/files.js";
import { createHost } from "./services/host.js";
import { createPanelTools } from "./services/panel-tools.js";
import { createPause, later } from "./services/pause.js";
import { createPanelStorage, newId } from "./services/storage.js";
import { createWorkflowIds, createWorkflowReader } from "./services/workflow.js";
import { createPanel } from "./state/panel.js";
import { t } from "./strings.js";
import { createPanelView } from "./views/panel.js";

const TAB = "comfyui-assistant";
const STYLES = ["panel.css", "conversation.css", "composer.css", "pages.css"];

const host = createHost(app, hostApi);
/** @type {import("./state/panel.js").Panel | null} */
let panel = null;
/** @type {{element: HTMLElement, destroy(): void} | null} */
let view = null;

/** Creates the panel when the tab is opened first, so that ComfyUI's start is not slowed down. */
function openPanel() {
  if (panel) return panel;
  const tabStorage = createPanelStorage(host.user(), () => sessionStorage);
  const clientId = claimClientId(tabStorage, window, newId);
  const pause = createPause();
  const workflow = createWorkflowReader(host, createWorkflowIds(tabStorage, window, newId));
  const made = createPanel({
    api: createApi(host.fetch, clientId),
    clientId,
    tools: createPanelTools(),
    storage: createPanelStorage(host.user(), () => localStorage),
    workflow: workflow.snapshot,
    workflowName: workflow.name,
    summary: workflow.summary,
    wait: pause.wait,
    wake: pause.wake,
    later,
    download,
    frame: (draw) => requestAnimationFrame(draw),
    now: () => new Date(),
    newId,
  });
  window.addEventListener("online", pause.wake);
  document.addEventListener("visibilitychange", updateShown);
  host.onReconnected(made.tryNow);
  host.onGraphChanged(made.refreshWorkflow);
  void made.start();
  panel = made;
  return made;
}

/** Passes on whether the panel is visible. */
function updateShown() {
  panel?.setShown(view !== null && !document.hidden);
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
  /** @param {HTMLElement} element */
  render(element) {
    view?.destroy();
    const opened = openPanel();
    opened.refreshWorkflow();
    view = createPanelView(opened, host, () => host.execute(`Workspace.ToggleSidebarTab.${TAB}`));
    element.classList.add("ca-mount");
    element.replaceChildren(view.element);
    updateShown();
  },
  destroy() {
    view?.destroy();
    view = null;
    updateShown();
  },
};

app.registerExtension({
  name: "comfyui.assistant",
  async setup() {
    addStyles();
    const manager = app.extensionManager;
    if (manager?.sidebarTab?.registerSidebarTab) manager.sidebarTab.registerSidebarTab(tab);
    else manager?.registerSidebarTab?.(tab);
  },
  afterConfigureGraph() {
    panel?.refreshWorkflow();
  },
});
