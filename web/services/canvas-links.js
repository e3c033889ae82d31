// @ts-check
/** Makes and cuts links on LiteGraph's graph; their ends are nodes or a subgraph's own boundary. */

import { split, StepError } from "./canvas-scene.js";

/** @typedef {import("./canvas-scene.js").Scene} Scene */

/** LiteGraph's id of a subgraph's inputs. */
const SUBGRAPH_INPUT = "-10";

/** @param {any} graph @param {unknown} id @returns {any} the link; null for none */
export function linkOf(graph, id) {
  if (id === null || id === undefined) return null;
  return graph.getLink?.(id) ?? graph.links?.get?.(id) ?? graph.links?.[/** @type {any} */ (id)] ?? null;
}

/** @param {Scene} scene @param {Record<string, any>} step */
export function disconnect(scene, { to, input, input_index: place }) {
  const [around, id] = split(to);
  if (id === "out") {
    slotOf(scene.graphOf(around).outputs, input, to).disconnect();
    return;
  }
  const node = scene.node(to);
  const at = inputIndex(node, input, place);
  if (at < 0) throw new StepError(`The node "${to}" has no input "${input}".`);
  if (node.inputs[at].link != null) node.disconnectInput(at, false);
}

/**
 * @param {Scene} scene
 * @param {Record<string, any>} step
 * @returns {boolean} false: the target has no such input yet
 */
export function connect(scene, step) {
  const source = sourceOf(scene, step);
  const [around, id] = split(step.to);
  if (id === "out") {
    const slot = slotOf(scene.graphOf(around).outputs, step.input, step.to);
    if (!source.node) throw new StepError(`"${step.from}" cannot be linked to "${step.to}".`);
    return linked(slot.connect(source.node.outputs[source.at], source.node), step);
  }
  const target = scene.node(step.to);
  const at = inputIndex(target, step.input, step.input_index);
  if (at < 0) return false;
  const there = linkOf(target.graph, target.inputs[at].link);
  if (there && comesFrom(there, source)) return true;
  if (source.node) return linked(source.node.connect(source.at, target, at), step);
  return linked(source.slot.connect(target.inputs[at], target), step);
}

/** @param {any} link @param {Record<string, any>} step @returns {true} */
function linked(link, step) {
  if (link) return true;
  throw new StepError(`The front end refused the link from "${step.from}" to "${step.to}".`);
}

/**
 * @param {Scene} scene
 * @param {Record<string, any>} step
 * @returns {{node?: any, slot?: any, at: number}} an output of a node, or an input of a subgraph
 */
function sourceOf(scene, { from, output, output_name: name }) {
  const [around, id] = split(from);
  if (id === "in") return { slot: slotOf(scene.graphOf(around).inputs, output, from), at: output };
  const node = scene.node(from);
  const outputs = node.outputs ?? [];
  if (name === undefined || outputs[output]?.name === name) return { node, at: output };
  const named = outputs.findIndex((/** @type {any} */ each) => each.name === name);
  return { node, at: named < 0 ? output : named };
}

/** @param {any} link @param {{node?: any, at: number}} source */
const comesFrom = (link, { node, at }) =>
  String(link.origin_id) === (node ? String(node.id) : SUBGRAPH_INPUT) && link.origin_slot === at;

/** @param {any[]} slots @param {number | string} wanted its index or name @param {string} place */
function slotOf(slots, wanted, place) {
  const slot = typeof wanted === "number" ? slots[wanted] : slots.find(({ name }) => name === wanted);
  if (!slot) throw new StepError(`"${place}" has no slot "${wanted}".`);
  return slot;
}

/**
 * Several inputs may have one name: the place decides where it fits.
 * @param {any} node
 * @param {string} name
 * @param {number} [place]
 * @returns {number} -1: none
 */
function inputIndex(node, name, place) {
  const inputs = node.inputs ?? [];
  if (place !== undefined && inputs[place]?.name === name) return place;
  return inputs.findIndex((/** @type {any} */ each) => each.name === name);
}

/**
 * Where the links of a node's inputs come from.
 * @param {any} node
 * @param {string} around address of the instance that the node is in; "" for the workflow
 * @returns {Record<string, {address: string, slot: number, name: string}>} by input
 */
export function sourcesOf(node, around) {
  /** @type {Record<string, {address: string, slot: number, name: string}>} */
  const found = {};
  for (const input of node.inputs ?? []) {
    const link = linkOf(node.graph, input.link);
    if (!link) continue;
    const slot = link.origin_slot;
    const inner = String(link.origin_id) === SUBGRAPH_INPUT;
    const origin = inner ? null : node.graph.getNodeById(link.origin_id);
    const id = inner ? "in" : String(link.origin_id);
    const outputs = inner ? node.graph.inputs : origin?.outputs;
    const address = around ? `${around}:${id}` : id;
    found[input.name] = { address, slot, name: String(outputs?.[slot]?.name ?? slot) };
  }
  return found;
}

