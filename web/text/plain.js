// @ts-check
/**
 * Makes words from outside safe beside our own: without characters that turn the direction of the
 * text around them, that are not seen, or that begin a new line. Pure.
 */

/**
 * Format characters that are not seen: marks, embeddings, overrides and isolates of direction, zero
 * width spaces, fillers, and tags. The joiners U+200C and U+200D stay: scripts and emoji need them.
 */
const UNSEEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\u{1d173}|[\u{e0000}-\u{e0fff}]/gu;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** More marks than this on one letter are dropped: they are drawn over the lines around it. */
const PILE = /(\p{M}{4})\p{M}+/gu;

/** Most characters of a name on one line. */
const NAME = 120;

/**
 * @param {string} text
 * @returns {string} the text without characters that are not seen; line ends and tabs stay
 */
export const seen = (text) => text.replace(UNSEEN, "").replace(CONTROL, "").replace(PILE, "$1");

/** @param {string} text @returns {number} how many characters of the text are not seen */
export const unseenCount = (text) =>
  (text.match(UNSEEN)?.length ?? 0) + (text.match(CONTROL)?.length ?? 0);

/**
 * @param {unknown} value
 * @param {number} [most] characters
 * @returns {string} a name on one line, shortened at its end
 */
export function nameOf(value, most = NAME) {
  const text = seen(String(value ?? "").slice(0, 4 * most))
    .replace(/[\s\u2028\u2029]+/g, " ")
    .trim();
  const points = Array.from(text);
  return points.length > most ? `${points.slice(0, most - 1).join("")}…` : text;
}

/**
 * @param {string} text
 * @param {number} most characters
 * @returns {string} at most `most` of its characters, and "…" if some are left out
 */
export const clip = (text, most) => (text.length > most ? `${text.slice(0, most)}…` : text);
