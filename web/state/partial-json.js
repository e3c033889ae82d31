// @ts-check
/**
 * JSON that is still being written: the value that a prefix of a document already determines. Used
 * for tool arguments while they stream; knows nothing about tools.
 */

const WORDS = ["true", "false", "null"];

/**
 * Closes what a prefix left open: a string is ended, a member without a value and a half number are
 * dropped, a half `true`, `false` or `null` is completed.
 *
 * @param {string} text a prefix of a JSON document
 * @returns {string} a complete document, or a text that JSON.parse refuses if `text` is no prefix
 */
export function completeJson(text) {
  /** @type {string[]} what closes each open object or array, innermost last */
  const closers = [];
  let safe = 0; // text[0:safe] followed by the closers at that point is a complete document
  /** @type {string[]} */
  let safeClosers = [];
  let tail = "";
  /** @type {"value" | "key" | "colon" | "comma"} what the grammar expects next */
  let expects = "value";

  /** @param {number} end @param {string} [addition] */
  const settle = (end, addition = "") => {
    safe = end;
    safeClosers = [...closers];
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
  return text.slice(0, safe) + tail + safeClosers.reverse().join("");
}

/**
 * @param {string} text
 * @param {number} start the index of the opening quote
 * @returns {{end: number, closed: boolean}} `end` is behind the closing quote, or behind the last
 *   character that is not part of a half escape
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
 * A number or a word.
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

/**
 * @param {string} text a JSON document or a prefix of one
 * @returns {unknown} its value so far; undefined while there is none
 */
export function parsePartialJson(text) {
  for (const candidate of [text, completeJson(text)]) {
    try {
      return JSON.parse(candidate);
    } catch {
      // Not complete yet: the second candidate is the completed text.
    }
  }
  return undefined;
}
