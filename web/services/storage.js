// @ts-check
/**
 * Values that the panel stores in this browser, per ComfyUI user: the id of the open chat, drafts,
 * messages that are not sent yet, the last context report. If the browser blocks its storage, values
 * last as long as the page.
 */

const PREFIX = "comfyui-assistant";

/**
 * @typedef {object} PanelStorage
 * @property {(name: string) => string | null} get
 * @property {(name: string, value: string | null) => boolean} set null removes the value; returns
 *   whether the browser has stored the change
 * @property {() => void} clear removes all values of the user
 */

/**
 * @param {string} user ComfyUI's user id; "" without `--multi-user`
 * @param {() => Storage} open returns the browser's storage; throws if it is blocked
 * @returns {PanelStorage}
 */
export function createPanelStorage(user, open) {
  /** Values that the browser did not store. @type {Map<string, string>} */
  const fallback = new Map();
  /** @param {string} name */
  const keyOf = (name) => [...[PREFIX, user].filter(Boolean), name].join(".");
  return {
    get(name) {
      try {
        return open().getItem(keyOf(name)) ?? fallback.get(name) ?? null;
      } catch {
        return fallback.get(name) ?? null;
      }
    },
    set(name, value) {
      fallback.delete(name);
      try {
        if (value === null) open().removeItem(keyOf(name));
        else open().setItem(keyOf(name), value);
        return true;
      } catch {
        // Storage is blocked or full: the value lasts as long as the page, and no older one counts.
        if (value !== null) fallback.set(name, value);
        try {
          open().removeItem(keyOf(name));
        } catch {
          // Blocked: there is no older one.
        }
        return false;
      }
    },
    clear() {
      fallback.clear();
      try {
        const held = open();
        const keys = Array.from({ length: held.length }, (_, at) => held.key(at) ?? "");
        for (const key of keys) if (key.startsWith(keyOf(""))) held.removeItem(key);
      } catch {
        // Storage is blocked: it holds nothing.
      }
    },
  };
}

/**
 * A random id, also on pages that are no secure context (plain http on a LAN), where
 * `crypto.randomUUID` is missing.
 * @param {Crypto} [source]
 * @returns {string} a version 4 UUID
 */
export function newId(source = globalThis.crypto) {
  if (typeof source.randomUUID === "function") return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
