// @ts-check
/**
 * What an edit changes in the workflow: a line for each node, the first of them at once, and the
 * problems that the edit makes. For the question before it and for the card after it.
 */

import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { clip, nameOf, seen } from "../text/plain.js";
import { h, icon, present } from "./dom.js";
import { nodeChip } from "./node-chip.js";

/** @typedef {import("../text/workflow-diff.js").DiffChange} DiffChange */
/** @typedef {import("../text/workflow-diff.js").DiffRow} DiffRow */
/** @typedef {import("./node-chip.js").ShowNode} ShowNode */

/** Changes that are shown before the user asks for all, and most nodes of all. */
const FIRST = 6;
const MOST = 300;
/** Problems that are shown. */
const PROBLEMS = 8;
/** Characters of a value, and of both sides of a short one. */
const VALUE = 160;
const SHORT = 36;

/**
 * @param {import("../state/edits.js").Change} change
 * @param {readonly DiffRow[]} rows of its difference
 * @param {ShowNode} show
 * @param {boolean} isDone false: the canvas does not have the new nodes yet
 * @returns {(Node | string)[]}
 */
export const changeBody = ({ instances, problems }, rows, show, isDone) =>
  present([
    instances > 1 && h("p", { class: "ca-quiet" }, tn("edit.instances", instances)),
    rows.length > 0 && changeList(rows, show, isDone),
    problems.length > 0 && problemList(problems, show),
  ]);

/**
 * One line for each node. As many nodes are shown at first as have about six changes together.
 * @param {readonly DiffRow[]} rows
 * @param {ShowNode} show
 * @param {boolean} isDone
 */
function changeList(rows, show, isDone) {
  /** @param {DiffRow} row */
  const lineOf = (row) => line(row, show, isDone);
  const all = rows.reduce((count, row) => count + weight(row), 0);
  let shown = 0;
  let first = 0;
  while (first < rows.length && (first === 0 || shown + weight(rows[first]) <= FIRST)) {
    shown += weight(rows[first]);
    first += 1;
  }
  const list = h("ul", { class: "ca-changes" }, ...rows.slice(0, first).map(lineOf));
  if (first === rows.length) return list;
  const more = h("button", { type: "button", class: "ca-link" });
  more.textContent = t("edit.all", { count: number(all) });
  more.addEventListener("click", () => {
    list.append(...rows.slice(first, MOST).map(lineOf));
    more.remove();
  });
  return h("div", {}, list, more);
}

/** @param {DiffRow} row @returns {number} how many changes it has */
const weight = ({ changes, text }) => Math.max(1, changes.length + (text ? 1 : 0));

/** @param {DiffRow} row @param {ShowNode} show @param {boolean} isDone */
function line({ mark, node, changes, text }, show, isDone) {
  const name = `${nameOf(node?.kind)} ${nameOf(node?.id)}`;
  if (mark === "removed") {
    return h("li", { class: "ca-change" }, h("s", { class: "ca-old" }, name), quiet("edit.gone"));
  }
  if (mark === "added" && !isDone) {
    return h("li", { class: "ca-change" }, h("bdi", {}, name), quiet("edit.new"));
  }
  const chip = node && nodeChip(node, show);
  if (mark === "added") return h("li", { class: "ca-change" }, chip, quiet("edit.new"));
  const isLong = changes.some(isLongChange) || text.length > SHORT;
  return h(
    "li",
    { class: `ca-change${isLong ? " ca-change--long" : ""}` },
    chip,
    h(
      "ul",
      { class: "ca-change__list" },
      ...changes.map(changeItem),
      text && h("li", { class: "ca-change__long" }, clip(text, VALUE)),
    ),
  );
}

/** @param {"edit.gone" | "edit.new"} key */
const quiet = (key) => h("span", { class: "ca-quiet" }, t(key));

/** @param {DiffChange} change */
const isLongChange = ({ before, after }) =>
  (before?.length ?? 0) + (after?.length ?? 0) > SHORT;

/** @param {DiffChange} change */
function changeItem(change) {
  const { of, name, before, after } = change;
  const label = of === "value" || of === "link" ? name : t(`edit.of.${of}`);
  const was = before !== null && h("s", { class: "ca-old" }, valueText(of, before));
  const now = after === null ? gone(of) : h("span", {}, valueText(of, after));
  return h(
    "li",
    { class: isLongChange(change) ? "ca-change__long" : null },
    h("span", { class: "ca-change__name" }, h("bdi", {}, nameOf(label, 60))),
    " ",
    h("span", { class: "ca-change__values", dir: "auto" }, was, was && now && " ", now),
  );
}

/** @param {DiffChange["of"]} of */
const gone = (of) =>
  of === "type" ? null : h("span", { class: "ca-quiet" }, t(of === "link" ? "edit.cut" : "edit.none"));

/** @param {DiffChange["of"]} of @param {string} value */
const valueText = (of, value) =>
  `${of === "link" ? "← " : ""}${clip(value, VALUE) || t("edit.empty")}`;

/** @param {readonly import("../state/edits.js").EditProblem[]} problems @param {ShowNode} show */
function problemList(problems, show) {
  const shown = problems.slice(0, PROBLEMS);
  const left = problems.length - shown.length;
  return h(
    "section",
    { class: "ca-problems" },
    h("h4", { class: "ca-step__label" }, tn("edit.problems", problems.length)),
    h(
      "ul",
      {},
      ...shown.map(({ node, message, fix }) =>
        h(
          "li",
          {},
          icon("warn"),
          h(
            "span",
            { dir: "auto" },
            ...present([node && nodeChip({ id: node }, show), node && " ", seen(clip(message, 400))]),
            fix && h("span", { class: "ca-quiet" }, ` ${seen(clip(fix, 200))}`),
          ),
        ),
      ),
    ),
    left > 0 && h("p", { class: "ca-quiet" }, t("edit.more", { count: number(left) })),
  );
}
