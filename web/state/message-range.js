// @ts-check
/**
 * The range of messages of a long chat that are in the document: at most `MOST`, moved in steps
 * while the reader scrolls. Pure; positions are indices into the loaded messages.
 */

/** @typedef {{from: number, to: number}} MessageRange `to` is exclusive */

/** Most messages in the document. */
export const MOST = 180;
/** Messages added at an edge when the reader scrolls there. */
export const STEP = 60;

/** @param {number} length @returns {MessageRange} of the last messages */
export const atEnd = (length) => ({ from: Math.max(0, length - MOST), to: length });

/** @param {MessageRange} range @returns {MessageRange} */
export function earlier({ from, to }) {
  const start = Math.max(0, from - STEP);
  return { from: start, to: Math.min(to, start + MOST) };
}

/** @param {MessageRange} range @param {number} length @returns {MessageRange} */
export function later({ from, to }, length) {
  const end = Math.min(length, to + STEP);
  return { from: Math.max(from, end - MOST), to: end };
}

/** @param {number} index @param {number} length @returns {MessageRange} centred on `index` */
export function around(index, length) {
  const to = Math.min(length, Math.max(0, index - MOST / 2) + MOST);
  return { from: Math.max(0, to - MOST), to };
}

/**
 * Whether the chat has as many messages as before, and the same ones in the range.
 * @param {MessageRange} range
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
 * The range that holds the same messages after the list has changed.
 * @param {MessageRange} range
 * @param {readonly {id: string}[]} before
 * @param {readonly {id: string}[]} next
 * @param {boolean} follows whether the reader is at the end
 * @returns {MessageRange}
 */
export function moved({ from, to }, before, next, follows) {
  const indices = new Map(next.map((message, index) => [message.id, index]));
  const stay = before.slice(from, to).flatMap(({ id }) => indices.get(id) ?? []);
  if (follows || !stay.length) return atEnd(next.length);
  const first = stay[0];
  const wasEnd = to === before.length;
  // New messages at the end are included, so that the reader can scroll down to them.
  const end = wasEnd ? next.length : stay[stay.length - 1] + 1;
  return { from: first, to: Math.max(Math.min(end, first + MOST), stay[stay.length - 1] + 1) };
}
