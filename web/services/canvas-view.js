// @ts-check
/**
 * Shows a node on the canvas: opens the subgraph that it lies in, selects it, and moves the view to
 * it. Changes nothing in the workflow.
 */

/** Milliseconds of the movement; none where the user wants less motion. */
const MOVE = 200;

/** @typedef {{id: string, inside?: string}} NodePlace an address (`"57:8"`), or the id in the
 *   subgraph with the name `inside` */

/** @param {any} app the host's `app` */
export function createCanvasView(app) {
  return {
    /**
     * @param {NodePlace} place
     * @returns {boolean} false: the open workflow has no such node
     */
    show(place) {
      const root = app.rootGraph ?? app.graph;
      const canvas = app.canvas;
      const found = root && canvas && findNode(root, place);
      if (!found) return false;
      const { node, graph, holder } = found;
      if (canvas.graph !== graph) {
        if (holder && canvas.openSubgraph) canvas.openSubgraph(graph, holder);
        else canvas.setGraph?.(graph);
      }
      canvas.deselectAll?.();
      if (canvas.select) canvas.select(node);
      else canvas.selectNode?.(node);
      moveTo(canvas, node);
      return true;
    },
  };
}

/** @param {any} canvas @param {any} node */
function moveTo(canvas, node) {
  const still = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
  if (!still && canvas.animateToBounds && node.boundingRect) {
    canvas.animateToBounds(node.boundingRect, { duration: MOVE });
  } else canvas.centerOnNode?.(node);
}

/**
 * @param {any} root
 * @param {NodePlace} place
 * @returns {{node: any, graph: any, holder: any} | null} `holder`: the instance of the subgraph
 */
function findNode(root, { id, inside = "" }) {
  if (inside) {
    const named = [...(root.subgraphs?.values?.() ?? [])].filter(({ name }) => name === inside);
    for (const graph of named) {
      const node = nodeOf(graph, id);
      if (node) return { node, graph, holder: holderOf(root, graph) };
    }
    return null;
  }
  let graph = root;
  let holder = null;
  const steps = id.split(":");
  for (const step of steps.slice(0, -1)) {
    holder = nodeOf(graph, step);
    graph = holder?.subgraph;
    if (!graph) return null;
  }
  const node = nodeOf(graph, steps[steps.length - 1]);
  return node ? { node, graph, holder } : null;
}

/** @param {any} graph @param {string} id */
const nodeOf = (graph, id) => graph.getNodeById?.(id) ?? graph.getNodeById?.(Number(id)) ?? null;

/** @param {any} root @param {any} subgraph @returns {any} the first instance of the subgraph */
function holderOf(root, subgraph) {
  const graphs = [root, ...(root.subgraphs?.values?.() ?? [])];
  const all = graphs.flatMap((graph) => graph.nodes ?? graph._nodes ?? []);
  return all.find((/** @type {any} */ node) => node.subgraph === subgraph) ?? null;
}
