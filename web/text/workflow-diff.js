// @ts-check
/**
 * Reads the difference of two workflows as the server writes it for the model
 * (`assistant/workflow/diff.py`), so that the panel can show it as rows. A line of another form is
 * a row of its own, shown as it is. Pure.
 */

/**
 * @typedef {object} DiffNode
 * @property {string} id its id at its level
 * @property {string} kind its type
 * @property {string} inside the name of its subgraph; "" in the workflow itself
 */

/**
 * A value, link, mode, title or type that is another one now. `before` or `after` is null where
 * there was none, or is none any more.
 * @typedef {object} DiffChange
 * @property {"value" | "link" | "mode" | "title" | "type"} of
 * @property {string} name of the value or input; "" for the others
 * @property {string | null} before
 * @property {string | null} after
 */

/**
 * @typedef {object} DiffRow
 * @property {"added" | "removed" | "changed" | "other"} mark
 * @property {DiffNode | null} node
 * @property {readonly DiffChange[]} changes of a changed node
 * @property {string} text what else the line says
 */

const LINE = /^( {2})?([-+~]) (.*)$/;
const SUBGRAPH = /^in subgraph ("(?:[^"\\]|\\.)*")/;
/** The first line, which names the two revisions. */
const HEAD = /^from \w+ to \w+:$/;

/** @param {string} text @returns {DiffRow[]} */
export function readDiff(text) {
  /** @type {DiffRow[]} */
  const rows = [];
  let inside = "";
  for (const line of text.split("\n")) {
    const found = LINE.exec(line);
    const named = SUBGRAPH.exec(line);
    if (named) inside = plain(named[1]);
    else if (found) {
      const row = readLine(found[2], found[3], found[1] ? inside : "");
      rows.push(row);
      const made = /^subgraph ("(?:[^"\\]|\\.)*")/.exec(row.node ? "" : found[3]);
      if (made) inside = plain(made[1]);
    } else if (line.trim() && !HEAD.test(line)) rows.push(other(line.trim()));
  }
  return rows;
}

/** @param {string} text @returns {DiffRow} */
const other = (text) => ({ mark: "other", node: null, changes: [], text });

/** @param {string} sign @param {string} rest @param {string} inside @returns {DiffRow} */
function readLine(sign, rest, inside) {
  const words = splitOutside(rest, " ");
  if (words[0] === "subgraph" || words[0] === "out" || words.length < 2) {
    return other(sign === "~" ? rest : `${sign} ${rest}`);
  }
  const id = plain(words[0]);
  if (sign !== "~") {
    const node = { id, kind: kindOf(words.slice(1)), inside };
    return { mark: sign === "+" ? "added" : "removed", node, changes: [], text: "" };
  }
  const [head, ...after] = splitOutside(rest, ": ");
  const node = { id, kind: kindOf(splitOutside(head, " ").slice(1)), inside };
  const changes = splitOutside(after.join(": "), "; ").map(readChange);
  return {
    mark: "changed",
    node,
    changes: changes.flatMap((each) => (typeof each === "string" ? [] : [each])),
    text: changes.filter((each) => typeof each === "string").join("; "),
  };
}

/** @param {readonly string[]} words that follow a node's id */
const kindOf = (words) =>
  words[0] === "subgraph" && words[1]?.startsWith('"') ? plain(words[1]) : plain(words[0] ?? "");

/** @param {string} text @returns {DiffChange | string} the text itself where it has another form */
function readChange(text) {
  const mode = /^now (\S+), was (\S+)$/.exec(text);
  if (mode) return change("mode", "", mode[2], mode[1]);
  const type = /^was (\S+)$/.exec(text);
  if (type) return change("type", "", plain(type[1]), null);
  const sides = splitOutside(text, " -> ");
  if (text.startsWith("title ") && sides.length === 2) {
    return change("title", "", noneOr(sides[0].slice(6)), noneOr(sides[1]));
  }
  return readLink(text, sides) ?? readValue(text, sides) ?? text;
}

/** @param {string} title */
const noneOr = (title) => (title === "none" ? null : plain(title));

/** @param {string} text @param {readonly string[]} sides @returns {DiffChange | null} */
function readLink(text, sides) {
  const gone = splitOutside(text, " no more <-");
  if (gone.length === 2) return change("link", plain(gone[0]), gone[1], null);
  const [name, ...source] = splitOutside(sides[0], "<-");
  if (source.length !== 1) return null;
  const made = /^(.*), was not linked$/.exec(source[0]);
  if (made) return change("link", plain(name), null, made[1]);
  return sides.length === 2 ? change("link", plain(name), source[0], sides[1]) : null;
}

/** @param {string} text @param {readonly string[]} sides @returns {DiffChange | null} */
function readValue(text, sides) {
  if (text.startsWith("no more ")) return change("value", plain(text.slice(8)), "", null);
  const part = /^(\S+) from character \d+: /.exec(sides[0]);
  if (part && sides.length === 2) {
    const before = plain(sides[0].slice(part[0].length));
    return change("value", plain(part[1]), `…${before}…`, `…${plain(sides[1])}…`);
  }
  const [name, ...value] = splitOutside(sides[0], "=");
  if (!value.length) return null;
  const before = plain(value.join("="));
  if (sides.length === 2) return change("value", plain(name), before, plain(sides[1]));
  return name.startsWith("new ") ? change("value", plain(name.slice(4)), null, before) : null;
}

/**
 * @param {DiffChange["of"]} of @param {string} name
 * @param {string | null} before @param {string | null} after @returns {DiffChange}
 */
const change = (of, name, before, after) => ({ of, name, before, after });

/**
 * @param {string} word a name or value: a JSON string, which may be cut off, or the word itself
 * @returns {string}
 */
function plain(word) {
  const found = /^("(?:[^"\\]|\\.)*")(…\+\d+)?$/.exec(word);
  if (!found) return word;
  try {
    return JSON.parse(found[1]) + (found[2] ? "…" : "");
  } catch {
    return word;
  }
}

/**
 * @param {string} text
 * @param {string} separator
 * @returns {string[]} the pieces between separators that stand outside of JSON strings
 */
function splitOutside(text, separator) {
  const pieces = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (quoted && letter === "\\") at += 1;
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && text.startsWith(separator, at)) {
      pieces.push(text.slice(from, at));
      from = at + separator.length;
      at = from - 1;
    }
  }
  pieces.push(text.slice(from));
  return pieces;
}

/**
 * @typedef {{added: number, removed: number, values: number, links: number, others: number}} Counts
 */

/**
 * @param {readonly DiffRow[]} rows
 * @returns {Counts} nodes that came and went, and how many values, links, and other things changed
 */
export function countRows(rows) {
  const counts = { added: 0, removed: 0, values: 0, links: 0, others: 0 };
  for (const { mark, changes, text } of rows) {
    if (mark === "added" || mark === "removed") counts[mark] += 1;
    else if (mark === "other" || text) counts.others += 1;
    for (const { of } of changes) {
      if (of === "value") counts.values += 1;
      else if (of === "link") counts.links += 1;
      else counts.others += 1;
    }
  }
  return counts;
}
