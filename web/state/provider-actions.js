// @ts-check
/** What the user may do with providers: list, save, use, remove, test, choose a model. */

import { savedName } from "../text/provider.js";

/** @typedef {import("../services/api.js").Api} Api */
/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */

/**
 * @param {Api} api
 * @param {import("./store.js").Store<PanelState>} store
 * @param {() => Promise<void>} refreshHealth
 */
export function createProviders(api, store, refreshHealth) {
  async function refreshSettings() {
    store.set({ settings: await api.settings() });
  }

  const refresh = () => Promise.all([refreshSettings(), refreshHealth()]);

  /**
   * The form for a provider of the user's own that is to be saved, all but its key filled in.
   * @param {string} name @param {string} address @param {string} model
   */
  const askForKey = (name, address, model) =>
    store.set({
      editing: "",
      field: "key",
      draft: { name, base_url: address, model },
      page: "settings",
    });

  return {
    refreshSettings,

    /**
     * A provider that was found or that the environment names is saved as one of the user's own.
     * @param {string} name of the provider that lacks a key, or has a wrong one
     */
    async enterKey(name) {
      await refreshSettings().catch(() => undefined);
      const known = store.get().settings?.providers ?? [];
      const provider = known.find((each) => each.name === name);
      const own = provider ? savedName(provider, known) : "";
      if (provider && known.every((each) => each.name !== own)) {
        askForKey(own, provider.base_url, provider.model);
      } else {
        store.set({ editing: own, field: "key", draft: null, page: "settings" });
      }
    },

    /**
     * @param {string | null} name "" for a new one, null for none
     * @param {PanelState["field"]} [field] that the user wants to fill
     */
    editProvider: (name, field = "name") =>
      store.set({ editing: name, field, draft: null, page: "settings" }),

    /** @param {string} name @param {ProviderInput} input saved, and used from now on */
    async saveProvider(name, input) {
      await api.saveProvider(name, input);
      await api.activateProvider(name);
      store.set({ editing: null });
      await refresh();
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
     * A provider that the user did not enter is saved as one of theirs, with the other model. Its
     * key is not ours to copy: where there is one, the form asks for it.
     * @param {Provider} provider
     * @param {{id: string, context_window?: number}} model
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
        // Another model has another window: better none than the old one's.
        ...(model.context_window ? { context_window: model.context_window } : {}),
      });
      await api.activateProvider(name);
      await refresh();
    },

    models: api.models,
    testProvider: api.test,
  };
}
