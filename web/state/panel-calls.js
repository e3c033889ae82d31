// @ts-check
/** Carries out the tool calls that wait for this panel, each once, and tells the server. */

import { NetworkError } from "../services/api.js";
import { pendingPanelCalls, toolName } from "./messages.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("./fold-events.js").ServerChat} ServerChat */

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id the chat's
 * @param {() => Promise<ServerChat | null>} fresh what the server says after a lost connection
 */
export function createPanelCalls(services, id, fresh) {
  /** @type {Set<string>} calls that were begun */
  const begun = new Set();
  let line = Promise.resolve();

  /** @param {ServerChat | null} server @returns {ToolPart[]} those that are this panel's */
  const waitingHere = (server) =>
    server?.runtime.state === "waiting_client" && server.runtime.client_id === services.clientId
      ? pendingPanelCalls(server.messages, server.runtime.waiting)
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
        // Refused: another panel was first, or the turn is over.
        if (!(error instanceof NetworkError)) return;
        const waits = waitingHere(await fresh());
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
        line = line.then(() => carryOut(call));
      }
    },
  };
}
