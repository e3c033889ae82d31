// @ts-check
/** The plan of an answer: the list of steps that the model keeps with `updatePlan`. Pure. */

import { isTool } from "./fold-tool.js";
import { toolName } from "./messages.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {"open" | "doing" | "done" | "dropped"} StepState */
/** @typedef {{text: string, state: StepState}} PlanStep */

export const PLAN_TOOL = "updatePlan";
/** States of a step; a step with another one counts as open. */
const STATES = new Set(["open", "doing", "done", "dropped"]);
/** Most steps that are shown. */
const MOST = 100;

/** @param {Part} part @returns {boolean} whether the part is shown by the plan's card alone */
export const isPlan = (part) =>
  isTool(part) && toolName(part) === PLAN_TOOL && part.state !== "output-error";

/**
 * The newest plan of an answer. A call whose arguments are still arriving counts when it has at
 * least as many steps as the plan before it, so that the card does not shrink and grow again.
 * @param {readonly Part[]} parts of an answer
 * @returns {readonly PlanStep[]} no steps for no plan
 */
export function planOf(parts) {
  /** @type {readonly PlanStep[]} */
  let plan = [];
  for (const part of parts) {
    if (!isTool(part) || !isPlan(part)) continue;
    const steps = stepsOf(part.input);
    if (part.state === "input-streaming" && steps.length < plan.length) continue;
    if (steps.length) plan = steps;
  }
  return plan;
}

/** @param {unknown} input arguments of `updatePlan` @returns {PlanStep[]} */
function stepsOf(input) {
  const { steps } = /** @type {{steps?: unknown}} */ (Object(input));
  if (!Array.isArray(steps)) return [];
  return steps.slice(0, MOST).flatMap((each) => {
    const { text, state } = Object(each);
    if (typeof text !== "string" || !text.trim()) return [];
    return [{ text, state: STATES.has(state) ? state : "open" }];
  });
}

/**
 * @param {readonly PlanStep[]} plan
 * @returns {{done: number, all: number}} steps that are done, of those that are not dropped
 */
export function progressOf(plan) {
  const kept = plan.filter(({ state }) => state !== "dropped");
  return { done: kept.filter(({ state }) => state === "done").length, all: kept.length };
}
