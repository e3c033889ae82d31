// @ts-check
/**
 * What a change of the workflow did: the changes in words, the first of them at once, and the
 * problems that the change made. A change that was taken back says so, and its problems are gone.
 */

import { editOf } from "../state/edits.js";
import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { clip, nameOf, seen } from "../text/plain.js";
import { countRows, readDiff } from "../text/workflow-diff.js";
import { createCard } from "./card.js";
import { changeBody } from "./change-body.js";
import { h, icon, setText, show as showIf } from "./dom.js";

/** @typedef {import("../text/workflow-diff.js").DiffRow} DiffRow */
/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("./node-chip.js").ShowNode} ShowNode */

/** Characters of the details. */
const DETAILS = 20_000;

/** @param {ToolPart} part with its result @param {ShowNode} show */
export function createEditCard(part, show) {
  const edit = editOf(part);
  const rows = readDiff(seen(edit.diff));
  const note = edit.of === "edit" ? nameOf(Object(part.input).note, 300) : "";
  let isUndone = false;
  const card = createCard({
    tone: "plain",
    mark: "check",
    title: titleOf(edit, rows, isUndone),
    role: "group",
    body: [
      note && h("p", { class: "ca-edit__note", dir: "auto" }, note),
      ...changeBody(edit, rows, show, true),
    ],
    details: edit.diff ? { label: t("error.details"), text: seen(clip(edit.diff, DETAILS)) } : undefined,
  });
  card.classList.add("ca-edited");
  return {
    element: card,
    /** @param {ToolPart} _ @param {{undone: boolean}} facts */
    update(_, { undone }) {
      const taken = undone && edit.of !== "open";
      if (taken === isUndone) return;
      isUndone = taken;
      const title = titleOf(edit, rows, isUndone);
      card.setAttribute("aria-label", title);
      const head = /** @type {HTMLElement} */ (card.querySelector(".ca-card__title"));
      head.firstElementChild?.replaceWith(icon(isUndone ? "undo" : "check"));
      setText(/** @type {Node} */ (head.lastChild), title);
      const problems = /** @type {HTMLElement | null} */ (card.querySelector(".ca-problems"));
      if (problems) showIf(problems, !isUndone);
    },
  };
}

/**
 * @param {import("../state/edits.js").Edit} edit
 * @param {readonly DiffRow[]} rows
 * @param {boolean} undone whether the changes of the answer were taken back
 * @returns {string} "2 nodes added, 1 value changed"
 */
function titleOf({ of, name }, rows, undone) {
  if (of === "open") return t("edit.opened", { name: nameOf(name) || t("empty.unnamed") });
  const { added, removed, values, links, others } = countRows(rows);
  const said = [
    added && tn("edit.added", added, { count: number(added) }),
    removed && tn("edit.removed", removed, { count: number(removed) }),
    values && tn("edit.values", values, { count: number(values) }),
    links && tn("edit.links", links, { count: number(links) }),
    others && tn("edit.others", others, { count: number(others) }),
  ].filter(Boolean);
  const what = said.join(", ") || t("edit.nothing");
  if (of === "undo") return t(undone ? "edit.redone" : "edit.undone", { what });
  return undone ? t("edit.undone", { what }) : what;
}
