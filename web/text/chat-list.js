// @ts-check
/**
 * Groups the list of chats and the results of a search, and splits a search snippet into marked and
 * unmarked text. Pure.
 */

import { t } from "../strings.js";
import { dayName } from "./format.js";

/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").SearchResult} SearchResult */

/** @param {readonly ChatEntry[]} chats @returns {ChatEntry[]} */
export const newestFirst = (chats) =>
  [...chats].sort((one, other) => other.updated.localeCompare(one.updated));

/**
 * @param {readonly ChatEntry[]} chats
 * @param {Date} now
 * @returns {{name: string, dated: boolean, chats: ChatEntry[]}[]} pinned chats, then one group per
 *   day; `dated`: the name says no day, so that each chat shows its own
 */
export function groups(chats, now) {
  /** @type {Map<string, ChatEntry[]>} */
  const found = new Map();
  for (const pinned of [true, false]) {
    for (const chat of newestFirst(chats)) {
      if (Boolean(chat.pinned) !== pinned) continue;
      const name = pinned ? t("chats.pinned") : dayName(chat.updated, now);
      found.set(name, [...(found.get(name) ?? []), chat]);
    }
  }
  return Array.from(found, ([name, members]) => ({
    name,
    dated: name === t("chats.pinned"),
    chats: members,
  }));
}

/**
 * @param {readonly SearchResult[]} results best first
 * @returns {{id: string, title: string, results: SearchResult[]}[]} one group per chat, the chat
 *   with the best result first; in each group best first
 */
export function byChat(results) {
  /** @type {Map<string, {id: string, title: string, results: SearchResult[]}>} */
  const found = new Map();
  for (const result of results) {
    const { chat_id: id, title } = result;
    const group = found.get(id) ?? { id, title, results: [] };
    group.results.push(result);
    found.set(id, group);
  }
  return [...found.values()];
}

/**
 * @param {string} text
 * @param {readonly (readonly [number, number])[]} marks start and end in code points
 * @returns {{text: string, marked: boolean}[]} the text in order, no piece empty
 */
export function pieces(text, marks) {
  const points = Array.from(text);
  /** @type {{text: string, marked: boolean}[]} */
  const found = [];
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {boolean} */ marked) => {
    const piece = points.slice(from, to).join("");
    if (piece) found.push({ text: piece, marked });
  };
  let at = 0;
  for (const [from, to] of [...marks].sort((one, other) => one[0] - other[0])) {
    if (from < at) continue;
    add(at, from, false);
    add(from, to, true);
    at = to;
  }
  add(at, points.length, false);
  return found;
}
