// @ts-check
/**
 * Sends commands to the server in order and once each, also when the connection is lost meanwhile.
 * Which commands are sent is decided in `chat.js`.
 */

import { ApiError, NetworkError } from "../services/api.js";
import { arrived, works } from "./chat-state.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("./chat-state.js").Outgoing} Outgoing */

/** Milliseconds until a command is tried again that no event stream waits for. */
const RETRY = 2000;

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {import("./chat-stream.js").ChatStream} stream
 * @param {{isKnown: () => boolean, known: () => void, lost: () => void}} chat `isKnown`: whether
 *   the server has the chat; `known`: called when the server has it; `lost`: called when the server
 *   cannot be reached
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
      const open = services.workflow();
      const workflow = open?.name ? { id: open.id, name: open.name } : undefined;
      await api.createChat(id, workflow).catch((error) => {
        if (!(error instanceof ApiError && error.code === "chat_exists")) throw error;
      });
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
     */
    async send(command, outgoing) {
      /** @type {Promise<never>} */
      const givenUp = new Promise((_resolve, reject) => {
        giveUp = () => reject(new NetworkError());
      });
      givenUp.catch(() => undefined);
      for (;;) {
        try {
          await makeKnown();
          await api.command(id, command);
          return;
        } catch (error) {
          if (!(error instanceof NetworkError)) throw error;
          chat.lost();
        }
        if (chat.isKnown()) {
          const server = await Promise.race([stream.fresh(), givenUp]);
          if (server && (outgoing ? arrived(server, outgoing) : works(server))) return;
          // The chat was left: its stream has ended, and the command still has to arrive.
          if (server && !stream.hasLeft()) continue;
        }
        await Promise.race([services.wait(RETRY), givenUp]);
      }
    },
  };
}
