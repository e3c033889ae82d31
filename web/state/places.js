// @ts-check
/**
 * Where a chat's unsent messages, drafts and values lie: in this browser or, of a temporary chat, in
 * this page only. Files that are attached to a draft lie in the page.
 */

import { createPanelStorage } from "../services/storage.js";
import { createAttachedByChat } from "./attached.js";
import { createDrafts } from "./drafts.js";
import { createOutbox } from "./outbox.js";

/** @typedef {import("../services/storage.js").PanelStorage} PanelStorage */

/**
 * @param {PanelStorage} storage
 * @param {Parameters<typeof createDrafts>[1]} later
 * @param {Parameters<typeof createDrafts>[2]} save
 * @param {Parameters<typeof createAttachedByChat>} attaching
 */
export function createPlaces(storage, later, save, attaching) {
  /** @param {PanelStorage} values */
  const place = (values) => ({
    storage: values,
    outbox: createOutbox(values),
    drafts: createDrafts(values, later, save),
    attached: createAttachedByChat(...attaching),
  });
  const kept = place(storage);
  const fleeting = place(
    createPanelStorage("", () => {
      throw new Error("nothing of a temporary chat is stored");
    }),
  );
  return {
    kept,
    /** @param {{temporary: boolean}} chat */
    of: ({ temporary }) => (temporary ? fleeting : kept),
    /** The temporary chat has ended. */
    clear() {
      fleeting.storage.clear();
      fleeting.attached.clear();
    },
  };
}
