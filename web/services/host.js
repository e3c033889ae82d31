// @ts-check
/**
 * The functions of ComfyUI's front end that the panel uses, feature-detected, because older front
 * ends lack some of them. Other modules use this object, never the host's own objects.
 */

/** Actions of the host's record of workflows after which another one is open, or has another name. */
const WORKFLOW_ACTIONS = new Set(["openWorkflow", "renameWorkflow", "saveWorkflow"]);

/** Milliseconds that a page has to open its workflow after it was loaded. */
const PATIENCE = 20_000;

/**
 * @typedef {object} Host
 * @property {() => string} user ComfyUI's user id; "" without `--multi-user`
 * @property {import("./api.js").Fetch} fetch
 * @property {(markdown: string) => string | null} markdown HTML; null if the host cannot render
 * @property {(command: string) => void} execute runs a command of the host
 * @property {(listener: () => void) => void} onReconnected called when the host's connection is
 *   back
 * @property {(listener: () => void) => void} onGraphChanged called when the open workflow
 *   changes, or when another one is open
 * @property {() => any} graph LiteGraph's root graph
 * @property {() => any} activeWorkflow the host's record of the open workflow
 * @property {() => unknown[]} selection the selected nodes' ids
 * @property {(type: string) => boolean} knowsNode whether the node type is installed
 * @property {() => Promise<void>} ready resolves when a workflow is open: after a load of the page it
 *   comes late
 * @property {() => any} tracker the open workflow's record of changes, for undo; null for none
 * @property {() => any} liteGraph the host's `LiteGraph`
 * @property {() => any} canvas the host's `LGraphCanvas`
 * @property {(graph: any, name: string) => Promise<string | null>} openNew opens a workflow in a new
 *   tab and returns its name, which has a number where the wanted one is taken; null: not opened
 * @property {() => boolean} closeOpen closes the open workflow
 */

/**
 * @param {any} app the host's `app`
 * @param {any} api the host's `api`
 * @returns {Host}
 */
export function createHost(app, api) {
  const manager = () => app.extensionManager;
  /** @returns {string[]} of open and of saved workflows */
  const workflowNames = () =>
    (manager()?.workflow?.workflows ?? []).map((/** @type {any} */ { path, filename }) =>
      String(path ?? filename).replace(/^workflows\//, "").replace(/\.json$/i, ""),
    );
  return {
    user: () => String(api?.user ?? ""),
    fetch: createFetch(api),
    markdown(markdown) {
      const render = manager()?.renderMarkdownToHtml;
      return typeof render === "function" ? render.call(manager(), markdown) : null;
    },
    execute(command) {
      const execute = manager()?.command?.execute ?? app.command?.execute;
      Promise.resolve(execute?.(command)).catch(() => undefined);
    },
    onReconnected: (listener) => api?.addEventListener?.("reconnected", listener),
    onGraphChanged(listener) {
      api?.addEventListener?.("graphChanged", listener);
      // A graph is on the canvas before the host records whose it is, and no event tells of that.
      manager()?.workflow?.$onAction?.((/** @type {any} */ { name, after }) => {
        if (WORKFLOW_ACTIONS.has(name)) after(() => listener());
      }, true);
    },
    graph: () => app.rootGraph ?? app.graph ?? null,
    activeWorkflow: () => manager()?.workflow?.activeWorkflow ?? null,
    async ready() {
      const end = performance.now() + PATIENCE;
      const isLoading = () => manager()?.workflow && !manager().workflow.activeWorkflow;
      while (isLoading() && performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    tracker: () => manager()?.workflow?.activeWorkflow?.changeTracker ?? null,
    liteGraph: () => /** @type {any} */ (globalThis).LiteGraph,
    canvas: () => app.canvas,
    async openNew(graph, name) {
      const before = manager()?.workflow?.activeWorkflow;
      await app.loadGraphData(asGraph(graph), true, true, freeName(name, workflowNames()));
      const now = manager()?.workflow?.activeWorkflow;
      return now && now !== before ? String(now.filename ?? "").replace(/\.json$/i, "") : null;
    },
    closeOpen() {
      const execute = manager()?.command?.execute;
      if (typeof execute !== "function") return false;
      Promise.resolve(execute.call(manager().command, "Workspace.CloseWorkflow")).catch(() => undefined);
      return true;
    },
    selection: () => Object.keys(app.canvas?.selected_nodes ?? {}),
    knowsNode(type) {
      const known = /** @type {any} */ (globalThis).LiteGraph?.registered_node_types;
      return known === undefined || Object.hasOwn(known, type);
    },
  };
}

/**
 * A workflow that is kept as an app opens as an app, in a view without a side bar: the panel would
 * be gone in the middle of the answer that opened it.
 * @param {any} workflow
 * @returns {any} a copy that opens as a graph
 */
function asGraph(workflow) {
  const copy = structuredClone(workflow);
  if (copy.extra?.linearMode) copy.extra.linearMode = false;
  return copy;
}

/**
 * @param {string} name
 * @param {readonly string[]} taken
 * @returns {string} the name, or with the first free number: "flux (2)"
 */
export function freeName(name, taken) {
  const wanted = name.trim() || "Workflow";
  const known = new Set(taken.map((each) => each.toLowerCase()));
  let free = wanted;
  for (let number = 2; known.has(free.toLowerCase()); number += 1) free = `${wanted} (${number})`;
  return free;
}

/** @param {any} api @returns {import("./api.js").Fetch} */
function createFetch(api) {
  if (typeof api?.fetchApi === "function") return (path, init) => api.fetchApi(path, init);
  return (path, { timeoutMs: _none, ...init }) => {
    const headers = new Headers(init.headers);
    if (api?.user) headers.set("Comfy-User", api.user);
    return fetch(typeof api?.apiURL === "function" ? api.apiURL(path) : `/api${path}`, {
      ...init,
      headers,
    });
  };
}
