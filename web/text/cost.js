// @ts-check
/**
 * The look before rendering: what a piece of Markdown can cost at most, found in one pass over its
 * characters. The host's renderer takes time that grows with the square or the cube of some marks
 * (`[a](` 2,000 times: 45 s), so that no block goes to it whose cost is over `BUDGET`. The numbers
 * below are chosen so that drawing a block of the full cost, with its layout, stays well below the
 * 100 ms that a task of the page may take (`bench/panel_render.py` prints the figures). Pure.
 */

/** Cost of a block that is rendered at once; also the cost of each of the numbers below alone. */
export const BUDGET = 1;
/** Most characters of a line, or of a part of a line, that is judged and rendered as a whole. */
export const LONGEST = 800;

/** Characters, lines and marks that make one full cost. */
const CHARS = 4000;
const LINES = 48;
const BRACKETS = 90;
const EMPHASIS = 140;
/** Underscores between letters, as in `snake_case`, seldom begin emphasis. */
const WORD_MARKS = 500;
const CODE = 200;
const TAGS = 110;
const CELLS = 160;
const LINKS = 120;
const ESCAPES = 300;
const TABS = 400;
const MARKS = 1000;
/** Changes between the two directions of writing, and characters that force one. */
const TURNS = 300;

/** Most quotes and list items that one line may open inside of each other. */
const DEPTH = 12;
/** Most columns of white space before a text: 20 lists inside of each other. */
const INDENT = 40;

const TAB = 9;
const SPACE = 32;
const OPENING = 91;
/** What each character below U+0080 costs, by its code; 0 for most of them. */
const PRICES = new Float64Array(128);
for (const [characters, most] of /** @type {[string, number][]} */ ([
  ["[", BRACKETS],
  ["]", ESCAPES],
  ["(", ESCAPES],
  ["`", CODE],
  ["<", TAGS],
  ["|", CELLS],
  ["@", LINKS],
  ["\\", ESCAPES],
  ["!", ESCAPES],
  ["&", ESCAPES],
  ["\t", TABS],
])) {
  for (const character of characters) PRICES[character.charCodeAt(0)] = 1 / most;
}

/**
 * @param {string} line without its line end
 * @returns {number} its cost; Infinity if it nests too deeply
 */
export function costOf(line) {
  if (nests(line)) return Infinity;
  let cost = 1 / LINES + line.length / CHARS;
  let before = SPACE;
  let direction = 0;
  for (let at = 0; at < line.length; at += 1) {
    const code = line.charCodeAt(at);
    if (code < 128) {
      cost += PRICES[code];
      // A run of marks is one delimiter.
      if ((code === 42 || code === 95 || code === 126) && code !== before) {
        const inWord = code === 95 && isWord(before) && isWord(line.charCodeAt(at + 1));
        cost += 1 / (inWord ? WORD_MARKS : EMPHASIS);
      }
      // "://" and "www." become links.
      if (code === 47 && before === 58) cost += 1 / LINKS;
      else if (code === 46 && before === 119) cost += 1 / LINKS;
    } else if (isMark(code)) cost += 1 / MARKS;
    else if (isForcing(code)) cost += 1 / TURNS;
    const own = isLetter(code) ? 1 : isRightToLeft(code) ? -1 : 0;
    if (own !== 0) {
      if (own === -direction) cost += 1 / TURNS;
      direction = own;
    }
    before = code;
  }
  return cost;
}

/** @param {number} code @returns {boolean} whether it is an ASCII letter or digit */
const isWord = (code) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);

/** @param {number} code @returns {boolean} whether it is a mark that is drawn onto a letter */
const isMark = (code) =>
  (code >= 0x0300 && code <= 0x036f) ||
  (code >= 0x1ab0 && code <= 0x1aff) ||
  (code >= 0x1dc0 && code <= 0x1dff) ||
  (code >= 0x20d0 && code <= 0x20ff) ||
  (code >= 0xfe20 && code <= 0xfe2f);

/** @param {number} code */
const isLetter = (code) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

/** @param {number} code @returns {boolean} whether it is written from right to left */
const isRightToLeft = (code) =>
  (code >= 0x0590 && code <= 0x08ff) ||
  (code >= 0xfb1d && code <= 0xfdff) ||
  (code >= 0xfe70 && code <= 0xfefc);

/** @param {number} code @returns {boolean} whether it is a control of direction */
const isForcing = (code) =>
  (code >= 0x200e && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

const ITEM = /(?:[-*+]|\d{1,9}[.)])(?=[ \t]|$)/y;

/** @param {string} line @returns {boolean} whether it opens more quotes and lists than allowed */
function nests(line) {
  let at = 0;
  let depth = 0;
  let indent = 0;
  while (at < line.length) {
    const code = line.charCodeAt(at);
    ITEM.lastIndex = at;
    if (code === SPACE || code === TAB) {
      indent += code === TAB ? 4 : 1;
      at += 1;
    } else if (code === 62) {
      depth += 1;
      at += 1;
    } else if (ITEM.test(line)) {
      depth += 1;
      at = ITEM.lastIndex;
    } else break;
    if (depth > DEPTH || indent > INDENT + 2 * depth) return at < line.length || depth > DEPTH;
  }
  return false;
}

/**
 * The labels in brackets, to which link definitions may belong.
 * @param {string} source
 * @returns {Set<string>} as `labelOf` makes them
 */
export function labelsIn(source) {
  /** @type {Set<string>} */
  const labels = new Set();
  let open = -1;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === OPENING) open = at + 1;
    else if (code === 93 && open >= 0) {
      if (at - open <= LABEL) labels.add(labelOf(source.slice(open, at)));
      open = -1;
    }
  }
  return labels;
}

/** Most characters of a label, and of a definition. */
const LABEL = 200;
const ADDRESS = 2000;

/** @param {string} words @returns {string} labels with other cases or spaces are the same */
const labelOf = (words) => words.trim().replace(/\s+/g, " ").toLowerCase();

const DEFINITION = /^ {0,3}\[([^\[\]\n]{1,200})\]:[ \t]{0,100}\S/;

/**
 * @param {string} line
 * @returns {string | null} the label that the line defines (`[label]: address`); else null
 */
export function definedLabel(line) {
  if (line.length > ADDRESS) return null;
  const found = DEFINITION.exec(line);
  return found ? labelOf(found[1]) : null;
}
