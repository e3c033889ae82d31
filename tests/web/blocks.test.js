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

test("growing text is split into the same blocks as complete text", () => {
  /** @type {import("../../web/text/blocks.js").Block[]} */
  let blocks = [];
  for (let end = 1; end <= TEXT.length; end += 1) {
    const kept = finalBlocks(TEXT.slice(0, end - 1), blocks);
    const from = blocks[kept]?.start ?? 0;
    blocks = [...blocks.slice(0, kept), ...splitBlocks(TEXT.slice(0, end), from)];
    assert.deepEqual(blocks, splitBlocks(TEXT.slice(0, end)), `at ${end}`);
  }
});

test("an open fence is a code block that is not closed", () => {
  assert.deepEqual(splitBlocks("```js title\nlet a"), [
    { kind: "code", start: 0, source: "let a", language: "js", closed: false },
  ]);
});

test("a fence directly below a paragraph ends the paragraph", () => {
  assert.deepEqual(
    splitBlocks("Here:\n```\nx\n```\nafter").map((block) => [block.kind, block.source]),
    [
      ["text", "Here:"],
      ["code", "x"],
      ["text", "after"],
    ],
  );
});

test("a shorter fence inside of a longer one is code", () => {
  assert.deepEqual(sources("````md\n```\nx\n```\n````"), ["```\nx\n```"]);
});

test("line ends of Windows are line ends", () => {
  assert.deepEqual(sources("one\r\n\r\n```\r\nx\r\n```\r\n\r\ntwo"), ["one", "x", "two"]);
});

test("blank lines make no blocks", () => {
  assert.deepEqual(splitBlocks("\n \n\n"), []);
});

test("link definitions are found anywhere", () => {
  assert.equal(
    linkDefinitions("See [docs].\n\n[docs]: https://x.org 'T'\n"),
    "[docs]: https://x.org 'T'",
  );
  assert.equal(linkDefinitions("nothing here"), "");
});

test("many lines are split in linear time", () => {
  assert.equal(
    splitBlocks("word ".repeat(20) + "\n\n".repeat(1) + "- x\n".repeat(50_000)).length,
    2,
  );
});

test("neighbouring text blocks are merged with their source, code blocks are not", () => {
  const text = "one\n\n- two\n\nthree\n\n```\ncode\n```\n\nfour\n\nfive\n";
  const merged = mergeBlocks(text, splitBlocks(text), 5);
  assert.deepEqual(
    merged.map((block) => block.source),
    ["one\n\n- two\n\nthree", "code", "four", "five"],
  );
});

test("merged blocks have a maximum size", () => {
  const text = `${"word ".repeat(1000)}\n\n`.repeat(4);
  const blocks = splitBlocks(text);
  assert.equal(mergeBlocks(text, blocks, blocks.length).length, 4);
});
