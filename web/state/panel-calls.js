// @ts-check
/** Runs the tool calls that the server assigned to this panel, once each, and sends the results. */

import { passes } from "./failure.js";
import { pendingPanelCalls, toolName } from "./messages.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/** Milliseconds between two attempts to send a result. */
const PAUSE = 2000;

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {() => Promise<ServerChat | null>} fresh the state of the next snapshot
 */
export function createPanelCalls(services, id, fresh) {
  /** @type {Set<string>} ids of the calls that were started */
  const begun = new Set();
  let lastCall = Promise.resolve();

  /** @param {ServerChat | null} server @returns {ToolPart[]} calls of this panel */
  const waitingHere = (server) =>
    server?.runtime.state === "waiting_client" && server.runtime.client_id === services.clientId
      ? pendingPanelCalls(
          server.messages,
          server.runtime.waiting.map(({ tool_call_id: call }) => call),
        )
      : [];

  /** @param {ToolPart} call */
  async function carryOut(call) {
    const result = await services.tools.run(toolName(call), call.input);
    const command = { type: "tool_result", tool_call_id: call.toolCallId, ...result };
    for (;;) {
      try {
        await services.api.command(id, command);
        return;
      } catch (error) {
        // The server refused: another panel sent the result, or the turn has ended.
        if (!passes(error)) return;
        const [server] = await Promise.all([fresh(), services.wait(PAUSE)]);
        const waits = waitingHere(server);
        if (!waits.some((each) => each.toolCallId === call.toolCallId)) return;
      }
    }
  }

  return {
    /** @param {ServerChat | null} server */
    look(server) {
      for (const call of waitingHere(server)) {
        if (begun.has(call.toolCallId)) continue;
        begun.add(call.toolCallId);
        lastCall = lastCall.then(() => carryOut(call));
      }
    },
  };
}
