// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { finalBlocks, joined, splitBlocks } from "../../web/text/blocks.js";
import { BUDGET, labelsIn } from "../../web/text/cost.js";
import { HOSTILE } from "./hostile.js";

/** @typedef {import("../../web/text/blocks.js").Block} Block */

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

/** @param {string} before @param {string} text @param {Block[]} blocks of `before` @returns {Block[]} */
function grown(before, text, blocks) {
  const kept = finalBlocks(before, blocks);
  const at = blocks[kept];
  return [...blocks.slice(0, kept), ...splitBlocks(text, at?.start ?? 0, at?.context ?? null)];
}

test("growing text is split into the same blocks as complete text", () => {
  /** @type {Block[]} */
  let blocks = [];
  for (let end = 1; end <= TEXT.length; end += 1) {
    blocks = grown(TEXT.slice(0, end - 1), TEXT.slice(0, end), blocks);
    assert.deepEqual(blocks, splitBlocks(TEXT.slice(0, end)), `at ${end}`);
  }
});

test("an open fence is a code block that is not closed", () => {
  const [block] = splitBlocks("```js title\nlet a");
  const { kind, start, source, language, closed } = block;
  assert.deepEqual([kind, start, source, language, closed], ["code", 0, "let a", "js", false]);
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

test("link definitions are found anywhere outside of code", () => {
  const text = "See [docs].\n\n[Docs  of]: https://x.org 'T'\n\n```\n[no]: x\n```\n";
  assert.deepEqual(
    splitBlocks(text).flatMap((block) => block.definitions),
    [["docs of", "[Docs  of]: https://x.org 'T'"]],
  );
  assert.deepEqual([...labelsIn("a [docs  Of] [x](y) [[z]")], ["docs of", "x", "z"]);
});

/** @param {string} text @returns {Block[]} as the panel joins them when a chat opens */
function merged(text) {
  /** @type {Block[]} */
  const found = [];
  for (const block of splitBlocks(text)) {
    const last = found.at(-1);
    const both = last && joined(last, block);
    if (both) found[found.length - 1] = both;
    else found.push(block);
  }
  return found;
}

test("neighbouring text blocks are joined with their source, code blocks are not", () => {
  const text = "one\n\n- two\n\nthree\n\n```\ncode\n```\n\nfour\n\nfive\n";
  assert.deepEqual(
    merged(text).map((block) => block.source),
    ["one\n\n- two\n\nthree", "code", "four\n\nfive"],
  );
});

test("joined blocks stay in the budget", () => {
  const blocks = merged(`${"word ".repeat(500)}\n\n`.repeat(4));
  assert.equal(blocks.length, 4);
  assert.ok(blocks.every((block) => block.cost <= BUDGET));
});

test("a long list is cut before an item, and its numbers go on", () => {
  const items = Array.from({ length: 200 }, (_item, at) => `1. item ${at}\n\n   more\n`);
  const parts = splitBlocks(items.join("\n"));
  assert.ok(parts.length > 1);
  let first = 1;
  for (const { source } of parts) {
    assert.ok(source.startsWith(`${first}. item`), source.slice(0, 20));
    first += source.match(/^\d+\. /gm)?.length ?? 0;
  }
  assert.equal(first, 201);
});

test("each part of a long table has its header", () => {
  const header = "| a | b |\n|---|:-:|";
  const parts = splitBlocks(`${header}\n${"| 1 | 2 |\n".repeat(1000)}`);
  assert.ok(parts.length > 5);
  assert.ok(parts.every(({ source }) => source.startsWith(header)));
  const rows = parts.reduce((sum, { source }) => sum + source.split("\n").length - 2, 0);
  assert.equal(rows, 1000);
});

test("the parts of long code are the code", () => {
  const code = Array.from({ length: 3000 }, (_line, at) => `line ${at}`).join("\n");
  const parts = splitBlocks(`Look:\n\n\`\`\`py\n${code}\n\`\`\`\nafter`);
  assert.equal(parts.at(-1)?.source, "after");
  const inside = parts.filter(({ kind }) => kind === "code");
  assert.equal(inside.map(({ source }) => source).join(""), code);
  assert.ok(inside.every(({ language, source }) => language === "py" && source.length < 4000));
});

test("code in a list item goes on as code", () => {
  const text = `1. a\n\n   \`\`\`py\n${"   x = 1\n".repeat(500)}   \`\`\`\n\n2. b`;
  const parts = splitBlocks(text);
  assert.ok(parts.length > 2);
  assert.ok(parts.slice(1, -1).every(({ source }) => source.startsWith("```py\nx = 1\n")));
  assert.match(parts.at(-1)?.source ?? "", /2\. b$/);
});

for (const [name, make] of Object.entries(HOSTILE)) {
  test(`no block of "${name}" is over the budget, and no text is lost`, () => {
    const text = make();
    const blocks = splitBlocks(text);
    let at = 0;
    for (const block of blocks) {
      const limit = block.kind === "code" ? 4000 : block.kind === "plain" ? 4000 : 8100;
      assert.ok(block.source.length <= limit, `${block.kind} of ${block.source.length}`);
      assert.ok(block.kind !== "text" || block.cost <= BUDGET);
      assert.ok(block.start >= at && text.slice(at, block.start).trim() === "", `at ${at}`);
      at = block.end;
    }
    assert.equal(text.slice(at).trim(), "");
  });

  test(`"${name}" that grows is split with work that is linear in its length`, () => {
    const whole = make().slice(0, 20_000);
    const step = 97;
    let read = 0;
    /** @type {Block[]} */
    let blocks = [];
    let before = "";
    for (let end = step; end < whole.length + step; end += step) {
      const text = whole.slice(0, end);
      const kept = finalBlocks(before, blocks);
      read += text.length - (blocks[kept]?.start ?? 0);
      blocks = grown(before, text, blocks);
      before = text;
    }
    assert.deepEqual(blocks, splitBlocks(whole));
    // Each step reads at most the last two blocks again; blank lines belong to no block.
    const steps = Math.ceil(whole.length / step);
    assert.ok(read <= steps * 2 * 4000 || /^(?:a|```)?\s{9}/.test(whole), `${read} of ${whole.length}`);
  });
}

test("random Markdown that grows is split into the same blocks as complete text", () => {
  const random = numbers(7);
  const pieces = ["- a\n", "1. b\n", "   c\n", "\n", "\n\n", "```\n", "  ```\n", "word ", "[a](", "**", "> ",
    "| a | b |\n", "|---|---|\n", "x".repeat(700), "*".repeat(200), "[x]".repeat(120), "\t", "[l]: u\n", "😀"];
  for (let round = 0; round < 300; round += 1) {
    /** @type {Block[]} */
    let blocks = [];
    let text = "";
    for (let count = 0; count < 60; count += 1) {
      const before = text;
      text += pieces[random(pieces.length)];
      blocks = grown(before, text, blocks);
    }
    assert.deepEqual(blocks, splitBlocks(text), JSON.stringify(text));
  }
});

/** A random number generator with a seed, so that all runs are equal. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
