// @ts-check
/**
 * Sharing a chat for help: the server makes the file, the user reads it, and then saves exactly the
 * text that is shown.
 */

import { errorText } from "../text/format.js";

/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @param {import("./panel.js").PanelServices} services
 * @param {import("./store.js").Store<PanelState>} store
 * @param {(page: import("../types.js").Page) => void} showPage
 */
export function createShare({ api, download, workflow }, store, showPage) {
  let asked = 0;

  /** @param {string} id @param {boolean} withWorkflow */
  async function make(id, withWorkflow) {
    const question = (asked += 1);
    store.set({ share: { id, withWorkflow, file: null, failed: "" } });
    let file = null;
    let failed = "";
    try {
      file = await api.shareChat(id, withWorkflow ? workflow()?.graph : undefined);
    } catch (error) {
      failed = errorText(error);
    }
    if (question === asked) store.set({ share: { id, withWorkflow, file, failed } });
  }

  return {
    /** Shows the chat as the file that would be saved. @param {string} id */
    shareChat(id) {
      showPage("share");
      return make(id, false);
    },

    /** Makes the file with or without the open workflow. @param {boolean} wanted */
    async shareWorkflow(wanted) {
      const { share } = store.get();
      if (share) await make(share.id, wanted);
    },

    async saveShared() {
      const file = store.get().share?.file;
      if (file) await download(new Response(file.content), file.name);
    },
  };
}
