// @ts-check
/**
 * What the user decides about the calls of an answer: approvals, answers to questions, and taking
 * back what an answer changed. Decisions and answers are shown before the server confirms them.
 */

import { ApiError } from "../services/api.js";
import { t } from "../strings.js";
import { carryOutChanges } from "./canvas-changes.js";
import { failureOf, passes } from "./failure.js";
import * as list from "./messages.js";
import { questionKey } from "./waiting.js";

/** @typedef {import("../services/api.js").Command} Command */
/** @typedef {import("../types.js").TakenBack} TakenBack */
/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("./chat-state.js").Local} Local */

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {object} chat
 * @param {ReturnType<typeof import("./delivery.js").createDelivery>["inOrder"]} chat.inOrder
 * @param {() => Local} chat.local
 * @param {(changes: Partial<Local>) => void} chat.set
 * @param {() => import("../types.js").ChatState} chat.get
 * @param {ReturnType<typeof import("./canvas-news.js").createCanvasNews>} chat.canvas
 */
export function createDecisions(services, id, { inOrder, canvas, local, set, get }) {
  /** @param {Command} command @returns {Promise<any>} */
  const send = (command) => inOrder(() => services.api.command(id, command));

  /**
   * The decision names the question that the user saw: the server refuses it when the call asks
   * another one by now.
   * @param {ToolPart} part @param {boolean} approved @param {Command} command
   * @returns {Promise<boolean>} false: the server does not have the decision
   */
  async function decide(part, approved, command) {
    const question = list.questionOf(part);
    const asked = { ids: [part.toolCallId], approval_ids: [question] };
    set({ decisions: new Map(local().decisions).set(question, approved), failure: null });
    try {
      await send({ ...command, ...asked });
      return true;
    } catch (error) {
      const left = new Map(local().decisions);
      left.delete(question);
      set({ decisions: left, failure: failureOf(error, "approval") });
      return false;
    }
  }

  /** @param {string} messageId @param {Omit<TakenBack, "undone"> & {undone?: boolean}} now */
  const note = (messageId, now) => set({ taken: new Map(local().taken).set(messageId, now) });

  /**
   * @param {string} messageId of the answer
   * @param {"undo_edits" | "redo_edits"} type
   */
  async function change(messageId, type) {
    // Until the canvas has followed, its state counts, and not the server's.
    const undone = type === "redo_edits";
    note(messageId, { busy: true, refused: null, undone });
    try {
      const workflow = services.workflow();
      const done = await send({ type, message_id: messageId, ...(workflow ? { workflow } : {}) });
      const refused = await carryOutChanges(services, canvas, done);
      const names = done.left?.join(", ");
      const left = names ? { nodes: [], text: t(`edits.left.${type}`, { names }) } : null;
      note(messageId, { busy: false, refused: refused ?? left, ...(refused ? { undone } : {}) });
    } catch (error) {
      const nodes = error instanceof ApiError ? error.nodes : [];
      const refused = { nodes, text: failureOf(error, "action").message };
      note(messageId, { busy: false, refused, ...(passes(error) ? { undone } : {}) });
    }
  }

  return {
    /** @param {ToolPart} part @param {boolean} remember allow the tool for the rest of this chat */
    approve: (part, remember) =>
      decide(part, true, { type: "approve_tools", ...(remember ? { remember } : {}) }),
    /** @param {ToolPart} part @param {string} [instead] what the model should do instead */
    reject: (part, instead = "") =>
      decide(part, false, { type: "reject_tools", ...(instead ? { reason: instead } : {}) }),

    /**
     * Answers a question of the model.
     * @param {ToolPart} part
     * @param {import("./waiting.js").Answer} answer
     * @returns {Promise<boolean>} false: the server does not have the answer
     */
    async answer({ toolCallId }, answer) {
      const key = questionKey(get().messages.at(-1), toolCallId);
      set({ answers: new Map(local().answers).set(key, answer), failure: null });
      try {
        await send({ type: "tool_result", tool_call_id: toolCallId, output: answer });
        return true;
      } catch (error) {
        const left = new Map(local().answers);
        left.delete(key);
        set({ answers: left, failure: failureOf(error, "approval") });
        return false;
      }
    },

    /** Takes back all changes of the workflow that an answer made. @param {string} messageId */
    undoEdits: (messageId) => change(messageId, "undo_edits"),
    /** @param {string} messageId */
    redoEdits: (messageId) => change(messageId, "redo_edits"),
  };
}
