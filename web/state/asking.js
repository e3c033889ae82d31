// @ts-check
/**
 * What one chat asks the model: messages, versions of messages, other answers. A message is in the
 * log, in the queue, or among the unsent ones from the moment it is sent until the server has it or
 * the text is back in the composer; `outbox.js` keeps it for the next visit meanwhile.
 */

import { ApiError } from "../services/api.js";
import { PASSING } from "../services/events.js";
import { arrived, works } from "./chat-state.js";
import { Withdrawn } from "./delivery.js";
import { failureOf } from "./failure.js";
import * as list from "./messages.js";
import { openQuestion } from "./waiting.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {import("./chat-state.js").Local} Local */
/** @typedef {import("./chat-state.js").Outgoing} Outgoing */

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {object} chat
 * @param {import("./chat-stream.js").ChatStream} chat.stream
 * @param {ReturnType<typeof import("./delivery.js").createDelivery>} chat.delivery
 * @param {ReturnType<typeof import("./canvas-news.js").createCanvasNews>} chat.canvas
 * @param {() => Local} chat.local
 * @param {(changes: Partial<Local>) => void} chat.set
 * @param {() => ChatState} chat.get
 * @param {(text: string) => void} chat.endDraft the text was sent: it is no draft any more
 */
export function createAsking(services, id, { stream, delivery, canvas, local, set, get, endDraft }) {
  const { api, outbox } = services;
  const { inOrder } = delivery;
  /** Whether the server has accepted the command of `local().outgoing`. */
  let accepted = false;
  /** Ids of the user messages that this panel sent. @type {Set<string>} */
  const ours = new Set();
  /** Ids of the waiting messages that the server has accepted, or the user has taken back. */
  const settled = new Set();
  /** Texts of the messages of an earlier visit, by id: one may be the chat's draft still. */
  const earlier = new Map();
  /** Id of the message that is being sent. */
  let current = "";

  /** @param {string} messageId the server has the message, or the user has it back */
  function leave(messageId) {
    outbox.remove(messageId);
    set({ waiting: local().waiting.filter((message) => message.id !== messageId) });
  }

  /**
   * @param {Command} command
   * @param {Outgoing | null} outgoing shown before the server confirms it
   * @returns {Promise<boolean>} false: refused, the caller gives the text back to the user
   */
  async function change(command, outgoing) {
    accepted = false;
    current = outgoing?.message?.id ?? "";
    const server = stream.server();
    const question = command.type === "user_message" ? openQuestion(get().messages) : null;
    // A message that answers a question is shown in the question's card.
    const asked = question?.key ?? "";
    const text = outgoing?.message ? list.textOf(outgoing.message) : "";
    if (asked) {
      const waiting = local().waiting.filter(({ id: each }) => each !== current);
      set({ answers: new Map(local().answers).set(asked, { text }), waiting });
    }
    const queued = works(server) || server?.runtime.state === "paused" || question;
    const shown = queued ? null : outgoing;
    const sent = shown?.message?.id ?? local().sent;
    // What is sent stands at the end, or in the place of a message.
    if (!outgoing?.cut || !stream.shows(outgoing.cut)) stream.toLatest();
    const sending = local().sending + 1;
    set({ failure: null, failed: null, outgoing: shown, sent, sending });
    try {
      const workflow = services.workflow();
      // A server that has lost a temporary chat must not make one that is kept.
      const kept = local().temporary ? { temporary: true } : {};
      const { answered } = await delivery.send({ ...command, workflow, ...kept }, outgoing, () =>
        isAnswered(asked),
      );
      canvas.sent(workflow);
      accepted = true;
      taken();
      if (answered) leave(current);
      return true;
    } catch (error) {
      if (asked) {
        const answers = new Map(local().answers);
        answers.delete(asked);
        set({ answers });
      }
      return notTaken(error, command, outgoing, shown);
    } finally {
      current = "";
      set({ sending: local().sending - 1 });
    }
  }

  /** @param {string} asked @returns {boolean} whether the server has an answer to this question */
  function isAnswered(asked) {
    const messages = stream.server()?.messages ?? [];
    return asked !== "" && openQuestion(messages)?.key !== asked;
  }

  /** The server has the message that was sent. */
  function taken() {
    if (!current) return;
    outbox.remove(current);
    settled.add(current);
    endDraft(earlier.get(current) ?? "");
    drop();
  }

  /**
   * @param {unknown} error
   * @param {Command} command
   * @param {Outgoing | null} outgoing
   * @param {Outgoing | null} shown
   */
  function notTaken(error, command, outgoing, shown) {
    if (settled.has(current) || error instanceof Withdrawn) {
      // The user has taken it back meanwhile.
      leave(current);
      set({ outgoing: null });
      return true;
    }
    const passes = !(error instanceof ApiError) || PASSING.has(error.status);
    const server = stream.server();
    if (passes && server && outgoing && arrived(server, outgoing)) {
      // A gateway gave up a request that the server had taken.
      taken();
      return true;
    }
    const keeps = shown !== null && shown === local().outgoing && passes;
    const failure = failureOf(error);
    if (keeps) set({ failed: { command, outgoing: shown, failure } });
    else {
      if (current) leave(current);
      set({ failure, outgoing: null });
    }
    return keeps;
  }

  /** Takes the messages that the server has, as its events say, from the waiting ones. */
  function drop() {
    const server = stream.server();
    const { waiting } = local();
    const left = waiting.filter((message) => !server || !arrived(server, { message, cut: null }));
    if (left.length < waiting.length) set({ waiting: left });
  }

  /**
   * Sends a message that waits.
   * @param {UIMessage} message
   * @param {string | undefined} replaces
   * @returns {Promise<boolean>} false: refused, the caller gives the text back to the user
   */
  function deliver(message, replaces) {
    ours.add(message.id);
    const { messages } = get();
    const paused = list.pendingApprovals(messages).length > 0 || openQuestion(messages) !== null;
    return inOrder(async () => {
      if (settled.has(message.id)) return true;
      // A message that failed before is sent first, so that the order is kept.
      const first = local().failed;
      if (first) await change(first.command, first.outgoing);
      if (local().failed) {
        leave(message.id);
        return false;
      }
      // A new message waits behind a turn that waits for approval, and answers a question; an edited
      // one takes the place of both.
      if (paused && replaces) await api.command(id, { type: "abort" }).catch(() => undefined);
      const command = replaces
        ? { type: "retry_from_index", message_id: replaces, message }
        : { type: "user_message", message };
      return change(command, { message, cut: replaces ?? null });
    });
  }

  /** Shows where a message of an earlier visit is: the server may have had it all along. */
  async function look() {
    if (!(await stream.fresh())) return;
    const isSettled = (/** @type {UIMessage} */ message) => settled.has(message.id);
    const { outgoing, waiting } = local();
    const isThere = outgoing?.message && isSettled(outgoing.message);
    set({
      outgoing: isThere ? null : outgoing,
      waiting: waiting.filter((message) => !isSettled(message)),
    });
  }

  return {
    /** @param {string} messageId @returns {boolean} whether this panel sent the message */
    isOurs: (messageId) => ours.has(messageId),

    /**
     * What an event says about the messages on their way.
     * @param {ChatEvent | null} event null: messages were loaded
     * @returns {Partial<Local>}
     */
    arrivals(event) {
      const server = stream.server();
      const { outgoing, waiting, failed } = local();
      if (!server || !(outgoing || waiting.length)) return {};
      const begins = event?.type === "stream_started";
      const isThere = (/** @type {UIMessage} */ message) =>
        arrived(server, { message, cut: null }) || (begins && settled.has(message.id));
      const begun = accepted && begins;
      const came = failed !== null && arrived(server, failed.outgoing);
      if (came && failed.outgoing.message) outbox.remove(failed.outgoing.message.id);
      return {
        failed: came ? null : failed,
        outgoing: outgoing && (begun || arrived(server, outgoing)) ? null : outgoing,
        waiting: waiting.filter((message) => !isThere(message)),
      };
    },

    /**
     * @param {string} text
     * @param {readonly Attachment[]} files
     * @param {string} [replaces] id of the user message that the new message is a version of
     * @returns {Promise<boolean>} false: refused, the caller gives the text back to the user
     */
    async send(text, files, replaces) {
      const workflow = services.workflowName();
      const metadata = { created: services.now().toISOString(), ...(workflow ? { workflow } : {}) };
      const message = list.userMessage(services.newId(), text, files, metadata);
      outbox.add({ chat: id, known: local().known, message, ...(replaces ? { replaces } : {}) });
      set({ waiting: [...local().waiting, message] });
      return deliver(message, replaces);
    },

    /** Sends what an earlier visit could not send. */
    resume() {
      drop();
      const server = stream.server();
      const waiting = new Set(local().waiting.map((message) => message.id));
      for (const { message, replaces } of outbox.of(id)) {
        const isThere = server !== null && arrived(server, { message, cut: null });
        if (isThere) {
          outbox.remove(message.id);
          endDraft(list.textOf(message));
          // What is not in sight here was added by another tab, which sends it.
        } else if (waiting.has(message.id) && !ours.has(message.id)) {
          earlier.set(message.id, list.textOf(message));
          void deliver(message, replaces).then(look);
        }
      }
    },

    /**
     * @param {string} messageId
     * @returns {boolean} whether the message has not reached the server and never will
     */
    takeBack(messageId) {
      const isWaiting = local().waiting.some((message) => message.id === messageId);
      if (!isWaiting || settled.has(messageId)) return false;
      // Its answer is about to come: the server's queue has it then.
      if (current === messageId && !local().lost) return false;
      settled.add(messageId);
      leave(messageId);
      if (current === messageId) delivery.giveUp();
      return true;
    },

    /** Requests another version of the last answer. */
    regenerate() {
      const last = get().messages.at(-1);
      const answer = last?.role === "assistant" ? last.id : undefined;
      const command = { type: "regenerate", ...(answer ? { message_id: answer } : {}) };
      const outgoing = answer ? { message: null, cut: answer } : null;
      return inOrder(() => change(command, outgoing));
    },

    /** Repeats the command that was not accepted. @returns {Promise<boolean>} whether there is one */
    async repeat() {
      const again = local().failed;
      if (again) await inOrder(() => change(again.command, again.outgoing));
      return again !== null;
    },
  };
}
