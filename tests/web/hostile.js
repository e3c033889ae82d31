// @ts-check
/**
 * Answers that take a renderer without limits from seconds to for ever, by name. The browser tests
 * and `bench/panel_render.py` use the same list: `node tests/web/hostile.js` prints it as JSON.
 */

import { fileURLToPath } from "node:url";

/** @param {string} unit @param {number} length in characters @returns {string} */
const fill = (unit, length) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

/** @param {number} depth @param {string} step @returns {string} lists inside of each other */
const nested = (depth, step) =>
  Array.from({ length: depth }, (_item, level) => `${step.repeat(level)}- a\n`).join("");

/** @param {number} rows @param {number} columns @returns {string} */
const table = (rows, columns) => {
  const row = (/** @type {string} */ cell) => `|${cell.repeat(columns)}\n`;
  return row("a|") + row("-|") + row("xy|").repeat(rows);
};

/** @param {number} span @param {number} rows @param {number} columns */
const spans = (span, rows, columns) =>
  `<table>${`<tr>${`<td rowspan=${span} colspan=${span}>a</td>`.repeat(columns)}</tr>`.repeat(rows)}</table>`;

const svg = () => {
  let inner = '<g id="a0"><rect width="9" height="9"/></g>';
  for (let level = 1; level < 16; level += 1) {
    inner += `<g id="a${level}">${`<use href="#a${level - 1}"/>`.repeat(6)}</g>`;
  }
  const picture = `<svg xmlns="http://www.w3.org/2000/svg">${inner}<use href="#a15"/></svg>`;
  return `![x](data:image/svg+xml;base64,${btoa(picture)})`;
};

const MARKS = "a" + String.fromCharCode(...Array.from({ length: 60 }, (_mark, at) => 0x300 + at));

/** @type {Record<string, () => string>} */
export const HOSTILE = {
  "open links": () => fill("[a](", 20_000),
  "open pictures": () => fill("![a](", 20_000),
  "open links with titles": () => fill("[a]('", 20_000),
  "open links with parentheses": () => fill("[a](b(", 20_000),
  "open links in angles": () => fill("[a](<", 20_000),
  "emphasis around links": () => fill("*[a](b", 20_000),
  "links around emphasis": () => fill("[*a", 20_000),
  brackets: () => "[".repeat(50_000) + "a" + "]".repeat(50_000),
  references: () => fill("[a][b] ", 60_000),
  "strong that is open": () => fill("**a ", 20_000),
  "underscores that are open": () => fill("__a ", 20_000),
  underscores: () => fill("a_", 100_000),
  "mixed emphasis": () => fill("*a _b ~c `d ", 60_000),
  "back quotes": () => fill("`a``b```c", 60_000),
  "nested lists, 200": () => nested(200, "  "),
  "nested lists, 400": () => nested(400, "  "),
  "lists on one line": () => fill("+ ", 20_000) + "a",
  "numbers on one line": () => fill("1. ", 20_000) + "a",
  "quotes on one line": () => ">".repeat(20_000) + "a",
  "quotes on each line": () => fill(`${"> ".repeat(40)}a\n`, 60_000),
  "a table of 2,000 rows": () => table(2000, 3),
  "a table of 2,000 × 50": () => table(2000, 50),
  "a row of 20,000 cells": () => table(1, 20_000),
  "spans of 20 in 20 × 20": () => spans(20, 20, 20),
  "spans of 60 in 60 × 20": () => spans(60, 60, 20),
  "spans of 65534": () => spans(65_534, 20, 20),
  "nested elements": () => "<div>".repeat(20_000),
  "nested details": () => fill("<details><summary>a</summary>", 60_000),
  "open tags": () => fill("<a ", 60_000),
  "open comments": () => fill("<!-- ", 60_000),
  entities: () => fill("&amp;&#65;&x", 60_000),
  backslashes: () => "\\".repeat(60_000),
  tabs: () => "\t".repeat(200_000) + "a",
  "tabs between letters": () => fill("a\t", 200_000),
  spaces: () => " ".repeat(200_000) + "a",
  "letters with 60 marks": () => fill(MARKS, 120_000),
  marks: () => "a" + "\u0301".repeat(120_000),
  "mixed directions": () => fill("aש ", 120_000),
  "isolates of direction": () => fill("\u2067a", 120_000),
  "one word": () => "a".repeat(300_000),
  "one word of base64": () => fill("iVBORw0KGgo/+", 300_000),
  dots: () => ".".repeat(100_000),
  exclamations: () => "!".repeat(100_000),
  prose: () => fill("A sentence of some words. ", 155_000),
  "prose in paragraphs": () => fill(`${"A sentence of some words. ".repeat(8)}\n\n`, 500_000),
  "short lines": () => fill("a\n", 200_000),
  "short paragraphs": () => fill("a\n\n", 100_000),
  "a list of 20,000 items": () => fill("- a\n", 80_000),
  "checklist of 5,000 items": () => fill("- [ ] a\n", 40_000),
  headings: () => fill("# a\n", 80_000),
  rules: () => fill("---\n", 80_000),
  "blank lines": () => `a${"\n".repeat(300_000)}b`,
  "code of 1 MB": () => "```py\n" + fill("x = [1, 2, 3]  # words\n", 1_000_000) + "\n```",
  "code of short lines": () => "```\n" + fill("a\n", 300_000) + "```",
  "code of one line": () => "```\n" + "a".repeat(1_000_000) + "\n```",
  "code that is open": () => "```\n" + fill("let x = 1;\n", 400_000),
  "code in a list": () => "- a\n\n  ```\n" + fill("  let x = 1;\n", 300_000),
  "fence with a long language": () => "```" + "\t".repeat(100_000) + "`\na",
  "empty fences": () => fill("```\n", 60_000),
  "definitions and code": () =>
    Array.from({ length: 700 }, (_block, at) => `[d${at}]: /u${at}\n\n\`\`\`\nx\n\`\`\`\n`).join("\n"),
  definitions: () => Array.from({ length: 5000 }, (_line, at) => `[d${at}]: /u${at}`).join("\n"),
  addresses: () => fill("http://a.b/c a@b.c www.x.y ", 60_000),
  "pictures of SVG": () => svg(),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const texts = Object.entries(HOSTILE).map(([name, text]) => [name, text()]);
  process.stdout.write(JSON.stringify(Object.fromEntries(texts)));
}
