// @ts-check
/**
 * What a screen reader is told while an answer streams: whole sentences, in words, without Markdown
 * marks. Pure; when they are spoken is left to `views/live-region.js`.
 */

/** An abbreviation or a number before the dot is no end ("e.g. this", "3. Then"). */
const NO_END = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|no|nr|fig|\d+)\.$/i;

/**
 * @param {string} text the source so far
 * @param {number} from how much of it was spoken
 * @param {boolean} finished whether the text is complete
 * @returns {{spoken: string[], end: number}} the sentences that are complete now, and the new `from`
 */
export function finishedSentences(text, from, finished) {
  /** @type {string[]} */
  const spoken = [];
  let start = from;
  const ends = /[.!?。！？…]+["')\]]*(?=\s)|[。！？]|\n+/g;
  ends.lastIndex = from;
  for (let match = ends.exec(text); match; match = ends.exec(text)) {
    const end = match.index + match[0].length;
    if (NO_END.test(text.slice(Math.max(start, end - 12), end))) continue;
    if (insideFence(text, end)) continue;
    add(spoken, text.slice(start, end));
    start = end;
  }
  if (finished && start < text.length) {
    add(spoken, text.slice(start));
    start = text.length;
  }
  return { spoken, end: start };
}

/** @param {string[]} spoken @param {string} source */
function add(spoken, source) {
  const words = speakable(source);
  if (words) spoken.push(words);
}

/** @param {string} text @param {number} end */
function insideFence(text, end) {
  const fences = text.slice(0, end).match(/^ {0,3}(?:```|~~~)/gm);
  return fences !== null && fences.length % 2 === 1;
}

/**
 * @param {string} source Markdown
 * @returns {string} its words; a code block is named, not read
 */
export function speakable(source) {
  return source
    .replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, " (code) ")
    .replace(/!\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^\s*\|?[\s:|-]+\|?\s*$/gm, "")
    .replace(/^\s{0,3}(?:#{1,6}|>|[-*+])\s+/gm, "")
    .replace(/[*_`~|]+/g, "")
    .replace(/<[^>]{1,200}>/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
