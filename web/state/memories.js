// @ts-check
/**
 * What is always true (rules, preferences) and what is remembered: the page "Memory" without its
 * elements. Each change is on the server before it is shown, and what was deleted can be brought
 * back from the toast.
 */

import { t } from "../strings.js";
import { errorText } from "../text/format.js";
import { nameOf } from "../text/plain.js";

/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").MemoryKind} MemoryKind */
/** @typedef {import("../types.js").MemoryMode} MemoryMode */
/** @typedef {import("../types.js").MemoryState} MemoryState */
/** @typedef {import("../types.js").PanelState} PanelState */

/** Name of the stored value that says that the user knows what is kept and where. */
const TOLD = "memory-told";
/** Milliseconds without a keystroke before the search is sent. */
const REST = 180;
/** Most characters of a statement in a toast. */
const NAMED = 60;
/** The modes from the one that does least on. @type {readonly MemoryMode[]} */
const MODES = ["off", "manual", "auto"];

/** @param {import("../services/storage.js").PanelStorage} storage @returns {MemoryState} */
export const noMemories = (storage) => ({
  mode: null,
  notAllowed: null,
  rules: null,
  preferences: null,
  query: "",
  kind: "",
  found: null,
  replaced: [],
  more: false,
  failed: "",
  target: null,
  known: new Map(),
  told: storage.get(TOLD) !== null,
});

/**
 * @param {import("./panel.js").PanelServices} services
 * @param {import("./store.js").Store<PanelState>} store
 * @param {{offerBack: (text: string, back: () => Promise<unknown>) => void,
 *   complain: (error: unknown) => void, showPage: (page: "memory") => void}} panel `offerBack`: a
 *   toast with *Undo*
 */
