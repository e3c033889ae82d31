// @ts-check
/**
 * Which messages of a long chat are in the document: a stretch of at most `MOST`, moved by steps as
 * the reader scrolls. Pure; places are indices into the messages that are known.
 */

/** @typedef {{from: number, to: number}} Stretch `to` is behind the last one */

/** Messages in the document at most. */
export const MOST = 180;
/** Messages that come at one edge while the reader scrolls there. */
export const STEP = 60;

/** @param {number} length @returns {Stretch} the end */
export const atEnd = (length) => ({ from: Math.max(0, length - MOST), to: length });

/** @param {Stretch} stretch @returns {Stretch} */
export function earlier({ from, to }) {
  const start = Math.max(0, from - STEP);
  return { from: start, to: Math.min(to, start + MOST) };
}

/** @param {Stretch} stretch @param {number} length @returns {Stretch} */
export function later({ from, to }, length) {
  const end = Math.min(length, to + STEP);
  return { from: Math.max(from, end - MOST), to: end };
}

/** @param {number} index @param {number} length @returns {Stretch} with that one in its middle */
export function around(index, length) {
  const to = Math.min(length, Math.max(0, index - MOST / 2) + MOST);
  return { from: Math.max(0, to - MOST), to };
}

/**
 * Whether the messages in the document are the same, in number and place.
 * @param {Stretch} stretch
 * @param {readonly {id: string}[]} before
 * @param {readonly {id: string}[]} next
 */
export function isSame({ from, to }, before, next) {
  if (before.length !== next.length) return false;
  for (let index = from; index < to; index += 1) {
    if (before[index].id !== next[index].id) return false;
  }
  return true;
}

/**
 * The same messages after the list has changed.
 * @param {Stretch} stretch
 * @param {readonly {id: string}[]} before
 * @param {readonly {id: string}[]} next
 * @param {boolean} follows whether the reader is at the end
 * @returns {Stretch}
 */
export function moved({ from, to }, before, next, follows) {
  const places = new Map(next.map((message, index) => [message.id, index]));
  const stay = before.slice(from, to).flatMap(({ id }) => places.get(id) ?? []);
  if (follows || !stay.length) return atEnd(next.length);
  const first = stay[0];
  const wasEnd = to === before.length;
  // What comes at the end is there when the reader scrolls to it.
  const end = wasEnd ? next.length : stay[stay.length - 1] + 1;
  return { from: first, to: Math.max(Math.min(end, first + MOST), stay[stay.length - 1] + 1) };
}
