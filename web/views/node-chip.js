// @ts-check
/** The name of a node as a button that shows the node on the canvas. */

import { t } from "../strings.js";
import { nameOf } from "../text/plain.js";
import { h } from "./dom.js";

/** @typedef {import("../services/canvas-view.js").NodePlace} NodePlace */
/** @typedef {(place: NodePlace) => boolean} ShowNode false: the open workflow has no such node */

/**
 * @param {NodePlace & {kind?: string}} node
 * @param {ShowNode} show
 */
export function nodeChip({ id, inside, kind = "" }, show) {
  const name = `${nameOf(kind, 40)} ${nameOf(id, 20)}`.trim();
  const label = t("node.show", { name });
  const chip = h("button", { type: "button", class: "ca-node", title: label }, h("bdi", {}, name));
  chip.addEventListener("click", () => {
    const found = show({ id, ...(inside ? { inside } : {}) });
    chip.title = found ? label : t("node.gone", { name });
    chip.classList.toggle("ca-node--gone", !found);
  });
  return chip;
}
