// @ts-check
/** What the canvas has of one node, for the comparison with what the server knew. */

import { sourcesOf } from "./canvas-links.js";
import { split } from "./canvas-scene.js";

/** @typedef {import("./canvas-base.js").NodeFacts} NodeFacts */

const CONTROL = /^control_(after|before)_generate$/;
const SEED = /seed/i;

/**
 * A widget's name in steps and in what the server knows. The host gives the value of a PrimitiveNode
 * the name of the widget that it drives where that belongs to an option of a list, as in
 * "model.creativity"; the server calls it "value" on all of them.
 * @param {any} node
 * @param {any} widget
 * @returns {string}
 */
export function widgetName(node, widget) {
  return node.type === "PrimitiveNode" && widget === node.widgets[0] ? "value" : String(widget.name);
}

/**
 * @param {import("./canvas-scene.js").Scene} scene
 * @param {string} address
 * @returns {NodeFacts | null} null: there is no such node
 */
export function factsOf(scene, address) {
  const node = scene.find(address);
  if (!node) return null;
  const widgets = (node.widgets ?? []).map(
    (/** @type {any} */ widget, /** @type {number} */ at, /** @type {any[]} */ all) => ({
      name: widgetName(node, widget),
      value: widget.value,
      turns: turns(node, widget, all[at + 1]),
    }),
  );
  return {
    type: String(node.type),
    mode: node.mode ?? 0,
    widgets,
    sources: sourcesOf(node, split(address)[0]),
  };
}

/**
 * Whether runs change the value: its control, which follows it, is not "fixed". The control of a
 * promoted seed is inside of the subgraph.
 * @param {any} node @param {any} widget @param {any} next
 */
function turns(node, widget, next) {
  const control = (widget.linkedWidgets ?? []).find((/** @type {any} */ { name }) => CONTROL.test(name));
  const follows = control ?? (CONTROL.test(next?.name ?? "") ? next : null);
  if (follows) return follows.value !== "fixed";
  return Boolean(node.subgraph) && typeof widget.value === "number" && SEED.test(widget.name);
}
