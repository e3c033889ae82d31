// @ts-check
/**
 * The functions of ComfyUI's front end that the panel uses, feature-detected, because older front
 * ends lack some of them. Other modules use this object, never the host's own objects.
 */

/** Actions of the host's record of workflows after which another one is open, or has another name. */
const WORKFLOW_ACTIONS = new Set(["openWorkflow", "renameWorkflow", "saveWorkflow"]);

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
 */

/**
 * @param {any} app the host's `app`
 * @param {any} api the host's `api`
 * @returns {Host}
 */
export function createHost(app, api) {
  const manager = () => app.extensionManager;
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
    selection: () => Object.keys(app.canvas?.selected_nodes ?? {}),
    knowsNode(type) {
      const known = /** @type {any} */ (globalThis).LiteGraph?.registered_node_types;
      return known === undefined || Object.hasOwn(known, type);
    },
  };
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
