// @ts-check
/**
 * Splits streaming Markdown into blocks that are rendered one by one. A block ends where Markdown
 * allows it (a blank line, a fence) and, in long paragraphs, lists, tables and code, before its cost
 * goes over the budget of `cost.js`: a later block then *continues* the one before. A line that is
 * over the budget alone is a block of kind "plain". All blocks but the last two are final, so that a
 * growing text costs time only at its end. Rendering is left to `views/markdown.js`. Pure, and
 * linear in the length of the text.
 */

import { BUDGET, costOf, definedLabel, LONGEST } from "./cost.js";

/**
 * @typedef {object} Block
 * @property {"text" | "code" | "plain"} kind "plain": Markdown that costs too much to be rendered
 * @property {number} start index of the block in the text
 * @property {number} end index after its last line
 * @property {string} source Markdown of a text block, the code itself of a code block
 * @property {string} language of a code block; "" if the fence has none
 * @property {boolean} closed false while the closing fence is missing
 * @property {boolean} continues whether it is the next part of the block before
 * @property {number} cost
 * @property {readonly (readonly [string, string])[]} definitions label and line of the link
 *   definitions in the block
 * @property {Context | null} context in which the block begins
 */

/**
 * What a part of a block must know of the parts before it.
 * @typedef {object} Context
 * @property {"text" | "code"} kind
 * @property {string} mark of the code's fence, "" in a text
 * @property {string} language of the code
 * @property {boolean} list
 * @property {number} number of the next item of a numbered list; -1 in other blocks
 * @property {string} header the first two lines of a table, which each of its parts repeats
 * @property {string} fence the line that opened the code inside of a list item; ""
 * @property {boolean} inLine whether the part begins inside of a line
 * @property {boolean} plain whether the beginning of that line is plain: so is its rest
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const NUMBERED = /^( {0,3})(\d{1,9})(?=[.)](?:[ \t]|$))/;
const INDENTED = /^(?: {2,}|\t)/;
const LANGUAGE = /^[ \t]{0,20}(\S{1,40})/;

/** Most characters and lines of a part of a code block. */
const CODE_CHARS = 1000;
const CODE_LINES = 60;
/** Most characters of a plain block. */
const PLAIN_CHARS = 1000;

/**
 * @param {string} text the whole source
 * @param {number} [from] the start of a block; earlier text is skipped
 * @param {Context | null} [context] of that block
 * @returns {Block[]}
 */
export function splitBlocks(text, from = 0, context = null) {
  /** @type {Block[]} */
  const blocks = [];
  let next = nextBlock(text, from, context);
  while (next) {
    blocks.push(next.block);
    next = nextBlock(text, next.block.end, next.context);
  }
  return blocks;
}

/**
 * @param {string} text
 * @param {number} from
 * @param {Context | null} [context] what the block before left open
 * @returns {{block: Block, context: Context | null} | null} the next block and what it leaves open;
 *   null at the end of the text
 */
export function nextBlock(text, from, context = null) {
  if (context && from < text.length) {
    return context.kind === "code"
      ? codeBlock(text, from, from, context)
      : textBlock(text, from, context);
  }
  const at = afterBlankLines(text, from);
  if (at >= text.length) return null;
  const line = lineAt(text, at);
  const fence = openingFence(line.text);
  return fence ? codeBlock(text, at, line.next, fence) : textBlock(text, at, null);
}

/** @param {string} text @param {number} from @returns {number} start of the next line with a text */
function afterBlankLines(text, from) {
  const seen = /\S/g;
  seen.lastIndex = from;
  if (!seen.test(text)) return text.length;
  return Math.max(from, text.lastIndexOf("\n", seen.lastIndex - 1) + 1);
}

/**
 * Number of blocks that more text cannot change. The last block can change, and so can the one
 * before it, if the last continues it or if it is a list before an incomplete line, because that
 * line may become the next item ("2" of "2. two").
 * @param {string} text
 * @param {readonly Block[]} blocks of that text
 * @returns {number}
 */
export function finalBlocks(text, blocks) {
  const last = blocks.at(-1);
  if (!last) return 0;
  const count = blocks.length - 1;
  if (count > 0 && last.continues) return count - 1;
  const list = count > 0 && (blocks[count - 1].context?.list || isList(blocks[count - 1]));
  return list && !text.includes("\n", last.start) ? count - 1 : count;
}

/** @param {Block} block */
const isList = ({ kind, source }) => kind !== "code" && LIST_ITEM.test(source);

/**
 * Joins a text block with the next one, because a call of the renderer costs more than the length of
 * its text.
 * @param {Block} before
 * @param {Block} block
 * @returns {Block | null} null if they must be rendered apart
 */
