// @ts-check
/**
 * The last line of a growing text, with the marks closed that are still open: what is being written
 * in bold is shown in bold, and not with two asterisks until the end of the words comes. Pure.
 */

/** Most characters of a line that is looked at. */
const LONGEST = 2000;

/**
 * @param {string} source Markdown of the last block of a text that grows
 * @returns {string} the Markdown to render
 */
export function closed(source) {
  const start = source.lastIndexOf("\n") + 1;
  if (source.length - start > LONGEST) return source;
  const line = source.slice(start);
  return source.slice(0, start) + strongClosed(codeClosed(linkClosed(line)));
}

/** A link whose address is not whole is its words. @param {string} line */
const linkClosed = (line) => line.replace(/!?\[([^\[\]]*)\]\([^()\s]*$/, "$1");

/** @param {string} line */
function codeClosed(line) {
  const ticks = line.split("`").length - 1;
  if (ticks % 2 === 0) return line;
  return line.endsWith("`") ? line.slice(0, -1) : `${line}\``;
}

/** @param {string} line */
function strongClosed(line) {
  const marks = line.replace(/`[^`]*`/g, "").split("**").length - 1;
  const ends = /\*+$/.exec(line)?.[0].length ?? 0;
  if (marks % 2 === 0) return ends === 1 ? line.slice(0, -1) : line;
  if (ends === 1) return `${line}*`;
  return ends > 1 ? line.slice(0, -ends) : `${line.trimEnd()}**`;
}
