// @ts-check
/**
 * Cuts long plain texts into pieces that are laid out one by one: the layout of one text of 100 kB
 * takes up to four seconds (lines of mixed direction), that of a piece a few milliseconds. Pure.
 */

/** Most characters and lines of a piece. */
export const PIECE = 1000;
const LINES = 60;

/**
 * @param {string} text
 * @param {number} from
 * @returns {number} the end of the piece that begins at `from`: after a line end or a space, if
 *   possible, and never between the halves of a character
 */
export function pieceEnd(text, from) {
  const most = Math.min(text.length, from + PIECE);
  let lines = 0;
  let line = -1;
  for (let at = text.indexOf("\n", from); at >= 0 && at < most; at = text.indexOf("\n", at + 1)) {
    lines += 1;
    line = at + 1;
    if (lines === LINES) return line;
  }
  if (most === text.length) return most;
  if (line > from + PIECE / 2) return line;
  const space = text.lastIndexOf(" ", most - 1) + 1;
  if (space > from + PIECE / 2) return space;
  const half = text.charCodeAt(most);
  return half >= 0xdc00 && half <= 0xdfff ? most - 1 : most;
}
