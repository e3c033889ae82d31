// @ts-check
/**
 * Changes the inputs and outputs that a subgraph has of its own. The front end adds a slot only at
 * the end: where one comes in between, those behind it are made anew, with their links inside and
 * outside of the subgraph and the values of its instances.
 */

import { linkOf } from "./canvas-links.js";
import { graphsOf, nodesOf } from "./canvas-scene.js";

/** LiteGraph's ids of a subgraph's inputs and outputs. */
const INPUTS = "-10";
const OUTPUTS = "-20";

/** @param {any} root @param {any} graph @param {Record<string, any>} step */
export function changeBoundary(root, graph, { name, inputs, outputs }) {
  if (name !== undefined) graph.name = name;
  const instances = graphsOf(root)
    .flatMap(nodesOf)
    .filter((node) => node.subgraph === graph);
  if (inputs) changeSlots(graph, instances, inputs, "Input");
  if (outputs) changeSlots(graph, instances, outputs, "Output");
}

/** @param {any} one @param {any} other */
const same = (one, other) => (one.id && one.id === other?.id) || one.name === other?.name;

/**
 * @param {any} graph
 * @param {any[]} instances
 * @param {any[]} wanted
 * @param {"Input" | "Output"} side
 */
function changeSlots(graph, instances, wanted, side) {
  const there = side === "Input" ? graph.inputs : graph.outputs;
  for (const slot of [...there]) {
    if (!wanted.some((each) => same(each, slot))) graph[`remove${side}`](slot);
  }
  const first = wanted.findIndex((slot, at) => !same(slot, there[at]));
  if (first < 0) return;
  const keep = side === "Input" ? keepInput : keepOutput;
  const kept = [...there.slice(first)].map((slot) => ({ slot, again: keep(graph, instances, slot) }));
  for (const { slot } of kept) graph[`remove${side}`](slot);
  for (const slot of wanted.slice(first)) {
    const made = graph[`add${side}`](slot.name, String(slot.type));
    if (slot.id) made.id = slot.id;
    if (slot.label !== undefined) made.label = slot.label;
    const before = kept.find((each) => same(slot, each.slot));
    before?.again(made, there.length - 1);
  }
}

/** @typedef {(slot: any, at: number) => void} Again makes the links of a slot that was made anew */

/** @param {any} graph @param {any[]} instances @param {any} slot @returns {Again} */
function keepInput(graph, instances, slot) {
  const index = graph.inputs.indexOf(slot);
  const inside = linksOf(graph, slot).map((link) => {
    const node = graph.getNodeById(link.target_id);
    const name = node?.inputs[link.target_slot]?.name;
    return { node, name };
  });
  const outside = instances.map((instance) => {
    const link = linkOf(instance.graph, instance.inputs[index]?.link);
    const value = widgetOf(instance, slot.name)?.value;
    return { instance, value, source: link && sourceOf(instance.graph, link) };
  });
  return (made, at) => {
    for (const { node, name } of inside) {
      const input = node?.inputs.find((/** @type {any} */ each) => each.name === name);
      if (input) made.connect(input, node);
    }
    for (const { instance, value, source } of outside) {
      const widget = widgetOf(instance, slot.name);
      if (widget && value !== undefined) widget.value = value;
      source?.(instance, at);
    }
  };
}

/** @param {any} graph @param {any[]} instances @param {any} slot @returns {Again} */
function keepOutput(graph, instances, slot) {
  const index = graph.outputs.indexOf(slot);
  const inside = linksOf(graph, slot).map((link) => ({
    node: graph.getNodeById(link.origin_id),
    at: link.origin_slot,
  }));
  const outside = instances.map((instance) => {
    const ids = instance.outputs[index]?.links ?? [];
    const links = ids.map((/** @type {any} */ id) => linkOf(instance.graph, id)).filter(Boolean);
    return { instance, targets: links.map((/** @type {any} */ link) => targetOf(instance.graph, link)) };
  });
  return (made, at) => {
    for (const { node, at: output } of inside) if (node) made.connect(node.outputs[output], node);
    for (const { instance, targets } of outside) {
      for (const target of targets) target(instance, at);
    }
  };
}

/** @param {any} graph @param {any} slot @returns {any[]} */
const linksOf = (graph, slot) =>
  [...(slot.linkIds ?? [])].map((id) => linkOf(graph, id)).filter(Boolean);

/** @param {any} node @param {string} name @returns {any} */
const widgetOf = (node, name) =>
  node.widgets?.find((/** @type {any} */ widget) => widget.name === name);

/** @param {any} graph @param {any} link @returns {(node: any, at: number) => void} links an input */
function sourceOf(graph, link) {
  if (String(link.origin_id) === INPUTS) {
    const slot = graph.inputs[link.origin_slot];
    return (node, at) => slot.connect(node.inputs[at], node);
  }
  const origin = graph.getNodeById(link.origin_id);
  const output = link.origin_slot;
  return (node, at) => origin?.connect(output, node, at);
}

/** @param {any} graph @param {any} link @returns {(node: any, at: number) => void} links an output */
function targetOf(graph, link) {
  if (String(link.target_id) === OUTPUTS) {
    const slot = graph.outputs[link.target_slot];
    return (node, at) => slot.connect(node.outputs[at], node);
  }
  const target = graph.getNodeById(link.target_id);
  const input = link.target_slot;
  return (node, at) => node.connect(at, target, input);
}
