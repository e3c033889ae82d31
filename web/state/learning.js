// @ts-check
/**
 * Whether the memories that the answers of the open chat name are still there, and how many memories
 * came from a chat.
 */

import { isBusy } from "./chat.js";
import { keptIn } from "./kept.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @param {Pick<import("./panel.js").PanelServices, "api">} services
 * @param {import("./store.js").Store<PanelState>} store
 */
export function createLearning({ api }, store) {
  /** Ids that are being looked up. @type {Set<string>} */
  const looking = new Set();

  /**
   * All memories page by page, until `enough`.
   * @param {(all: readonly Memory[]) => boolean} [enough]
   * @returns {Promise<Memory[]>}
   */
  async function all(enough = () => false) {
    /** @type {Memory[]} */
    const found = [];
    for (;;) {
      const last = found.at(-1)?.id;
      const page = await api.memories({ superseded: "true", ...(last ? { before: last } : {}) });
      found.push(...page.memories);
      if (!page.has_more || !page.memories.length || enough(found)) return found;
    }
  }

  /** Looks up the memories with these ids, unless they are known. @param {readonly string[]} ids */
  async function lookUp(ids) {
    const { known } = store.get().memory;
    const missing = ids.filter((id) => !known.has(id) && !looking.has(id));
    if (!missing.length) return;
    for (const id of missing) looking.add(id);
    try {
      const found = await all((some) => {
        const seen = new Set(some.map(({ id }) => id));
        return missing.every((id) => seen.has(id));
      });
      const { memory } = store.get();
      const next = new Map(memory.known);
      for (const id of missing) next.set(id, found.find((one) => one.id === id) ?? null);
      store.set({ memory: { ...memory, known: next } });
    } catch {
      // Asked again with the next change: until then a card shows what it says itself.
    } finally {
      for (const id of missing) looking.delete(id);
    }
  }

  return {
    lookUp,

    /** Called with each state of the open chat. @param {ChatState} chat */
    followKept(chat) {
      if (isBusy(chat)) return;
      const kept = chat.messages.flatMap((message) => keptIn(message).map(({ id }) => id));
      if (kept.length) void lookUp(kept);
    },

    /** @param {string} id of a chat @returns {Promise<number>} how many memories came from it */
    async learnedFrom(id) {
      return (await all()).filter(({ source }) => source?.chat_id === id).length;
    },
  };
}
