// @ts-check
/**
 * Sends commands to the server in order and once each, also when the connection is lost meanwhile.
 * Which commands are sent is decided in `chat.js`.
 */

import { ApiError, NetworkError } from "../services/api.js";
import { arrived, works } from "./chat-state.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("./chat-state.js").Outgoing} Outgoing */

/** The outbox has no such message any more: the user has it back, or another tab has sent it. */
export class Withdrawn extends Error {}

/** Milliseconds until a command is tried again. */
const RETRY = 2000;

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {import("./chat-stream.js").ChatStream} stream
 * @param {{isKnown: () => boolean, temporary: boolean, known: () => void, lost: () => void,
 *   params: () => import("../types.js").ChatParams | null}} chat `isKnown`: whether the server has
 *   the chat; `known`: called when the server has it; `lost`: called when the server cannot be
 *   reached; `params`: those that were set before the server had the chat
 */
export function createDelivery(services, id, stream, chat) {
  const { api } = services;
  /** Ends the wait for an unreachable server. */
  let giveUp = () => {};
  // Requests run one after another: a second message could overtake the first.
  let lastRequest = Promise.resolve();

  /** Creates a new chat on the server before its first command. */
  async function makeKnown() {
    if (!chat.isKnown()) {
      const temporary = chat.temporary ? /** @type {[true]} */ ([true]) : [];
      await api.createChat(id, services.workflowName(), ...temporary).catch((error) => {
        if (!(error instanceof ApiError && error.code === "chat_exists")) throw error;
      });
      const params = chat.params();
      // What may be done without asking counts from the first message on.
      if (params) await api.command(id, { type: "set_params", params });
      chat.known();
    }
    stream.open();
  }

  return {
    giveUp: () => giveUp(),

    /**
     * @template T
     * @param {() => Promise<T>} send called when all earlier requests have ended
     * @returns {Promise<T>}
     */
    inOrder(send) {
      const sent = lastRequest.then(send);
      lastRequest = sent.then(
        () => undefined,
        () => undefined,
      );
      return sent;
    },

    /**
     * Sends a command until the server has it, refuses it, or the user gives up.
     * @param {Command} command
     * @param {Outgoing | null} outgoing shows whether a snapshot already contains the command
     * @param {() => boolean} [settled] whether the question is answered that the command answers
     * @returns {Promise<{answered?: boolean}>} the server's answer
     * @throws {Withdrawn} the outbox does not have the message any more
     */
    async send(command, outgoing, settled = () => false) {
      let over = false;
      /** @type {Promise<never>} */
      const givenUp = new Promise((_resolve, reject) => {
        giveUp = () => {
          over = true;
          reject(new NetworkError());
        };
      });
      givenUp.catch(() => undefined);
      const message = outgoing?.message;
      for (;;) {
        if (message && !services.outbox.has(message.id)) throw new Withdrawn();
        try {
          await makeKnown();
          if (over) return await givenUp;
          return await api.command(id, command);
        } catch (error) {
          if (over || !(error instanceof NetworkError)) throw error;
          chat.lost();
        }
        const snapshot = chat.isKnown() ? stream.fresh() : null;
        const pause = Promise.all([snapshot, services.wait(RETRY)]);
        const [server] = await Promise.race([pause, givenUp]);
        if (server && (outgoing ? arrived(server, outgoing) : works(server))) return {};
        if (server && settled()) return { answered: true };
      }
    },
  };
}
