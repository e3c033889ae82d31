// @ts-check
/** The routes of what is always true (rules, preferences) and of what is remembered. */

/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").MemoryKind} MemoryKind */
/** @typedef {import("../types.js").MemoryMode} MemoryMode */
/** @typedef {import("../types.js").Preference} Preference */
/** @typedef {import("../types.js").Rule} Rule */
/** @typedef {(method: string, path: string, body?: unknown) => Promise<Response>} Send throws
 *   `ApiError` */

/** Most memories on a page; the server gives no more at once. */
export const MEMORIES = 500;

/** @param {Send} send @param {(values: Record<string, string | number | undefined>) => string} query */
export function memoryRoutes(send, query) {
  const name = encodeURIComponent;
  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  const ask = async (method, path, body) => (await send(method, path, body)).json();

  return {
    /**
     * @param {{q?: string, kind?: MemoryKind, before?: string, superseded?: "true"}} page `before`:
     *   the last id of the page before
     * @returns {Promise<{memories: Memory[], has_more: boolean}>} newest first; with `q` best first
     */
    memories: (page) => ask("GET", `/memories${query({ ...page, limit: MEMORIES })}`),
    /**
     * @param {string} id
     * @param {{text?: string, kind?: MemoryKind, pinned?: boolean}} changes
     * @returns {Promise<Memory>}
     */
    changeMemory: (id, changes) => ask("PATCH", `/memories/${name(id)}`, changes),
    /** @param {string} id @returns {Promise<Response>} `restoreMemory` works for a minute */
    deleteMemory: (id) => send("DELETE", `/memories/${name(id)}`),
    /** @param {string} id @returns {Promise<Memory>} */
    restoreMemory: (id) => ask("POST", `/memories/${name(id)}/restore`, {}),
    /** @returns {Promise<MemoryMode>} the mode that holds */
    memoryMode: async () => (await ask("GET", "/memories/settings")).mode,
    /** @param {MemoryMode} mode @returns {Promise<MemoryMode>} the mode that holds: at most the one
     *   that the installation allows */
    setMemoryMode: async (mode) => (await ask("PUT", "/memories/settings", { mode })).mode,

    /** @returns {Promise<Rule[]>} */
    rules: async () => (await ask("GET", "/user-context/rules")).rules,
    /** @param {string} text @returns {Promise<Rule>} */
    addRule: (text) => ask("POST", "/user-context/rules", { text }),
    /** @param {string} id @param {string} text @returns {Promise<Rule>} */
    changeRule: (id, text) => ask("PATCH", `/user-context/rules/${name(id)}`, { text }),
    /** @param {string} id */
    deleteRule: (id) => send("DELETE", `/user-context/rules/${name(id)}`),
    /** @param {string[]} ids @returns {Promise<Rule[]>} */
    orderRules: async (ids) => (await ask("PUT", "/user-context/rules/order", { ids })).rules,
    /** @returns {Promise<Preference[]>} */
    preferences: async () => (await ask("GET", "/user-context/preferences")).preferences,
    /** @param {string} key @param {string} value @returns {Promise<Preference>} */
    setPreference: (key, value) => ask("PUT", `/user-context/preferences/${name(key)}`, { value }),
    /** @param {string} key */
    deletePreference: (key) => send("DELETE", `/user-context/preferences/${name(key)}`),
  };
}
