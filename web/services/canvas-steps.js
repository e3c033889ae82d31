// @ts-check
/**
 * Carries steps out on LiteGraph's graph, with the calls that a person's hand makes: both node
 * renderers show the result, the view and the selection stay. The steps are described in
 * docs/workflows.md. All in one script task; what goes wrong is thrown, and the caller takes the
 * rest back.
 */

import { asId, createScene, graphsOf, nodesOf, split, StepError } from "./canvas-scene.js";
import { changeBoundary } from "./canvas-boundary.js";
import { widgetName } from "./canvas-facts.js";
import { connect, disconnect } from "./canvas-links.js";

/** @typedef {Record<string, any> & {do: string}} Step */
/** @typedef {import("./canvas-scene.js").Scene} Scene */

/**
 * @typedef {object} Ground what the steps are carried out on
 * @property {any} root LiteGraph's graph of the workflow
 * @property {any} liteGraph the host's `LiteGraph`
 * @property {any} canvas the host's `LGraphCanvas`
 * @property {any} before the workflow's JSON before the steps
 */

/**
 * Types that steps add and the front end does not know: neither installed nor a subgraph.
 * @param {readonly Step[]} steps
 * @param {any} before the workflow's JSON
 * @param {(type: string) => boolean} knows
 * @returns {string[]}
 */
export function unknownTypes(steps, before, knows) {
  const defined = new Set(definitionsOf(steps, before).keys());
  const made = steps.flatMap((step) => {
    if (step.do === "add") return [step.raw];
    return step.do === "define" ? (step.subgraph.nodes ?? []) : [];
  });
  const there = new Set(allNodes(before).map((node) => String(node.type)));
  const types = new Set(made.map((raw) => String(raw.type)));
  return [...types].filter((type) => !there.has(type) && !defined.has(type) && !knows(type));
}

/** @param {any} graph JSON @returns {any[]} */
const allNodes = (graph) => [
  ...(graph.nodes ?? []),
  ...(graph.definitions?.subgraphs ?? []).flatMap((/** @type {any} */ each) => each.nodes ?? []),
];

/** @param {readonly Step[]} steps @param {any} before @returns {Map<string, any>} by id */
function definitionsOf(steps, before) {
  const there = before.definitions?.subgraphs ?? [];
  const made = steps.filter((step) => step.do === "define").map((step) => step.subgraph);
  return new Map([...there, ...made].map((each) => [String(each.id), each]));
}

/**
 * @param {Ground} ground
 * @param {readonly Step[]} steps
 * @returns {Scene} the nodes by the addresses that were foreseen
 * @throws {StepError} and what LiteGraph throws
 */
export function applySteps(ground, steps) {
  const { root } = ground;
  const scene = createScene(root);
  const definitions = definitionsOf(steps, ground.before);
  /** @param {string} kind */
  const each = (kind) => steps.filter((step) => step.do === kind);

  for (const step of each("unlink")) disconnect(scene, step);
  for (const step of each("remove")) remove(scene, step.node);
  // Definitions come after the removals: the front end would give their nodes other ids while nodes
  // of the workflow have them.
  for (const { subgraph } of each("define")) define(scene, definitions, String(subgraph.id));
  for (const step of each("boundary")) changeBoundary(root, scene.graphOf(step.scope), step);
  for (const step of each("add")) add(ground, scene, definitions, step);
  settle(ground, scene, steps.flatMap(toSettle));
  for (const step of each("node")) changeNode(scene.node(step.node), step);
  for (const step of each("group")) changeGroup(ground, scene.graphOf(step.scope ?? ""), step);

  leaveRemovedSubgraph(ground);
  for (const graph of graphsOf(root)) {
    // Left to the front end, a change of the nodes' order became an undo step of its own.
    graph.updateExecutionOrder?.();
    graph.setDirtyCanvas?.(true, true);
  }
  return scene;
}

