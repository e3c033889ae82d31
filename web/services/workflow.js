// @ts-check
/**
 * Reads the open workflow: the snapshot that is sent with a turn, and the summary for an empty
 * chat. Never changes the canvas and never throws.
 */

/** @typedef {import("./host.js").Host} Host */
/** @typedef {import("../types.js").WorkflowSnapshot} WorkflowSnapshot */
/** @typedef {import("../types.js").WorkflowSummary} WorkflowSummary */

/** Node types of the front end, which need no installed node class. */
const FRONTEND_TYPES = new Set(["Note", "MarkdownNote", "Reroute", "PrimitiveNode"]);
const SAMPLER = /sampler/i;

/** @param {Host} host */
export function createWorkflowReader(host) {
  let revision = 1;
  host.onGraphChanged(() => {
    revision += 1;
  });

  /** @param {any} graph */
  const nameAndId = (graph) => {
    const open = host.activeWorkflow();
    const name = String(open?.filename ?? "").replace(/\.json$/i, "");
    return { id: String(open?.key ?? open?.path ?? graph?.id ?? name), name };
  };

  return {
    /** @returns {WorkflowSnapshot | undefined} undefined if there is no graph */
    snapshot() {
      try {
        const graph = host.graph();
        if (!graph) return undefined;
        const { id, name } = nameAndId(graph);
        const selection = host.selection().map(nodeId);
        return { id, name, revision, graph: graph.serialize(), selection };
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
