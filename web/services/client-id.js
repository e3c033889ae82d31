// @ts-check
/**
 * The client id of a panel. A reload of the browser tab keeps the id; a duplicated tab gets a new
 * id, although the browser copies the tab's session storage.
 */

/** Name of the stored value that carries the id over a reload. */
const KEY = "client";

/**
 * Takes the stored id, or makes a new one. The id is stored only from `pagehide` to the next
 * load, so a duplicate of an open tab finds no id.
 * @param {import("./storage.js").PanelStorage} storage backed by `sessionStorage`
 * @param {Pick<EventTarget, "addEventListener">} page the window
 * @param {() => string} makeId
 * @returns {string}
 */
export function claimClientId(storage, page, makeId) {
  const id = storage.get(KEY) ?? makeId();
  storage.set(KEY, null);
  page.addEventListener("pagehide", () => storage.set(KEY, id));
  page.addEventListener("pageshow", () => storage.set(KEY, null));
  return id;
}
