// @ts-check
/**
 * Reads the open workflow: its id, the snapshot that is sent with a message, and the summary for an
 * empty chat. Never changes the canvas and never throws.
 */

/** @typedef {import("./host.js").Host} Host */
/** @typedef {import("../types.js").WorkflowName} WorkflowName */
/** @typedef {import("../types.js").WorkflowSnapshot} WorkflowSnapshot */
/** @typedef {import("../types.js").WorkflowSummary} WorkflowSummary */

/** Node types of the front end, which need no installed node class. */
const FRONTEND_TYPES = new Set(["Note", "MarkdownNote", "Reroute", "PrimitiveNode"]);
const SAMPLER = /sampler/i;

/** Bytes of a graph's JSON beyond which the graph is not sent with a message. */
export const MOST_BYTES = 20_000_000;
/** Name of the stored value that carries the workflows' ids over a reload. */
const KEY = "workflows";
/** Ids that are kept: far more than workflows that are open. */
const MOST_IDS = 100;

/**
 * The ids of open workflows: made once for each object of the host's that stands for an open
 * workflow, and kept through rename and save. A copy, or a file that is opened anew, is another
 * object. A reload of the page keeps the ids, which are stored from `pagehide` to the next load, as
 * the panel's own id is.
 * @param {import("./storage.js").PanelStorage} storage backed by `sessionStorage`
 * @param {Pick<EventTarget, "addEventListener">} page the window
 * @param {() => string} makeId
 */
export function createWorkflowIds(storage, page, makeId) {
  /** @type {WeakMap<object, string>} */
  const ids = new WeakMap();
  /** The newest object of each path. @type {Map<string, WeakRef<object>>} */
  const byPath = new Map();
  /** @type {Record<string, string>} ids of before the reload, by path; each is given once */
  let before = {};
  try {
    before = JSON.parse(storage.get(KEY) ?? "{}");
  } catch {
    // A damaged value: the workflows get new ids.
  }
  storage.set(KEY, null);
  page.addEventListener("pagehide", () => storage.set(KEY, JSON.stringify(kept())));
  page.addEventListener("pageshow", () => storage.set(KEY, null));

  /** Those that nobody looked at since the load stay, too; the newest ones come last. */
  function kept() {
    const found = new Map(Object.entries(before));
    for (const [path, ref] of byPath) {
      const id = ids.get(ref.deref() ?? {});
      if (id) found.set(path, id);
    }
    return Object.fromEntries([...found].slice(-MOST_IDS));
  }

  /** @param {any} open @param {string} path @returns {string} */
  return function idOf(open, path) {
    // The front end hands out the object itself, or Vue's proxy of it.
    const object = open.__v_raw ?? open;
    let id = ids.get(object);
    if (!id) {
      id = Object.hasOwn(before, path) ? before[path] : makeId();
      delete before[path];
      ids.set(object, id);
    }
    byPath.set(path, new WeakRef(object));
    return id;
  };
}

/**
 * What counts in a graph, as a text: equal texts mean that nothing is to be sent. Places, sizes and
 * the view are left out, but for those inside subgraphs.
 * @param {any} graph ComfyUI's JSON
 * @returns {string}
 */
export function fingerprint(graph) {
  const nodes = (graph.nodes ?? []).map((/** @type {any} */ node) => [
    node.id,
    node.type,
    node.mode,
    node.title,
    node.widgets_values,
    node.properties?.proxyWidgets,
  ]);
  return JSON.stringify([nodes, graph.links, graph.definitions]);
}

/**
 * Marks a workflow's JSON as that of the open canvas, for the server: a front end that opened it as a
 * file might lose links of inputs that grow, and the server reads files as the front end opens them.
 * @param {any} graph
 * @returns {any}
 */
export const onCanvas = (graph) => ({ ...graph, extra: { ...graph.extra, on_canvas: true } });

