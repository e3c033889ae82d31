// @ts-check
/**
 * Text for screen readers while an answer streams: complete sentences without Markdown marks; a
 * code block is announced, not read. Pure; `views/live-region.js` puts the sentences into the page.
 */

import { t } from "../strings.js";

/** Abbreviations and numbers whose dot does not end a sentence ("e.g. this", "3. Then"). */
const NO_END = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|no|nr|fig|\d+)\.$/i;
const SENTENCE_END = /[.!?…]["')\]]{0,3}(?=\s)|[。！？]/g;
/** Most characters that are spoken as one sentence: a text without a dot has no other end. */
const LONGEST = 600;
const FENCE = /^ {0,3}(?:```|~~~)/;

/**
 * @typedef {object} Spoken
 * @property {number} end number of characters that were processed
 * @property {boolean} code whether `end` is inside of a code block
 */

/** @type {Spoken} */
export const NOTHING_SPOKEN = { end: 0, code: false };

/**
 * @param {string} text the source so far
 * @param {Spoken} before result of the previous call
 * @param {boolean} finished whether the text is complete
 * @returns {Spoken & {sentences: string[]}} sentences completed since `before`
 */
export function finishedSentences(text, before, finished) {
  /** @type {string[]} */
  const sentences = [];
  let { end, code } = before;
  while (end < text.length) {
    const feed = text.indexOf("\n", end);
    const complete = feed >= 0 || finished;
    const line = text.slice(end, feed < 0 ? text.length : feed);
    const begins = end === 0 || text[end - 1] === "\n";
    if (begins && FENCE.test(line)) {
      if (!complete) break;
      if (!code) sentences.push(t("speech.code"));
      code = !code;
    } else if (!code) {
      const taken = takeSentences(line, complete, sentences);
      if (!complete) {
        end += taken;
        break;
      }
    }
    if (!complete) break;
    end = feed < 0 ? text.length : feed + 1;
  }
  return { end, code, sentences };
}

/**
 * @param {string} line
 * @param {boolean} complete whether the end of the line ends a sentence
 * @param {string[]} sentences receives the sentences
 * @returns {number} number of characters that were processed
 */
function takeSentences(line, complete, sentences) {
  let start = 0;
  /** @param {number} end */
  const take = (end) => {
    while (end - start > LONGEST) {
      const space = line.lastIndexOf(" ", start + LONGEST);
      const cut = space > start ? space : start + LONGEST;
      add(sentences, line.slice(start, cut));
      start = cut;
    }
  };
  for (const match of line.matchAll(SENTENCE_END)) {
    const end = match.index + match[0].length;
    if (NO_END.test(line.slice(Math.max(start, end - 12), end))) continue;
    take(end);
    add(sentences, line.slice(start, end));
    start = end;
  }
  take(line.length);
  if (complete) add(sentences, line.slice(start));
  return complete ? line.length : start;
}

/** @param {string[]} sentences @param {string} source */
function add(sentences, source) {
  const words = speakable(source);
  if (words) sentences.push(words);
}

/** A code span, or a mark that a backslash makes a character of the text. */
const LITERAL = /(`+[^`]*`+|\\[!-/:-@[-`{-~])/;

/**
 * @param {string} source Markdown, at most a sentence: the patterns look ahead to its end
 * @returns {string} plain text; underscores inside of words and in code are part of a name
 */
export function speakable(source) {
  return source
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, "$1")
    .replace(/^[\s:|-]+$/gm, "")
    .replace(/^ {0,3}(?:#{1,6}|>|[-*+])\s+/gm, "")
    .split(LITERAL)
    .map((piece, at) => (at % 2 ? literal(piece) : withoutMarks(piece)))
    .join("")
    .replace(/\s+/g, " ")
    .trim();
}

/** @param {string} piece matched by `LITERAL` */
const literal = (piece) => (piece[0] === "`" ? piece.replace(/^`+|`+$/g, "") : piece.slice(1));

/** @param {string} text without code and escapes */
const withoutMarks = (text) =>
  text
    .replace(/<[^>]{1,200}>/g, "")
    .replace(/[*`~|]+/g, "")
    .replace(/(^|[^\p{L}\p{N}_])_+/gu, "$1")
    .replace(/_+(?=$|[^\p{L}\p{N}_])/gu, "");
