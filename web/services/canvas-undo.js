// @ts-check
/**
 * One undo step of the host for a change that the panel makes, and taking that step back. The host
 * keeps the states of a workflow in its change tracker; older front ends call its methods otherwise.
 */

import { fingerprint } from "./workflow.js";

/**
 * @typedef {object} UndoStep
 * @property {any} before the workflow's JSON
 * @property {any} after
 * @property {any} entry the host's state that the step's undo brings back; null: it has none
 * @property {readonly any[]} redo what could be made again before the step
 */

/** @param {any} value @returns {any} the object behind Vue's proxy */
const raw = (value) => value?.__v_raw ?? value;

/** @param {any} graph @returns {any} as JSON: a node may keep what cannot be cloned otherwise */
const copy = (graph) => JSON.parse(JSON.stringify(graph));

/** @param {any} tracker makes an undo step of what the user has changed until now */
const capture = (tracker) => (tracker?.captureCanvasState ?? tracker?.checkState)?.call(tracker);

/**
 * Carries out a change as one undo step, also where it fails half-way. The step ends when the front
 * end has done what it put off until the running script ends, as the removal of a promoted widget
 * that feeds nothing any more: no event of the page comes in between.
 * @param {any} tracker of the open workflow
 * @param {() => any} serialise
 * @param {() => void} change
 * @returns {Promise<UndoStep & {error: unknown}>} `error`: what `change` threw; undefined for nothing
 */
export async function asOneStep(tracker, serialise, change) {
  capture(tracker);
  const before = copy(serialise());
  const redo = [...(tracker?.redoQueue ?? [])];
  const last = raw(tracker?.undoQueue?.at(-1));
  const depth = tracker?.changeCount ?? 0;
  let error;
  tracker?.beforeChange?.();
  try {
    change();
    await Promise.resolve();
  } catch (thrown) {
    error = thrown ?? new Error("unknown");
  } finally {
    // A call of the host that threw may have left its own bracket open.
    if (tracker && "changeCount" in tracker) tracker.changeCount = depth + 1;
    tracker?.afterChange?.();
  }
  const top = raw(tracker?.undoQueue?.at(-1));
  const entry = top === last ? null : top;
  return { before, after: error ? null : copy(serialise()), entry, redo, error };
}

/**
 * Takes the step back, so that neither undo nor redo has it any more.
 * @param {any} tracker of the open workflow
 * @param {() => any} serialise
 * @param {UndoStep} step also one of before a reload, of which the host knows nothing
 * @returns {Promise<boolean>} false: the workflow was changed since, and nothing is taken back
 */
export async function takeBack(tracker, serialise, step) {
  if (!tracker?.undoQueue || typeof tracker.undo !== "function") return false;
  const failed = step.after === null;
  const isSame = failed || fingerprint(serialise()) === fingerprint(step.after);
  if (!isSame) capture(tracker);
  const isLast = step.entry !== null && raw(tracker.undoQueue.at(-1)) === step.entry;
  if (!isLast && !isSame) return false;
  if (!isLast) tracker.undoQueue.push(copy(step.before));
  const undone = tracker.redoQueue.length;
  await tracker.undo();
  if (tracker.redoQueue.length <= undone) return false;
  tracker.redoQueue.splice(0, tracker.redoQueue.length, ...step.redo);
  return true;
}