/** @param {any} graph with that mark @returns {any} without it */
export function offCanvas(graph) {
  const { on_canvas: _mark, ...extra } = graph.extra ?? {};
  return { ...graph, extra };
}

/** @param {unknown} value @returns {number} bytes of its JSON */
export function jsonBytes(value) {
  return new Blob([JSON.stringify(value)]).size;
}

/**
 * @param {Host} host
 * @param {(open: any, path: string) => string} idOf
 */
export function createWorkflowReader(host, idOf) {
  /** @param {any} graph */
  const nameAndId = (graph) => {
    const open = host.activeWorkflow();
    const name = String(open?.filename ?? "").replace(/\.json$/i, "");
    const path = String(open?.key ?? open?.path ?? graph?.id ?? name);
    return { id: idOf(open ?? graph, path), name };
  };

  return {
    /** @returns {string | undefined} of the open workflow; undefined if there is no graph */
    id() {
      try {
        const graph = host.graph();
        return graph ? nameAndId(graph).id : undefined;
      } catch {
        return undefined;
      }
    },

    /** @returns {WorkflowName | undefined} undefined if there is no graph, or it has no name */
    name() {
      try {
        const graph = host.graph();
        const open = graph && nameAndId(graph);
        return open?.name ? open : undefined;
      } catch {
        return undefined;
      }
    },

    /** @returns {WorkflowSnapshot | undefined} undefined if there is no graph */
    snapshot() {
      try {
        const root = host.graph();
        if (!root) return undefined;
        const graph = root.serialize();
        const open = { ...nameAndId(root), selection: host.selection().map(nodeId) };
        const bytes = jsonBytes(graph);
        if (bytes > MOST_BYTES) return { ...open, graph: null, too_large: bytes };
        return { ...open, graph: onCanvas(graph) };
      } catch {
        return undefined;
      }
    },

    /** @returns {WorkflowSummary | null} */
    summary() {
      try {
        const graph = host.graph();
        if (!graph) return null;
        return { ...nameAndId(graph), ...summarise(allNodes(graph), host.knowsNode) };
      } catch {
        return null;
      }
    },
  };
}

/** @param {unknown} id @returns {number | string} */
function nodeId(id) {
  const text = String(id);
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** @param {any} graph @returns {any[]} its nodes and the nodes of its subgraphs, once each */
function allNodes(graph) {
  const inner = [...(graph.subgraphs?.values?.() ?? [])];
  return [graph, ...inner].flatMap((each) => each.nodes ?? each._nodes ?? []);
}

/**
 * @param {any[]} nodes
 * @param {(type: string) => boolean} knows
 * @returns {Omit<WorkflowSummary, "id" | "name">}
 */
function summarise(nodes, knows) {
  const unknown = new Set(
    nodes.filter((node) => isMissing(node, knows)).map((node) => String(node.type)),
  );
  return {
    nodes: nodes.length,
    missingNodes: unknown.size,
    missingModels: missingModels(nodes).size,
    generates: nodes.some((node) => SAMPLER.test(String(node.type))),
  };
}

/** @param {any} node @param {(type: string) => boolean} knows */
function isMissing(node, knows) {
  const builtIn = FRONTEND_TYPES.has(node.type) || node.isSubgraphNode?.() || node.subgraph;
  return !builtIn && !knows(String(node.type));
}

/**
 * Models named in a node's properties (by official templates) that no list of the node offers.
 * @param {any[]} nodes
 * @returns {Set<string>}
 */
function missingModels(nodes) {
  /** @type {Set<string>} */
  const missing = new Set();
  for (const node of nodes) {
    const lists = (node.widgets ?? []).flatMap((/** @type {any} */ widget) =>
      Array.isArray(widget.options?.values) ? widget.options.values : [],
    );
    for (const model of node.properties?.models ?? []) {
      const offered = lists.some((/** @type {unknown} */ choice) =>
        String(choice).replaceAll("\\", "/").endsWith(model.name),
      );
      if (model?.name && !offered) missing.add(model.name);
    }
  }
  return missing;
}