export function joined(before, block) {
  const fits = before.kind === "text" && block.kind === "text" && !block.continues;
  if (!fits || before.cost + block.cost > BUDGET) return null;
  const source = `${before.source}\n\n${block.source}`;
  return {
    ...before,
    end: block.end,
    source,
    cost: before.cost + block.cost,
    definitions: [...before.definitions, ...block.definitions],
  };
}

/** @typedef {{text: string, next: number}} Line `next`: index after its line end */

/** @param {string} text @param {number} at @returns {Line} */
function lineAt(text, at) {
  const end = text.indexOf("\n", at);
  return end < 0
    ? { text: text.slice(at), next: text.length }
    : { text: text.slice(at, end).replace(/\r$/, ""), next: end + 1 };
}

const LETTER = /[\p{L}]/u;

/**
 * A line, or the next part of a line that is too long: up to a space before a letter, which begins
 * no other block.
 * @param {string} text
 * @param {number} at
 * @returns {Line}
 */
function pieceAt(text, at) {
  const feed = text.indexOf("\n", at);
  const end = feed < 0 ? text.length : feed;
  if (end - at <= LONGEST) return lineAt(text, at);
  let cut = at + LONGEST;
  for (let near = cut; near > at + LONGEST / 2; near -= 1) {
    if (text[near - 1] === " " && LETTER.test(text[near])) {
      cut = near;
      break;
    }
  }
  // The halves of a surrogate pair stay together.
  const half = text.charCodeAt(cut);
  if (half >= 0xdc00 && half <= 0xdfff) cut -= 1;
  return { text: text.slice(at, cut), next: cut };
}

/** @param {string} line @returns {Context | null} */
function openingFence(line) {
  const mark = FENCE.exec(line)?.[1];
  if (!mark) return null;
  const information = line.slice(line.indexOf(mark) + mark.length);
  if (mark[0] === "`" && information.includes("`")) return null;
  const language = LANGUAGE.exec(information)?.[1] ?? "";
  return { ...OPEN, kind: "code", mark, language };
}

/** @type {Context} */
const OPEN = {
  kind: "text",
  mark: "",
  language: "",
  list: false,
  number: -1,
  header: "",
  fence: "",
  inLine: false,
  plain: false,
};

/** @param {string} line @param {string} mark of the opening fence */
function closesFence(line, mark) {
  const text = line.trimEnd();
  const marks = text.trimStart();
  return (
    text.length - marks.length <= 3 &&
    marks.length >= mark.length &&
    marks.startsWith(mark) &&
    marks === mark[0].repeat(marks.length)
  );
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} body index of the first line of code
 * @param {Context} context
 * @returns {{block: Block, context: Context | null}}
 */
function codeBlock(text, start, body, context) {
  const most = body + CODE_CHARS;
  let at = body;
  let lines = 0;
  let closed = false;
  let end = text.length;
  let next = text.length;
  let more = false;
  while (at < text.length) {
    const line = pieceAt(text, at);
    const whole = text[at - 1] === "\n" && text[line.next - 1] === "\n";
    if (text[at - 1] === "\n" && (whole || line.next === text.length)) {
      closed = closesFence(line.text, context.mark);
    }
    more = !closed && at > body && (line.next > most || lines === CODE_LINES);
    if (closed || more) {
      end = at;
      next = closed ? line.next : at;
      break;
    }
    lines += 1;
    at = line.next;
  }
  const code = text.slice(body, end);
  const block = {
    kind: /** @type {const} */ ("code"),
    start,
    end: next,
    source: closed ? code.replace(/\r?\n$/, "") : code,
    language: context.language,
    closed,
    continues: body === start,
    cost: 0,
    definitions: [],
    context: body === start ? context : null,
  };
  return { block, context: more ? context : null };
}

/**
 * A text block ends at a blank line. A list continues over blank lines while items or indented
 * lines follow, so that its numbering and nesting are kept.
 * @param {string} text
 * @param {number} start
 * @param {Context | null} given of a part that continues a block
 * @returns {{block: Block, context: Context | null}}
 */
function textBlock(text, start, given) {
  const scan = scanText(text, start, given);
  const { end, plain, cost, state, more } = scan;
  const raw = text.slice(start, end).replace(/\r?\n$/, "");
  const block = {
    kind: /** @type {Block["kind"]} */ (plain ? "plain" : "text"),
    start,
    end,
    source: given && !plain ? continuedSource(raw, given) : raw,
    language: "",
    closed: true,
    continues: given !== null,
    cost,
    definitions: scan.definitions,
    context: given,
  };
  return { block, context: more ? state : null };
}

/**
 * Takes the lines of a text block, up to the budget.
 * @param {string} text
 * @param {number} start
 * @param {Context | null} given
 */