/** @param {Scene} scene @param {string} address */
function remove(scene, address) {
  const node = scene.node(address);
  // A node may forbid that the user removes it; here the user has agreed to the whole edit.
  node.graph.remove(node, { force: true });
}

/** @param {Scene} scene @param {ReadonlyMap<string, any>} definitions @param {string} id */
function define(scene, definitions, id) {
  const { root } = scene;
  const definition = definitions.get(id);
  if (!definition || root.subgraphs?.has(id)) return;
  for (const { type } of definition.nodes ?? []) define(scene, definitions, String(type));
  const made = root.createSubgraph(structuredClone(definition));
  // Newer front ends fill it when they make it.
  if (!nodesOf(made).length && definition.nodes?.length) made.configure(structuredClone(definition));
  for (const node of nodesOf(made)) node.onGraphConfigured?.();
  for (const node of nodesOf(made)) node.onAfterGraphConfigured?.();
  scene.define(definition, made);
}

/**
 * @param {Ground} ground
 * @param {Scene} scene
 * @param {ReadonlyMap<string, any>} definitions
 * @param {Step} step
 */
function add({ liteGraph }, scene, definitions, { scope, node: address, raw }) {
  define(scene, definitions, String(raw.type));
  const graph = scene.graphOf(scope ?? split(address)[0]);
  const node = liteGraph.createNode(raw.type, raw.title) ?? placeholder(liteGraph, raw);
  const id = asId(split(address)[1]);
  if (!scene.taken(id)) node.id = id;
  node.pos = [...(raw.pos ?? [0, 0])];
  graph.add(node);
  const { order: _order, ...info } = withoutLinks(raw);
  node.configure({ ...info, id: node.id });
  fit(node);
  scene.add(address, node);
}

/** @param {any} liteGraph @param {any} raw @returns {any} stands for a node that is not installed */
function placeholder(liteGraph, raw) {
  const node = new liteGraph.LGraphNode(raw.title ?? raw.type, raw.type);
  node.type = raw.type;
  node.last_serialization = structuredClone(raw);
  node.has_errors = true;
  return node;
}

/** @param {any} raw @returns {any} a copy */
function withoutLinks(raw) {
  const info = structuredClone(raw);
  for (const input of info.inputs ?? []) input.link = null;
  for (const output of info.outputs ?? []) output.links = null;
  return info;
}

/** The node is at least as large as its content, as after a load. @param {any} node */
function fit(node) {
  if (node.flags?.collapsed) return;
  const [width, height] = node.computeSize();
  const size = [Math.max(node.size[0], width), Math.max(node.size[1], height)];
  if (size[0] !== node.size[0] || size[1] !== node.size[1]) node.setSize(size);
}

/** @param {Step} step @returns {any[]} links, and values one by one */
function toSettle(step) {
  if (step.do === "link") return [step];
  if (step.do !== "values") return [];
  const { node, values } = step;
  return Object.entries(values).map(([name, value]) => ({ do: "value", node, name, value }));
}

/**
 * Values and links, in their order; one that does not find its widget or input is tried again after
 * the others: a value may bring the widgets of an option, a link the next input of a list that grows.
 * @param {Ground} ground
 * @param {Scene} scene
 * @param {any[]} steps
 */
function settle(ground, scene, steps) {
  let left = steps;
  while (left.length) {
    const waiting = left.filter((step) =>
      step.do === "value" ? !setValue(ground, scene.node(step.node), step) : !connect(scene, step),
    );
    if (waiting.length === left.length) throw new StepError(describe(waiting[0]));
    left = waiting;
  }
}

/** @param {any} step @returns {string} */
const describe = (step) =>
  step.do === "value"
    ? `The node "${step.node}" has no widget "${step.name}".`
    : `The node "${step.to}" has no input "${step.input}".`;

/**
 * @param {Ground} ground
 * @param {any} node
 * @param {{name: string, value: any}} change
 * @returns {boolean} false: the node has no such widget
 */
