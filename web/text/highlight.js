// @ts-check
/**
 * Colours of code: comments, strings, numbers, keywords and names of keys, found in one pass over a
 * part of a code block. Not a grammar: enough to tell the words of a program apart. Each pattern
 * reads a character once, so that the time grows with the length alone, and of a part at most `MOST`
 * runs are coloured. Pure.
 */

/** @typedef {"comment" | "string" | "number" | "word" | "name" | ""} Kind "": not coloured */
/** @typedef {{kind: Kind, text: string}} Run */
/**
 * What a part leaves open for the next one: the end of the comment or string that it is in; "" for
 * none.
 * @typedef {string} Open
 */

/** Coloured runs of a part; the rest is plain. */
const MOST = 400;

/**
 * @typedef {object} Family
 * @property {RegExp} comment to the end of the line
 * @property {readonly (readonly [string, string])[]} spans what begins and what ends a comment (with
 *   "/" or "<") or a string of several lines
 * @property {RegExp} [name] names of keys and tags
 * @property {ReadonlySet<string>} words keywords
 */

const words = (/** @type {string} */ list) => new Set(list.split(" "));

const PYTHON = words(
  "and as assert async await break case class continue def del elif else except False finally for " +
    "from global if import in is lambda match None nonlocal not or pass raise return self True try " +
    "while with yield",
);
const SCRIPT = words(
  "abstract as async await bool break case catch char class const continue default delete do " +
    "double else enum export extends false final float fn for from func function if impl import in " +
    "instanceof int interface let match mod mut new nil null of package private protected pub " +
    "public return self static string struct super switch this throw true try type typeof " +
    "undefined use using var void while with yield",
);
const SHELL = words(
  "case do done elif else esac export fi for function if in local return set source then unset " +
    "while false true null yes no on off echo cd pip python git",
);
const QUERY = words(
  "and as by case create delete desc distinct else end exists from group having in insert into is " +
    "join left like limit local not null on or order outer select set table then union update " +
    "values when where with function if elseif for do while return nil true false",
);

/** @type {Record<string, Family>} */
const FAMILIES = {
  python: { comment: /#[^\n]*/y, spans: [['"""', '"""'], ["'''", "'''"]], words: PYTHON },
  script: { comment: /\/\/[^\n]*/y, spans: [["/*", "*/"], ["`", "`"]], words: SCRIPT },
  shell: {
    comment: /(?<![^\s])#[^\n]*/y,
    spans: [],
    name: /(?<=^[ \t-]{0,40})[\w.-]{1,60}(?=[ \t]?[:=])/my,
    words: SHELL,
  },
  json: {
    comment: /\/\/[^\n]*/y,
    spans: [],
    name: /"(?:[^"\\\n]|\\.){0,200}"(?=[ \t]{0,20}:)/y,
    words: words("true false null"),
  },
  markup: {
    comment: /(?!)/y,
    spans: [["<!--", "-->"]],
    name: /<\/?[\w:-]{1,60}|\/?>|[\w:-]{1,60}(?==)/y,
    words: new Set(),
  },
  query: { comment: /--[^\n]*/y, spans: [["/*", "*/"]], words: QUERY },
};

/** @type {Record<string, string>} family by the language of a fence */
const LANGUAGES = {};
for (const [family, names] of Object.entries({
  python: "python py python3 pycon",
  script:
    "javascript js jsx mjs typescript ts tsx c cpp c++ csharp cs java go rust rs kotlin swift " +
    "php dart scala css scss less glsl hlsl wgsl cuda",
  shell:
    "bash sh shell zsh console powershell ps1 bat yaml yml toml ini env dockerfile makefile ruby " +
    "rb r perl",
  json: "json jsonc json5 jsonl",
  markup: "html xml svg vue",
  query: "sql lua",
})) {
  for (const name of names.split(" ")) LANGUAGES[name] = family;
}

const STRING = /"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?/y;
const NUMBER = /(?<![\w.])-?(?:0x[\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w)/y;
const WORD = /[A-Za-z_$][\w$]*/y;

/** @param {RegExp} pattern sticky @param {string} text @param {number} at @returns {number} its length */
function lengthAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : 0;
}

/**
 * @param {string} code a part of a code block
 * @param {string} language of the fence; "" or an unknown one is not coloured
 * @param {Open} [open] what the part before left open
 * @returns {{runs: Run[], open: Open}} the code in order, no run empty
 */
export function highlight(code, language, open = "") {
  const name = language.toLowerCase();
  const family = Object.hasOwn(LANGUAGES, name) ? FAMILIES[LANGUAGES[name]] : null;
  if (!family || !code) return { runs: code ? [{ kind: "", text: code }] : [], open: "" };
  /** @type {Run[]} */
  const runs = [];
  let coloured = 0;
  let plain = 0;
  let at = 0;

  /** @param {Kind} kind @param {number} length */
  const take = (kind, length) => {
    if (kind && coloured < MOST) {
      if (at > plain) runs.push({ kind: "", text: code.slice(plain, at) });
      runs.push({ kind, text: code.slice(at, at + length) });
      plain = at + length;
      coloured += 1;
    }
    at += length;
  };

  /** Takes a span up to its end. @param {string} end @param {number} from after its beginning */
  const takeSpan = (end, from) => {
    const found = code.indexOf(end, from);
    open = found < 0 ? end : "";
    const kind = end === "*/" || end === "-->" ? "comment" : "string";
    take(kind, (found < 0 ? code.length : found + end.length) - at);
  };

  if (open) takeSpan(open, 0);
  while (at < code.length) {
    const span = family.spans.find(([begin]) => code.startsWith(begin, at));
    const length = span ? 0 : lengthAt(family.comment, code, at);
    const key = !span && !length && family.name ? lengthAt(family.name, code, at) : 0;
    if (span) takeSpan(span[1], at + span[0].length);
    else if (length) take("comment", length);
    else if (key) take("name", key);
    else takeToken();
  }
  if (code.length > plain) runs.push({ kind: "", text: code.slice(plain) });
  return { runs, open };

  function takeToken() {
    const string = lengthAt(STRING, code, at);
    if (string) return take("string", string);
    const number = lengthAt(NUMBER, code, at);
    if (number) return take("number", number);
    const word = lengthAt(WORD, code, at);
    if (!word) return take("", 1);
    return take(family?.words.has(code.slice(at, at + word)) ? "word" : "", word);
  }
}
