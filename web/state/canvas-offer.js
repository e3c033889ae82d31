// @ts-check
/**
 * After a switch to another version of an answer, and in a branch: whether the workflow was another
 * one there, and bringing the canvas to it, which only the user starts.
 */

import { carryOutChanges } from "./canvas-changes.js";

/**
 * @param {import("./chat.js").ChatServices} services
 * @param {string} id of the chat
 * @param {object} chat
 * @param {() => Promise<import("./fold-events.js").ServerChat | null>} chat.fresh
 * @param {ReturnType<typeof import("./canvas-news.js").createCanvasNews>} chat.canvas
 * @param {(command: import("../services/api.js").Command) => Promise<any>} chat.plain null: failed
 * @param {(changes: Partial<import("./chat-state.js").Local>) => void} chat.set
 * @param {() => Partial<import("./chat-state.js").Local>} chat.local
 */
export function createCanvasOffer(services, id, { fresh, canvas, plain, set, local }) {
  return {
    /** Offers the workflow that the end of the chat had, where it is not the one of now. */
    async look() {
      const last = (await fresh())?.messages.at(-1)?.id;
      if (!last) return;
      const open = services.workflowName()?.id;
      const kept = await services.api.workflows(id, last).catch(() => []);
      const known = kept.find((each) => each.workflow_id === open);
      set({ offer: known && !known.current ? last : null });
    },

    /** Brings the canvas to what it was there, as one undo step. */
    async bring() {
      const messageId = local().offer;
      if (!messageId) return;
      set({ offer: null });
      const workflow = services.workflow();
      const done = await plain({ type: "restore_workflow", message_id: messageId, workflow });
      const refused = done && (await carryOutChanges(services, canvas, done));
      if (refused) {
        set({ failure: { code: "canvas", message: refused.text, actions: ["dismiss"] } });
      }
    },

    hide: () => set({ offer: null }),
  };
}
