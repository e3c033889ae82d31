// @ts-check
/** The changes of the workflow that an answer made: what each call changed, as its result says it. Pure. */

import { readDiff } from "../text/workflow-diff.js";
import { isTool } from "./fold-tool.js";
import { toolName } from "./messages.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").ToolPart} ToolPart */

export const EDIT_TOOL = "editWorkflow";
export const OPEN_TOOL = "openWorkflow";
/** How the diff of an edit begins that only said what is so already (`assistant/workflow/diff.py`). */
const NOTHING = "Nothing has changed";
/** Tools whose results are shown as a card of what changed. */
const TOOLS = new Set([EDIT_TOOL, OPEN_TOOL, "undoEdits"]);

/** @typedef {{node: string, message: string, fix: string}} EditProblem */
/**
 * @typedef {object} Change
 * @property {string} diff in the words of `assistant/workflow/diff.py`; "" where nothing changed
 * @property {readonly EditProblem[]} problems that the change makes
 * @property {number} instances of a subgraph that change with it; 0 where that is not said
 */
/**
 * @typedef {Change & {of: "edit" | "undo" | "open", name: string}} Edit `name`: of the workflow that
 *   was opened
 */

/** @param {Part} part @returns {boolean} whether the part is a change that was made */
export const isEdit = (part) =>
  isTool(part) && part.state === "output-available" && TOOLS.has(toolName(part));

/** @param {ToolPart} part with a result @returns {Edit} */
export function editOf(part) {
  const result = resultOf(part.output);
  const tool = toolName(part);
  return {
    ...changeOf(result),
    of: tool === EDIT_TOOL ? "edit" : tool === OPEN_TOOL ? "open" : "undo",
    name: typeof result.name === "string" ? result.name : "",
  };
}

/** @param {Record<string, any>} said as a result or a question has it @returns {Change} */
export const changeOf = ({ diff, problems, instances }) => ({
  diff: typeof diff === "string" && !isNothing(diff) ? diff : "",
  problems: Array.isArray(problems) ? problems.flatMap(problemOf) : [],
  instances: Number.isInteger(instances) ? instances : 0,
});

/** @param {unknown} diff */
const isNothing = (diff) => typeof diff === "string" && diff.startsWith(NOTHING);

/** @param {unknown} output an object, its JSON, or a text @returns {Record<string, any>} */
function resultOf(output) {
  if (typeof output !== "string") return Object(output);
  try {
    return Object(JSON.parse(output));
  } catch {
    return { diff: output };
  }
}

/** @param {any} problem @returns {EditProblem[]} */
function problemOf(problem) {
  if (typeof problem === "string") return [{ node: "", message: problem, fix: "" }];
  const { node, message, fix } = Object(problem);
  if (typeof message !== "string") return [];
  return [
    {
      node: typeof node === "string" ? node : "",
      message,
      fix: typeof fix?.text === "string" ? fix.text : "",
    },
  ];
}

/**
 * @param {readonly Part[]} parts of an answer
 * @returns {boolean} whether the answer made changes that can be taken back
 */
export const hasEdits = (parts) =>
  parts.some(
    (part) =>
      isTool(part) &&
      isEdit(part) &&
      toolName(part) === EDIT_TOOL &&
      !isNothing(resultOf(part.output).diff),
  );

/** @param {readonly Part[]} parts @returns {Map<string, string>} types of the nodes that the edits name */
export function kindsOf(parts) {
  const rows = parts.filter(isEdit).flatMap((part) => readDiff(editOf(/** @type {ToolPart} */ (part)).diff));
  const named = rows.flatMap(({ node }) => (node && !node.inside ? [node] : []));
  return new Map(named.map(({ id, kind }) => [id, kind]));
}