function scanText(text, start, given) {
  const first = lineAt(text, start).text;
  /** @type {Context} */
  let state = given ?? { ...OPEN, list: LIST_ITEM.test(first) };
  /** @type {[string, string][]} */
  const definitions = [];
  let cost = given?.header ? given.header.split("\n").reduce((sum, line) => sum + costOf(line), 0) : 0;
  let at = start;
  let end = start;
  let blank = false;
  let plain = false;
  let before = "";
  /** The last item of the list in this block: the state before it. */
  let item = { at: start, state, definitions: 0, cost: 0 };

  while (at < text.length) {
    const line = pieceAt(text, at);
    const begins = at === start ? !state.inLine : text[at - 1] === "\n";
    const filled = begins && line.text.trim() === "" ? afterBlankLines(text, at) : at;
    if (filled > at) {
      blank = true;
      at = filled;
      continue;
    }
    const { list, fence } = state;
    const isItem = begins && !fence && list && LIST_ITEM.test(line.text);
    if (blank && !fence && !(list && (isItem || INDENTED.test(line.text)))) {
      return { end, plain, cost, state, definitions, more: false };
    }
    if (begins && at > start && !fence && openingFence(line.text) && !(list && INDENTED.test(line.text))) {
      return { end, plain, cost, state, definitions, more: false };
    }
    if (isItem && at > start) item = { at, state, definitions: definitions.length, cost };
    const added = fence ? codeCost(line.text) : costOf(line.text);
    const heavy = added > BUDGET || (!begins && state.plain);
    const over = heavy
      ? end > start && (!plain || line.next - start > PLAIN_CHARS)
      : end > start && (plain || cost + added > BUDGET);
    if (over) {
      // A list is cut before an item, where there is one.
      const back = !plain && !heavy && item.at > start;
      if (back) {
        definitions.length = item.definitions;
        return { end: item.at, plain, cost: item.cost, state: item.state, definitions, more: true };
      }
      return { end: at, plain, cost, state: { ...state, inLine: !begins }, definitions, more: true };
    }
    if (heavy) plain = true;
    else cost += added;
    if (begins && !fence) {
      const label = definedLabel(line.text);
      if (label !== null) definitions.push([label, line.text]);
    }
    state = { ...after(state, line.text, before, begins, isItem), plain: heavy };
    before = line.text;
    blank = false;
    at = line.next;
    end = at;
  }
  return { end, plain, cost, state, definitions, more: false };
}

/** @param {string} line @returns {number} cost of a line of code in a list item */
const codeCost = (line) => 1 / CODE_LINES + line.length / CODE_CHARS;

/**
 * @param {Context} state
 * @param {string} line
 * @param {string} before the line before
 * @param {boolean} begins whether the line is no later part of a line
 * @param {boolean} isItem
 * @returns {Context} the state after the line
 */
function after(state, line, before, begins, isItem) {
  let { number, header, fence } = state;
  if (isItem) {
    const own = NUMBERED.exec(line)?.[2];
    if (own === undefined) number = -1;
    else number = (number < 0 ? Number(own) : number) + 1;
  }
  if (begins && state.list) {
    const inner = line.trimStart();
    const mark = /^(?:`{3,}|~{3,})/.exec(inner)?.[0];
    if (fence) {
      const opened = /^(?:`{3,}|~{3,})/.exec(fence)?.[0] ?? "```";
      if (closesFence(inner, opened)) fence = "";
    } else if (mark && (line !== inner || isItem)) fence = inner;
  }
  if (!header && begins && isDelimiterRow(line) && before.includes("|")) {
    const both = `${before}\n${line}`;
    if (costOf(before) + costOf(line) < BUDGET / 2) header = both;
  }
  return { ...state, number, header, fence, inLine: false };
}

/** @param {string} line @returns {boolean} whether it is the second line of a table */
function isDelimiterRow(line) {
  return line.includes("-") && line.includes("|") && /^[|:\- \t]+$/.test(line);
}

/**
 * @param {string} raw
 * @param {Context} context
 * @returns {string} Markdown of a part that begins in the middle of a block
 */
function continuedSource(raw, { list, number, header, fence, inLine }) {
  if (header) return `${header}\n${raw}`;
  if (inLine && !list) return raw.trimStart();
  if (!list) return raw;
  if (!fence && LIST_ITEM.test(raw)) {
    return number < 0 ? raw : raw.replace(NUMBERED, (_all, space) => `${space}${number}`);
  }
  const indent = /^[ \t]*/.exec(raw)?.[0].length ?? 0;
  const inner = raw
    .split("\n")
    .map((line) => line.slice(Math.min(indent, line.length - line.trimStart().length)))
    .join("\n");
  return fence ? `${fence}\n${inner}` : inner;
}
