// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { finalBlocks, linkDefinitions, mergeBlocks, splitBlocks } from "../../web/text/blocks.js";

const TEXT = [
  "# Title\nstill the first block",
  "A paragraph\nover two lines.",
  "```python\nprint(1)\n\n\nprint(2)\n```",
  "1. one\n\n2. two\n\n   - nested\n\n   ```sh\n   ls\n\n   pwd\n   ```\n\n3. three",
  "> quote",
  "| a | b |\n|---|---|\n| 1 | 2 |",
  "~~~\n```\nnot a fence\n~~~",
  "last",
].join("\n\n");

/** @param {string} text */
const sources = (text) => splitBlocks(text).map((block) => block.source);

test("paragraphs, lists, tables, quotes and fences are one block each", () => {
  assert.deepEqual(sources(TEXT), [
    "# Title\nstill the first block",
    "A paragraph\nover two lines.",
    "print(1)\n\n\nprint(2)",
    "1. one\n\n2. two\n\n   - nested\n\n   ```sh\n   ls\n\n   pwd\n   ```\n\n3. three",
    "> quote",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```\nnot a fence",
    "last",
  ]);
});

test("text that grows is cut as if it had been there at once", () => {
  /** @type {import("../../web/text/blocks.js").Block[]} */
  let blocks = [];
  for (let end = 1; end <= TEXT.length; end += 1) {
    const kept = finalBlocks(TEXT.slice(0, end - 1), blocks);
    const from = blocks[kept]?.start ?? 0;
    blocks = [...blocks.slice(0, kept), ...splitBlocks(TEXT.slice(0, end), from)];
    assert.deepEqual(blocks, splitBlocks(TEXT.slice(0, end)), `at ${end}`);
  }
});

test("a fence that is still open is code already", () => {
  assert.deepEqual(splitBlocks("```js title\nlet a"), [
    { kind: "code", start: 0, source: "let a", language: "js", closed: false },
  ]);
});

test("a fence directly under a paragraph ends it", () => {
  assert.deepEqual(
    splitBlocks("Here:\n```\nx\n```\nafter").map((block) => [block.kind, block.source]),
    [
      ["text", "Here:"],
      ["code", "x"],
      ["text", "after"],
    ],
  );
});

test("code that only looks like a fence inside a longer one stays code", () => {
  assert.deepEqual(sources("````md\n```\nx\n```\n````"), ["```\nx\n```"]);
});

test("line feeds of Windows are line feeds", () => {
  assert.deepEqual(sources("one\r\n\r\n```\r\nx\r\n```\r\n\r\ntwo"), ["one", "x", "two"]);
});

test("nothing but blank lines has no blocks", () => {
  assert.deepEqual(splitBlocks("\n \n\n"), []);
});

test("link definitions are found anywhere", () => {
  assert.equal(
    linkDefinitions("See [docs].\n\n[docs]: https://x.org 'T'\n"),
    "[docs]: https://x.org 'T'",
  );
  assert.equal(linkDefinitions("nothing here"), "");
});

test("many lines are cut in linear time", () => {
  assert.equal(
    splitBlocks("word ".repeat(20) + "\n\n".repeat(1) + "- x\n".repeat(50_000)).length,
    2,
  );
});

test("neighbouring text blocks are joined as they stand in the source, code stays apart", () => {
  const text = "one\n\n- two\n\nthree\n\n```\ncode\n```\n\nfour\n\nfive\n";
  const merged = mergeBlocks(text, splitBlocks(text), 5);
  assert.deepEqual(
    merged.map((block) => block.source),
    ["one\n\n- two\n\nthree", "code", "four", "five"],
  );
});

test("joined blocks have a largest size", () => {
  const text = `${"word ".repeat(1000)}\n\n`.repeat(4);
  const blocks = splitBlocks(text);
  assert.equal(mergeBlocks(text, blocks, blocks.length).length, 4);
});
