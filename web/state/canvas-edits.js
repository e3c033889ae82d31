// @ts-check
/**
 * Carries the edits that the server hands to this panel out on the canvas, one after the other, and
 * sends the results until the server has them. An edit that the server does not keep is taken back
 * before anything else.
 */

import { keyOf } from "../services/edit-results.js";
import { passes } from "./failure.js";

/** Tools whose calls are carried out on the canvas. */
const TOOLS = new Set(["editWorkflow", "undoEdits", "openWorkflow"]);

/** @typedef {import("../services/canvas-hand.js").EditCall} EditCall */
/** @typedef {import("../services/edit-results.js").EditResult} EditResult */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/** Milliseconds between two attempts to send a result. */
const PAUSE = 2000;
/** Attempts to send a result: the server has given the call up long before the last one. */
const ATTEMPTS = 60;

/**
 * @param {ServerChat | null} server
 * @param {string} clientId
 * @returns {EditCall[]} the edits that this panel has to carry out
 */
export function editsFor(server, clientId) {
  if (server?.runtime.state !== "waiting_client" || server.runtime.client_id !== clientId) return [];
  const calls = server.runtime.waiting.filter((each) => each.for === "panel" && TOOLS.has(each.tool));
  return /** @type {any[]} */ (calls);
}

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {object} chat
 * @param {() => Promise<ServerChat | null>} chat.fresh the state of the next snapshot
 * @param {ReturnType<typeof import("./canvas-news.js").createCanvasNews>} chat.canvas
 * @param {() => void} chat.stays an edit that should be taken back is on the canvas, since the user
 *   has changed the workflow after it
 */
export function createCanvasEdits(services, id, { fresh, canvas, stays }) {
  const { hand } = services;
  /** @type {Set<string>} `keyOf` the calls that were begun */
  const begun = new Set();
  /** The page was left with this edit on its canvas, which the server may not keep. */
  let left = hand.onItsWay(id);
  let last = Promise.resolve();

  /** @param {EditCall} call @param {EditResult} result @returns {Promise<any>} null: not taken */
  async function send(call, result) {
    const command = { type: "tool_result", tool_call_id: call.tool_call_id, ...result };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      try {
        return await services.api.command(id, command);
      } catch (error) {
        // The server refused: it does not have the chat or the call any more.
        if (!passes(error)) return null;
        await Promise.all([fresh(), services.wait(PAUSE)]);
      }
    }
    return null;
  }

  /** @param {EditCall} call */
  async function carryOut(call) {
    hand.sends(id, call);
    const result = await hand.run(call);
    const output = "output" in result ? result.output : null;
    const answer = await send(call, result);
    if (answer?.verdict === "undo") {
      if (!(await hand.undo(call))) stays();
      canvas.renew();
    } else if (answer?.verdict === "kept" && output?.after) {
      canvas.sent({ id: call.workflow_id ?? "", name: "", graph: output.after, selection: [] });
    } else if (output?.refused === "changed") canvas.renew();
    hand.arrived();
  }

  return {
    /** @param {ServerChat | null} server */
    look(server) {
      const calls = editsFor(server, services.clientId);
      // The server knows the call that waits by `tool_call_id` alone, so one at a time.
      if (server && left && !calls.length) calls.push(left);
      if (server) left = null;
      for (const call of calls) {
        if (begun.has(keyOf(call))) continue;
        begun.add(keyOf(call));
        last = last.then(() => carryOut(call)).catch(() => undefined);
      }
    },
  };
}
