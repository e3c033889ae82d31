// @ts-check
/**
 * Which panel this is, for as long as its tab lives. A reload keeps the id; a tab that the browser
 * duplicates gets one of its own, although it begins with a copy of the first one's storage.
 */

/** Under this name the id waits in the tab's memory, from one load of the page to the next. */
const KEY = "client";

/**
 * The id is in the memory only while no page holds it: a copy that is made of a living tab finds
 * none.
 * @param {import("./storage.js").PanelStorage} storage of this tab
 * @param {Pick<EventTarget, "addEventListener">} page tells when it goes, and when it comes back
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
