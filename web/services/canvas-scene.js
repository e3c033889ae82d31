// @ts-check
/**
 * The nodes of the open workflow by their addresses ("8", "57:8" inside the subgraph instance 57),
 * while steps change them: nodes that were added may have got another id than was foreseen.
 */

/** A step that cannot be carried out; the message says which, and why. */
export class StepError extends Error {}

/** @param {string} address @returns {[string, string]} of the instance around it, and its id there */
export function split(address) {
  const at = address.lastIndexOf(":");
  return at < 0 ? ["", address] : [address.slice(0, at), address.slice(at + 1)];
}

/** @param {any} root @returns {any[]} the workflow's graph and its subgraphs */
export const graphsOf = (root) => [root, ...(root.subgraphs?.values?.() ?? [])];

/** @param {any} graph @returns {any[]} */
export const nodesOf = (graph) => graph.nodes ?? graph._nodes ?? [];

/** @typedef {ReturnType<typeof createScene>} Scene */

/** @param {any} root LiteGraph's graph of the workflow */
export function createScene(root) {
  /** Nodes that were added, by the address that was foreseen. @type {Map<string, any>} */
  const added = new Map();
  /** Ids inside definitions that were made: live by foreseen. @type {Map<string, Map<string, any>>} */
  const inside = new Map();

  /** @param {string} address of an instance; "" is the workflow itself */
  function graphOf(address) {
    if (!address) return root;
    const graph = find(address)?.subgraph;
    if (!graph) throw new StepError(`There is no subgraph instance "${address}".`);
    return graph;
  }

  /** @param {string} address @returns {any} the node; null for none */
  function find(address) {
    const known = added.get(address);
    if (known) return known;
    const [around, id] = split(address);
    const graph = around ? find(around)?.subgraph : root;
    return graph?.getNodeById(inside.get(String(graph.id))?.get(id) ?? asId(id)) ?? null;
  }

  return {
    root,
    graphOf,
    find,

    /** @param {string} address @returns {any} @throws {StepError} if there is no such node */
    node(address) {
      const node = find(address);
      if (!node) throw new StepError(`There is no node "${address}".`);
      return node;
    },

    /** @param {unknown} id @returns {boolean} whether a node of the workflow or a subgraph has it */
    taken: (id) => graphsOf(root).some((graph) => graph.getNodeById(id)),

    /** @param {string} address as foreseen @param {any} node */
    add: (address, node) => added.set(address, node),
    /** @param {string} address */
    forget: (address) => added.delete(address),

    /** @param {any} definition as foreseen @param {any} made the subgraph */
    define(definition, made) {
      const foreseen = definition.nodes ?? [];
      const live = nodesOf(made);
      if (foreseen.length !== live.length) return;
      const ids = foreseen.map((/** @type {any} */ node, /** @type {number} */ at) => [
        String(node.id),
        live[at].id,
      ]);
      inside.set(String(made.id), new Map(ids));
    },

    /** @param {string} address as foreseen @returns {string} the address that the node has */
    addressOf(address) {
      const [around, id] = split(address);
      const real = find(address)?.id ?? id;
      return around ? `${this.addressOf(around)}:${real}` : String(real);
    },
  };
}

/** @param {string} text @returns {number | string} ids are numbers in all but imported workflows */
export const asId = (text) => (/^\d+$/.test(text) ? Number(text) : text);