function setValue({ canvas }, node, { name, value }) {
  const widget = node.widgets?.find((/** @type {any} */ each) => widgetName(node, each) === name);
  if (!widget) return false;
  const before = widget.value;
  if (Object.is(before, value)) return true;
  const kept = value !== null && typeof value === "object" ? structuredClone(value) : value;
  widget.value = kept;
  const property = widget.options?.property;
  if (property && node.properties?.[property] !== undefined) node.setProperty(property, kept);
  widget.callback?.(kept, canvas, node, canvas?.graph_mouse);
  node.onWidgetChanged?.(widget.name, widget.value, before, widget);
  if (node.graph) node.graph._version += 1;
  return true;
}

/** Null stands for what is not there any more. @param {any} node @param {Step} change */
function changeNode(node, change) {
  const { title, mode, pos, size, properties, flags, ...looks } = change;
  if (title !== undefined) node.title = title ?? node.constructor.title ?? "";
  if (mode !== undefined && node.mode !== mode && !node.changeMode?.(mode)) node.mode = mode;
  if (pos) node.pos = [...pos];
  if (size) node.setSize([...size]);
  if (node.last_serialization) {
    // The host writes a node of unknown type as it was read.
    const { do: _do, node: _node, ...kept } = change;
    Object.assign(node.last_serialization, structuredClone(kept));
  }
  if (flags !== undefined) changeFlags(node, flags ?? {});
  if (properties !== undefined) changeProperties(node, properties ?? {});
  for (const name of ["color", "bgcolor", "shape"]) {
    if (looks[name] !== undefined) node[name] = looks[name] ?? undefined;
  }
}

/** @param {any} node @param {Record<string, any>} flags all that the node has afterwards */
function changeFlags(node, flags) {
  if (Boolean(node.flags.collapsed) !== Boolean(flags.collapsed)) node.collapse(true);
  if (Boolean(node.flags.pinned) !== Boolean(flags.pinned)) node.pin?.(Boolean(flags.pinned));
  const { collapsed: _collapsed, pinned: _pinned, ...others } = flags;
  Object.assign(node.flags, others);
}

/** @param {any} node @param {Record<string, any>} properties all that the node has afterwards */
function changeProperties(node, properties) {
  for (const name of Object.keys(node.properties)) {
    if (!Object.hasOwn(properties, name)) delete node.properties[name];
  }
  for (const [name, value] of Object.entries(properties)) {
    if (JSON.stringify(node.properties[name]) === JSON.stringify(value)) continue;
    node.setProperty(name, structuredClone(value));
  }
}

/** @param {Ground} ground @param {any} graph @param {Step} step */
function changeGroup({ liteGraph }, graph, { group, remove: removed }) {
  if (removed !== undefined) {
    const there = findGroup(graph, removed);
    if (there) graph.remove(there);
    return;
  }
  const there = findGroup(graph, group);
  if (there) {
    there.configure({ ...structuredClone(group), id: there.id });
    return;
  }
  const made = new liteGraph.LGraphGroup(group.title);
  const id = made.id;
  made.configure(structuredClone(group));
  if (group.id === undefined) made.id = id;
  graph.add(made);
}

/** @param {any} graph @param {any} wanted with an id, or a title and bounds */
function findGroup(graph, { id, title, bounding }) {
  const groups = graph.groups ?? graph._groups ?? [];
  /** @param {any} each */
  const same = (each) =>
    each.title === title && String([...each.serialize().bounding]) === String([...bounding]);
  const known = groups.find((/** @type {any} */ each) => id !== undefined && each.id === id);
  return known ?? groups.find(same);
}

/** Shows the workflow where the subgraph that was shown is gone. @param {Ground} ground */
function leaveRemovedSubgraph({ root, canvas }) {
  const shown = canvas?.graph;
  if (!shown || shown === root) return;
  const now = root.subgraphs?.get(shown.id);
  if (now !== shown) canvas.setGraph(now ?? root);
}
