// @ts-check
/**
 * Carries edits of the assistant out on the open workflow: each in one script task, as one undo
 * step, and only where the canvas still has what the edit was worked out from. What goes wrong
 * half-way is taken back.
 */

import { t } from "../strings.js";
import { errorText } from "../text/format.js";
import { changeSince } from "./canvas-base.js";
import { factsOf } from "./canvas-facts.js";
import { createScene } from "./canvas-scene.js";
import { applySteps, unknownTypes } from "./canvas-steps.js";
import { asOneStep, takeBack } from "./canvas-undo.js";
import { keyOf } from "./edit-results.js";
import { jsonBytes, offCanvas, onCanvas } from "./workflow.js";

/** @typedef {import("./edit-results.js").EditResult} EditResult */
/** @typedef {import("./canvas-undo.js").UndoStep} UndoStep */

/**
 * An edit as the server hands it over (docs/http.md, *Edits*).
 * @typedef {object} Edit
 * @property {string | null} workflow_id
 * @property {Readonly<Record<string, any>>} base
 * @property {readonly import("./canvas-steps.js").Step[]} steps
 */

/**
 * @typedef {Edit & {tool_call_id: string, message_id?: string, tool: string, new_ids?: Record<string, string>,
 *   name?: string, graph?: any}} EditCall
 */

/** Bytes of a result that the server takes: `before` and `after` together. */
const MOST_BYTES = 30_000_000;

/** @typedef {ReturnType<typeof createCanvasHand>} CanvasHand */

/**
 * @param {import("./host.js").Host} host
 * @param {() => string | undefined} openId id of the open workflow
 * @param {import("./edit-results.js").EditResults} results
 * @param {Pick<ReturnType<typeof import("./canvas-leave.js").createCanvasLeave>, "back" | "changed">} leave
 */
export function createCanvasHand(host, openId, results, leave) {
  /** The step of the edit that was carried out last. @type {{id: string, step: UndoStep} | null} */
  let last = null;
  const serialise = () => host.graph().serialize();
  const ready = () => Promise.all([host.ready(), leave.back]);

  /** @param {Edit} edit @param {boolean} isNew whether nodes of unknown types are refused */
  function refusal({ workflow_id: wanted, base, steps }, isNew) {
    const root = host.graph();
    if (!root || openId() !== wanted) {
      return { refused: "other_workflow", text: "Another workflow is open in the panel's page." };
    }
    const scene = createScene(root);
    const changed = changeSince(base ?? {}, (address) => factsOf(scene, address));
    if (changed) return { refused: "changed", text: changed };
    const unknown = isNew ? unknownTypes(steps, serialise(), host.knowsNode) : [];
    if (unknown.length) {
      return { refused: "unknown_type", text: `The page has no node type ${unknown.join(", ")}.` };
    }
    const graph = serialise();
    if (2 * jsonBytes(graph) + jsonBytes(steps) > MOST_BYTES) {
      return { refused: "too_large", text: "The workflow is too large to be edited from the chat." };
    }
    return null;
  }

  /** @param {Edit} edit @returns {Promise<{step: UndoStep & {error: unknown}, scene: any}>} */
  async function carryOut({ steps }) {
    const root = host.graph();
    /** @type {any} */
    let scene = null;
    const before = serialise();
    const step = await asOneStep(host.tracker(), serialise, () => {
      scene = applySteps({ root, liteGraph: host.liteGraph(), canvas: host.canvas(), before }, steps);
    });
    if (!step.error) leave.changed(step.before);
    return { step, scene };
  }

  /** @param {UndoStep & {error: unknown}} step @returns {Promise<string>} why, for the model */
  async function giveUp(step) {
    const taken = await takeBack(host.tracker(), serialise, step).catch(() => false);
    const rest = taken ? "Nothing was changed." : "A part of the edit may be on the canvas.";
    return `The front end could not carry the edit out: ${errorText(step.error)} ${rest}`;
  }

  /** @param {EditCall} call @returns {Promise<EditResult>} */
  async function edit(call) {
    const refused = refusal(call, call.tool !== "undoEdits");
    if (refused) return { output: refused };
    const { step, scene } = await carryOut(call);
    if (step.error) return { error: await giveUp(step) };
    last = { id: keyOf(call), step };
    const ids = Object.entries(call.new_ids ?? {}).map(([name, to]) => [name, scene.addressOf(to)]);
    const [before, after] = [step.before, step.after].map(onCanvas);
    const output = { before, after, ids: Object.fromEntries(ids) };
    results.keep(keyOf(call), { output });
    return { output };
  }

  /** @param {EditCall} call @returns {Promise<EditResult>} */
  async function open(call) {
    const name = await host.openNew(call.graph, String(call.name ?? ""));
    const id = openId();
    if (name === null || !id) return { error: "The front end did not open the workflow." };
    /** @type {EditResult} */
    const result = { output: { id, name, graph: onCanvas(serialise()) } };
    results.keep(keyOf(call), result);
    return result;
  }

  return {
    sends: results.sends,
    arrived: results.arrived,
    onItsWay: results.onItsWay,

    /**
     * Carries a call out, unless this tab has done it before.
     * @param {EditCall} call
     * @returns {Promise<EditResult>} never throws
     */
    async run(call) {
      await ready();
      try {
        const known = results.of(keyOf(call));
        if (known) return known;
        return await (call.tool === "openWorkflow" ? open(call) : edit(call));
      } catch (error) {
        return { error: errorText(error) };
      }
    },

    /**
     * Takes the call's step back, since the server did not get what it asked for.
     * @param {EditCall} call
     * @returns {Promise<boolean>} false: the user has changed the workflow since
     */
    async undo(call) {
      await ready();
      const known = results.of(keyOf(call));
      const output = known && "output" in known ? known.output : null;
      if (!output) return false;
      if (call.tool === "openWorkflow") return openId() === output.id && host.closeOpen();
      if (openId() !== call.workflow_id) return false;
      const [before, after] = [output.before, output.after].map(offCanvas);
      const kept = { before, after, entry: null, redo: [] };
      const step = last?.id === keyOf(call) ? last.step : kept;
      const now = serialise();
      const taken = await takeBack(host.tracker(), serialise, step).catch(() => false);
      if (taken) leave.changed(now);
      return taken;
    },

    /**
     * Carries steps out that a command of the user's answered.
     * @param {Edit} change
     * @returns {Promise<{text: string} | {error: string} | null>} null: done
     */
    async apply(change) {
      await ready();
      if (change.workflow_id !== openId()) return { text: t("canvas.other") };
      try {
        const refused = refusal(change, false);
        if (refused) return refused;
        const { step } = await carryOut(change);
        return step.error ? { error: await giveUp(step) } : null;
      } catch (error) {
        return { error: errorText(error) };
      }
    },
  };
}