export function createMemories({ api, later, storage }, store, { offerBack, complain, showPage }) {
  let cancelSearch = () => {};
  /** Counts the lists that were asked for: an older one is dropped. */
  let asked = 0;

  const get = () => store.get().memory;
  /** @param {Partial<MemoryState>} changes */
  const set = (changes) => store.set({ memory: { ...get(), ...changes } });

  /**
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T | null>} null: refused, and the user was told why
   */
  async function tried(work) {
    try {
      return await work();
    } catch (error) {
      complain(error);
      return null;
    }
  }

  /** @param {readonly Memory[]} memories */
  const knowing = (memories) =>
    new Map([...get().known, ...memories.map((one) => /** @type {const} */ ([one.id, one]))]);

  /** @param {string} [before] the last id of the page before */
  async function list(before) {
    asked += 1;
    const mine = asked;
    const { query, kind } = get();
    const words = query.trim();
    try {
      const { memories, has_more: more } = await api.memories({
        ...(words ? { q: words } : { superseded: /** @type {const} */ ("true") }),
        ...(kind ? { kind } : {}),
        ...(before ? { before } : {}),
      });
      if (mine !== asked) return;
      const earlier = before ? get() : { found: [], replaced: [] };
      const current = memories.filter((one) => one.superseded_by === null);
      const old = memories.filter((one) => one.superseded_by !== null);
      set({
        found: [...(earlier.found ?? []), ...current],
        // A search finds none of them: those that are known stay.
        replaced: words ? get().replaced : [...earlier.replaced, ...old],
        more,
        failed: "",
        known: knowing(memories),
      });
    } catch (error) {
      if (mine === asked) set({ failed: errorText(error) });
    }
  }

  /** The id that the server knows a page by: the last one in its order. */
  function lastListed() {
    const { found, replaced, query } = get();
    const all = query.trim() ? (found ?? []) : [...(found ?? []), ...replaced];
    if (query.trim()) return all.at(-1)?.id;
    return all.toSorted(byAge).at(-1)?.id;
  }

  /** @param {Memory} memory @param {Memory | null} next null: it is gone */
  function put(memory, next) {
    const change = (/** @type {Memory[]} */ list) =>
      list.flatMap((one) => (one.id !== memory.id ? [one] : next ? [next] : []));
    const { found, replaced, known } = get();
    set({
      found: found && change(found),
      replaced: change(replaced),
      known: new Map(known).set(memory.id, next),
    });
  }

  async function loadAlways() {
    const [rules, preferences, mode] = await Promise.all([
      api.rules(),
      api.preferences(),
      api.memoryMode(),
    ]);
    set({ rules, preferences, mode });
  }

  return {
    /** Loads the page anew. */
    async openMemory() {
      set({ query: "", kind: "", notAllowed: null });
      await Promise.all([list(), tried(loadAlways)]);
    },
    retryMemories: () => list(),
    moreMemories: () => list(lastListed()),

    /** Opens the page at a memory. @param {string} id */
    async showMemory(id) {
      set({ target: { id } });
      showPage("memory");
    },
    memoryShown: () => set({ target: null }),

    /** @param {string} query */
    searchMemories(query) {
      cancelSearch();
      set({ query });
      cancelSearch = later(() => void list(), query.trim() ? REST : 0);
    },
    /** @param {MemoryKind | ""} kind */
    filterMemories(kind) {
      set({ kind });
      return list();
    },

    /** @param {Memory} memory @param {{text?: string, kind?: MemoryKind, pinned?: boolean}} changes */
    async changeMemory(memory, changes) {
      const next = await tried(() => api.changeMemory(memory.id, changes));
      if (next) put(memory, next);
      return next !== null;
    },

    /** @param {Pick<Memory, "id" | "text">} memory */
    async forget({ id, text }) {
      const memory = get().known.get(id) ?? /** @type {Memory} */ ({ id, text });
      if (!(await tried(async () => (await gone(() => api.deleteMemory(id))) || true))) return;
      put(memory, null);
      offerBack(t("memory.deleted", { text: nameOf(text, NAMED) }), async () => {
        const back = await api.restoreMemory(id);
        set({ known: knowing([back]) });
        if (store.get().page === "memory") await list();
      });
    },

    /** @param {MemoryMode} mode */
    async setMemoryMode(mode) {
      const holds = await tried(() => api.setMemoryMode(mode));
      if (!holds) return;
      const less = MODES.indexOf(holds) < MODES.indexOf(mode);
      set({ mode: holds, notAllowed: less ? mode : null });
    },

    /** The user has read what is kept and where. */
    memoryTold() {
      storage.set(TOLD, "1");
      set({ told: true });
    },

    /** @param {string} text @returns {Promise<boolean>} */
    async addRule(text) {
      const rule = await tried(() => api.addRule(text));
      if (rule) set({ rules: [...(get().rules ?? []), rule] });
      return rule !== null;
    },
    /** @param {string} id @param {string} text */
    async changeRule(id, text) {
      const rule = await tried(() => api.changeRule(id, text));
      if (rule) set({ rules: (get().rules ?? []).map((one) => (one.id === id ? rule : one)) });
      return rule !== null;
    },
    /** @param {string} id @param {-1 | 1} step up or down */
    async moveRule(id, step) {
      const rules = [...(get().rules ?? [])];
      const at = rules.findIndex((one) => one.id === id);
      if (at < 0 || !rules[at + step]) return;
      [rules[at], rules[at + step]] = [rules[at + step], rules[at]];
      const ordered = await tried(() => api.orderRules(rules.map((one) => one.id)));
      if (ordered) set({ rules: ordered });
    },
    /** @param {string} id */
    async deleteRule(id) {
      const rule = get().rules?.find((one) => one.id === id);
      if (!rule || !(await tried(() => gone(() => api.deleteRule(id))))) return;
      const rules = get().rules ?? [];
      const at = rules.findIndex((one) => one.id === id);
      set({ rules: rules.filter((one) => one.id !== id) });
      offerBack(t("rule.deleted", { text: nameOf(rule.text, NAMED) }), async () => {
        const again = await api.addRule(rule.text);
        const ids = (get().rules ?? []).map((one) => one.id);
        set({ rules: await api.orderRules(ids.toSpliced(at, 0, again.id)) });
      });
    },

    /** @param {string} key @param {string} value @returns {Promise<boolean>} */
    async setPreference(key, value) {
      const made = await tried(() => api.setPreference(key, value));
      if (!made) return false;
      const others = (get().preferences ?? []).filter((one) => one.key !== key);
      set({ preferences: [...others, made] });
      return true;
    },
    /** @param {string} key */
    async deletePreference(key) {
      const preference = get().preferences?.find((one) => one.key === key);
      if (!preference || !(await tried(() => gone(() => api.deletePreference(key))))) return;
      set({ preferences: (get().preferences ?? []).filter((one) => one.key !== key) });
      offerBack(t("preference.deleted", { text: nameOf(key, NAMED) }), async () => {
        const made = await api.setPreference(key, preference.value);
        set({ preferences: [...(get().preferences ?? []), made] });
      });
    },
  };
}

/** The server's order: newest first. @param {Memory} one @param {Memory} other */
const byAge = (one, other) =>
  other.created.localeCompare(one.created) || (other.id < one.id ? -1 : 1);

/**
 * A deletion of what another tab has deleted already is one that was done.
 * @param {() => Promise<unknown>} send
 * @returns {Promise<true>}
 */
async function gone(send) {
  try {
    await send();
  } catch (error) {
    if (/** @type {{status?: number}} */ (error).status !== 404) throw error;
  }
  return true;
}
