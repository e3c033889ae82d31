// @ts-check
/**
 * The way of a command to the server: one after the other, over a connection that comes and goes,
 * and none twice. What a command means is `chat.js`'s.
 */

import { ApiError, NetworkError } from "../services/api.js";
import { arrived, works } from "./chat-state.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("./chat-state.js").Outgoing} Outgoing */

/** Milliseconds until a chat that could not be made is tried again. */
const CREATE_RETRY = 2000;

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id the chat's
 * @param {import("./chat-stream.js").ChatStream} stream
 * @param {{isKnown: () => boolean, known: () => void, lost: () => void}} chat whether the server
 *   has it, that it has it now, that the server cannot be reached
 */
export function createDelivery(services, id, stream, chat) {
  const { api } = services;
  /** Ends waiting for a server that is away. */
  let giveUp = () => {};
  // A second message could overtake the first.
  let line = Promise.resolve();

  /** A new chat becomes the server's with the first thing that is sent. */
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
     * @param {() => Promise<T>} send when those before it are done
     * @returns {Promise<T>}
     */
    inLine(send) {
      const sent = line.then(send);
      line = sent.then(
        () => undefined,
        () => undefined,
      );
      return sent;
    },

    /**
     * Sends until the server has it, or says no, or the user gives up.
     * @param {Command} command
     * @param {Outgoing | null} outgoing how it is told from what the server has
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
        } else await Promise.race([services.wait(CREATE_RETRY), givenUp]);
      }
    },
  };
}
