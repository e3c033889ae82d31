// @ts-check
/** All data of the user: how much there is, saving it as one archive, and deleting it. */

import { t } from "../strings.js";

/** Name of the archive, used if the server sends none. */
const ARCHIVE = "comfyui-assistant.zip";

/**
 * @param {import("./panel.js").PanelServices} services
 * @param {{begin(): unknown, say(text: string): void}} after `begin` shows the panel as it is the
 *   first time
 */
export function createUserData({ api, download, storage }, after) {
  return {
    /** @returns {Promise<import("../types.js").UserData>} */
    userData: () => api.userData(),

    /** Saves everything as one file. */
    async exportData() {
      await download(await api.exportData(), ARCHIVE);
    },

    /**
     * Deletes everything, on the server and in this browser.
     * @param {number} chats how many the user was told of
     */
    async deleteData(chats) {
      await api.deleteData(chats);
      storage.clear();
      await after.begin();
      after.say(t("data.deleted"));
    },
  };
}
