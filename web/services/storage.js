// @ts-check
/**
 * What the panel remembers in this browser, per ComfyUI user: the last chat, a draft, what was
 * dismissed. Works as forgetful memory where the browser blocks storage. Chats themselves belong to
 * the server.
 */

const PREFIX = "comfyui-assistant";

/**
 * @typedef {object} PanelStorage
 * @property {(name: string) => string | null} get
 * @property {(name: string, value: string | null) => void} set null forgets
 */

/**
 * @param {string} user ComfyUI's user id, "" for the only one
 * @param {() => Storage} open gives the browser's storage, or throws where it is blocked
 * @returns {PanelStorage}
 */
export function createPanelStorage(user, open) {
  /** @type {Map<string, string>} */
  const fallback = new Map();
  /** @param {string} name */
  const keyOf = (name) => [PREFIX, user, name].filter(Boolean).join(".");
  return {
    get(name) {
      try {
        return open().getItem(keyOf(name)) ?? fallback.get(name) ?? null;
      } catch {
        return fallback.get(name) ?? null;
      }
    },
    set(name, value) {
      if (value === null) fallback.delete(name);
      else fallback.set(name, value);
      try {
        if (value === null) open().removeItem(keyOf(name));
        else open().setItem(keyOf(name), value);
      } catch {
        // Blocked or full: the value lives as long as the page.
      }
    },
  };
}

/**
 * A random id, also on pages that are not secure contexts (plain http on a LAN), where browsers
 * keep `crypto.randomUUID` back.
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
