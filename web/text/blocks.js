// @ts-check
/**
 * Splits streaming Markdown into blocks that are rendered one by one. All blocks but the last are
 * final, so that each frame of a long answer renders one small block. Fenced code is a block of its
 * own and needs no Markdown renderer. Rendering is left to `views/markdown.js`.
 */

/**
 * @typedef {object} Block
 * @property {"text" | "code"} kind
 * @property {number} start index of the block in the text
 * @property {string} source Markdown of a text block, the code itself of a code block
 * @property {string} language of a code block; "" if the fence has none
 * @property {boolean} closed false while the closing fence is missing
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const INDENTED = /^(?: {2,}|\t)/;

/**
 * @param {string} text the whole source
 * @param {number} [from] the start of a block; earlier text is skipped
 * @returns {Block[]}
 */
export function splitBlocks(text, from = 0) {
  /** @type {Block[]} */
  const blocks = [];
  let at = from;
  while (at < text.length) {
    const line = lineAt(text, at);
    if (line.text.trim() === "") {
      at = line.next;
      continue;
    }
    const fence = FENCE.exec(line.text);
    const block = fence ? codeBlock(text, at, line.next, fence) : textBlock(text, at);
    blocks.push(block.block);
    at = block.end;
  }
  return blocks;
}

/**
 * Number of blocks that more text cannot change. The last block can change, and so can a list
 * before an incomplete line, because that line may become the next item ("2" of "2. two").
 * @param {string} text
 * @param {readonly Block[]} blocks of that text
 * @returns {number}
 */
export function finalBlocks(text, blocks) {
  const last = blocks.at(-1);
  if (!last) return 0;
  const count = blocks.length - 1;
  const list = count > 0 && LIST_ITEM.test(blocks[count - 1].source);
  return list && !text.includes("\n", last.start) ? count - 1 : count;
}

/** Most characters of a merged block: large enough to save calls, small enough for one frame. */
const MERGED = 8000;

/**
 * Merges neighbouring text blocks that arrived together, because a call of the renderer costs more
 * than the length of its text.
 * @param {string} text
 * @param {readonly Block[]} blocks
 * @param {number} count number of blocks, from the first, that can be merged
 * @returns {Block[]}
 */
export function mergeBlocks(text, blocks, count) {
  /** @type {Block[]} */
  const merged = [];
  blocks.forEach((block, index) => {
    const before = merged.at(-1);
    const end = blocks[index + 1]?.start ?? text.length;
    const joins = index < count && before?.kind === "text" && block.kind === "text";
    if (joins && end - before.start <= MERGED) {
      merged[merged.length - 1] = { ...before, source: text.slice(before.start, end).trimEnd() };
    } else {
      merged.push(block);
    }
  });
  return merged;
}

/** @param {string} text @param {number} at @returns {{text: string, next: number}} */
function lineAt(text, at) {
  const end = text.indexOf("\n", at);
  return end < 0
    ? { text: text.slice(at), next: text.length }
    : { text: text.slice(at, end).replace(/\r$/, ""), next: end + 1 };
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} body index of the first line after the opening fence
 * @param {RegExpExecArray} fence
 * @returns {{block: Block, end: number}}
 */
function codeBlock(text, start, body, fence) {
  const [, mark, information] = fence;
  const closing = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
  let at = body;
  let end = text.length;
  let next = text.length;
  let closed = false;
  while (at < text.length) {
    const line = lineAt(text, at);
    if (closing.test(line.text)) {
      end = at;
      next = line.next;
      closed = true;
      break;
    }
    at = line.next;
  }
  const code = text.slice(body, end);
  const language = information.trim().split(/\s+/)[0] ?? "";
  return {
    block: {
      kind: "code",
      start,
      source: closed ? code.replace(/\r?\n$/, "") : code,
      language,
      closed,
    },
    end: next,
  };
}

/**
 * A text block ends at a blank line. A list continues over blank lines while items or indented
 * lines follow, so that its numbering and nesting are kept.
 * @param {string} text
 * @param {number} start
 * @returns {{block: Block, end: number}}
 */
function textBlock(text, start) {
  const list = LIST_ITEM.test(lineAt(text, start).text);
  let at = start;
  let end = start;
  let blank = false;
  while (at < text.length) {
    const line = lineAt(text, at);
    if (line.text.trim() === "") {
      blank = true;
    } else {
      const belongs = list && (LIST_ITEM.test(line.text) || INDENTED.test(line.text));
      if (blank && !belongs) break;
      if (at > start && FENCE.test(line.text) && !(list && INDENTED.test(line.text))) break;
      blank = false;
      end = line.next;
      if (list && FENCE.test(line.text.trimStart())) end = skipNestedFence(text, at);
    }
    at = Math.max(line.next, end);
  }
  const source = text.slice(start, end).replace(/\r?\n$/, "");
  return { block: { kind: "text", start, source, language: "", closed: true }, end };
}

/** @param {string} text @param {number} at index of an indented fence @returns {number} its end */
function skipNestedFence(text, at) {
  const opening = lineAt(text, at);
  const mark = /[`~]{3,}/.exec(opening.text)?.[0] ?? "```";
  let next = opening.next;
  while (next < text.length) {
    const line = lineAt(text, next);
    next = line.next;
    if (line.text.trim().startsWith(mark) && /^[`~]+$/.test(line.text.trim())) break;
  }
  return next;
}

const DEFINITION = /^ {0,3}\[[^\]\n]+\]:[ \t]*\S+.*$/gm;

/**
 * Finds the link definitions (`[name]: url`) of the text, to which every block may refer.
 * @param {string} text
 * @returns {string} their lines; "" if there are none
 */
export function linkDefinitions(text) {
  return text.includes("]:") ? (text.match(DEFINITION) ?? []).join("\n") : "";
}
