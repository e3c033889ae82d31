// @ts-check
/** Below an answer that changed the workflow: the button that takes back all its changes, or *Redo*. */

import { t } from "../strings.js";
import { clip, seen } from "../text/plain.js";
import { h, icon, present } from "./dom.js";
import { nodeChip } from "./node-chip.js";

/** @typedef {import("../types.js").TakenBack} TakenBack */

/**
 * @param {TakenBack | undefined} taken what was done about the changes
 * @param {{undo: () => unknown, redo: () => unknown, showNode: import("./node-chip.js").ShowNode,
 *   kindOf: (id: string) => string, disabled: boolean}} actions `kindOf`: a node's type; "" for one
 *   that the answer did not name
 */
export function turnEdits(taken, { undo, redo, showNode, kindOf, disabled }) {
  const isUndone = taken?.undone === true;
  const act = h(
    "button",
    {
      type: "button",
      class: "ca-button ca-button--plain ca-button--small",
      disabled: disabled || taken?.busy,
      onclick: isUndone ? redo : undo,
    },
    icon(isUndone ? "redo" : "undo"),
    t(isUndone ? "edits.redo" : "edits.undo"),
  );
  return h(
    "div",
    { class: "ca-turn-edits" },
    act,
    isUndone && !taken?.refused && h("span", { class: "ca-quiet", role: "status" }, t("edits.undone")),
    taken?.refused && refusal(taken.refused, showNode, kindOf),
  );
}

/**
 * @param {NonNullable<TakenBack["refused"]>} refused
 * @param {import("./node-chip.js").ShowNode} show
 * @param {(id: string) => string} kindOf
 */
const refusal = ({ nodes, text }, show, kindOf) =>
  h(
    "div",
    { class: "ca-turn-edits__why", role: "status" },
    nodes.length ? t("edits.changed") : seen(clip(text, 300)),
    ...nodes.slice(0, 12).flatMap((id) => present([" ", nodeChip({ id, kind: kindOf(id) }, show)])),
  );
