// @ts-check
/** Actions on providers: list, save, use, remove, test, choose a model. */

import { savedName } from "../text/provider.js";

/** @typedef {import("../services/api.js").Api} Api */
/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */

/**
 * @param {Api} api
 * @param {import("./store.js").Store<PanelState>} store
 * @param {() => Promise<void>} refreshHealth
 * @param {(fromChat: boolean) => void} again asks once more what failed for want of a provider;
 *   `fromChat`: the form was opened from the chat
 */
export function createProviders(api, store, refreshHealth, again) {
  async function refreshSettings() {
    store.set({ settings: await api.settings() });
  }

  const refresh = () => Promise.all([refreshSettings(), refreshHealth()]);

  /**
   * Opens the form for a new provider with all fields filled in but the key.
   * @param {string} name @param {string} address @param {string} model
   */
  const askForKey = (name, address, model) =>
    store.set({
      fromChat: store.get().page === "chat",
      editing: "",
      field: "key",
      prefill: { name, base_url: address, model },
      page: "settings",
    });

  return {
    refreshSettings,

    /**
     * Opens the form to enter a provider's key. A provider that was found on this computer or is
     * set in the environment is saved as a new provider of the user.
     * @param {string} name of the provider whose key is missing or wrong
     */
    async enterKey(name) {
      await refreshSettings().catch(() => undefined);
      const known = store.get().settings?.providers ?? [];
      const provider = known.find((each) => each.name === name);
      const own = provider ? savedName(provider, known) : "";
      if (provider && known.every((each) => each.name !== own)) {
        askForKey(own, provider.base_url, provider.model);
      } else {
        const fromChat = store.get().page === "chat";
        store.set({ editing: own, field: "key", prefill: null, page: "settings", fromChat });
      }
    },

    /**
     * @param {string | null} name "" for a new provider, null closes the form
     * @param {PanelState["field"]} [field] that gets the focus
     */
    editProvider: (name, field = "name") => {
      const fromChat = store.get().page === "chat";
      store.set({ editing: name, field, prefill: null, page: "settings", fromChat });
    },

    /**
     * Saves a provider and uses it from now on. A form that was opened from the chat leads back to
     * it.
     * @param {string} name @param {ProviderInput} input
     */
    async saveProvider(name, input) {
      const { fromChat } = store.get();
      await api.saveProvider(name, input);
      await api.activateProvider(name);
      store.set({ editing: null, fromChat: false });
      await refresh();
      again(fromChat);
    },

    /** @param {string} name */
    async useProvider(name) {
      await api.activateProvider(name);
      await refresh();
    },

    /** @param {string} name */
    async removeProvider(name) {
      await api.removeProvider(name);
      store.set({ editing: null });
      await refresh();
    },

    /**
     * Saves the provider with another model and uses it. A provider that the user did not enter
     * becomes a new provider of the user; its key is not copied, so the form asks for the key.
     * @param {Provider} provider
     * @param {import("../types.js").ModelEntry} model
     */
    async chooseModel(provider, model) {
      const name = savedName(provider, store.get().settings?.providers ?? []);
      const saved = store.get().settings?.providers.find((each) => each.name === name);
      if (provider.has_key && !saved?.has_key) {
        askForKey(name, provider.base_url, model.id);
        return;
      }
      await api.saveProvider(name, {
        base_url: provider.base_url,
        model: model.id,
        ...(typeof provider.vision === "boolean" ? { vision: provider.vision } : {}),
        // The window of the old model does not hold for the new model.
        ...(model.context_window ? { context_window: model.context_window } : {}),
      });
      await api.activateProvider(name);
      await refresh();
    },

    models: api.models,
    modelsOf: api.modelsOf,
    testProvider: api.test,
  };
}
