// @ts-check
/**
 * Parses incomplete JSON: the value that a prefix of a document already determines. Used for tool
 * arguments while they stream.
 */

const WORDS = ["true", "false", "null"];

/**
 * Completes a prefix of a document: closes strings, objects and arrays, completes a partial `true`,
 * `false` or `null`, drops members without a value and the incomplete end of a number.
 *
 * @param {string} text a prefix of a JSON document
 * @returns {string} a complete document, or a text that JSON.parse refuses if `text` is no prefix
 */
export function completeJson(text) {
  /** @type {string[]} closing brackets of the open objects and arrays, innermost last */
  const closers = [];
  let safe = 0; // text.slice(0, safe) with the closers appended is a complete document
  let tail = "";
  /** @type {"value" | "key" | "colon" | "comma"} the next token that the grammar expects */
  let expects = "value";

  /** @param {number} end @param {string} [addition] */
  const settle = (end, addition = "") => {
    safe = end;
    tail = addition;
  };

  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === '"') {
      const string = readString(text, at);
      if (expects === "key") {
        if (!string.closed) break;
        expects = "colon";
      } else {
        settle(string.end, string.closed ? "" : '"');
        expects = "comma";
      }
      if (!string.closed) break;
      at = string.end;
    } else if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      expects = char === "{" ? "key" : "value";
      at += 1;
      settle(at);
    } else if (char === "}" || char === "]") {
      closers.pop();
      expects = "comma";
      at += 1;
      settle(at);
    } else if (char === ":") {
      expects = "value";
      at += 1;
    } else if (char === ",") {
      expects = closers.at(-1) === "}" ? "key" : "value";
      at += 1;
    } else {
      const scalar = readScalar(text, at);
      if (scalar.text !== null) settle(at + scalar.text.length, scalar.addition);
      if (scalar.end === at) break;
      expects = "comma";
      at = scalar.end;
    }
  }
  return text.slice(0, safe) + tail + closers.reverse().join("");
}

/**
 * @param {string} text
 * @param {number} start the index of the opening quote
 * @returns {{end: number, closed: boolean}} `end`: index after the closing quote, or after the last
 *   character that is not part of an incomplete escape
 */
function readString(text, start) {
  let at = start + 1;
  while (at < text.length) {
    if (text[at] === '"') return { end: at + 1, closed: true };
    if (text[at] !== "\\") {
      at += 1;
      continue;
    }
    const length = text[at + 1] === "u" ? 6 : 2;
    if (at + length > text.length) break;
    at += length;
  }
  return { end: at, closed: false };
}

/**
 * Reads a number, `true`, `false` or `null`.
 * @param {string} text
 * @param {number} start
 * @returns {{text: string | null, addition: string, end: number}}
 */
function readScalar(text, start) {
  const found = /^[-+.\w]+/.exec(text.slice(start, start + 400))?.[0] ?? "";
  const word = WORDS.find((candidate) => candidate.startsWith(found));
  if (found && word) {
    return { text: found, addition: word.slice(found.length), end: start + found.length };
  }
  const digits = /^.*\d/.exec(found)?.[0] ?? null;
  return { text: digits, addition: "", end: start + found.length };
}

/** Longer arguments are not parsed while they stream: each frame parses all that has come. */
const LONGEST = 100_000;

/**
 * @param {string} text a JSON document or a prefix of one
 * @returns {unknown} the value so far; undefined if there is none, or if the text is too long
 */
export function parsePartialJson(text) {
  if (text.length > LONGEST) return undefined;
  for (const candidate of [text, completeJson(text)]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Not complete yet: the second candidate is the completed text.
    }
  }
  return undefined;
}
