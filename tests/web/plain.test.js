// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { pretty } from "../../web/text/format.js";
import { nameOf, seen, unseenCount } from "../../web/text/plain.js";
import { finishedSentences, NOTHING_SPOKEN } from "../../web/text/sentences.js";
import { PIECE, pieceEnd } from "../../web/text/slices.js";
import { isServerCommand } from "../../web/text/slash.js";
import { completeJson, parsePartialJson } from "../../web/state/partial-json.js";
import { HOSTILE } from "./hostile.js";

test("characters of direction, and those that are not seen, are taken out", () => {
  const hostile = "a\u202eb\u2066c\u2069d\u200be\u{e0041}f\u0000g\u061ch\ufeffi";
  assert.equal(seen(hostile), "abcdefghi");
  assert.equal(unseenCount(hostile), 8);
});

test("joiners of emoji and scripts, line ends and a few marks stay", () => {
  const text = "👩\u200d🎨 می\u200cخواهم e\u0301\n\tx";
  assert.equal(seen(text), text);
  assert.equal(unseenCount(text), 0);
});

test("marks that are piled onto a letter are dropped", () => {
  assert.equal(seen(`a${"\u0301".repeat(500)}b`), `a${"\u0301".repeat(4)}b`);
});

test("a name is one line of bounded length", () => {
  assert.equal(nameOf(" soft\n\nlight\u2028 "), "soft light");
  assert.equal(Array.from(nameOf("😀".repeat(10_000))).length, 120);
  assert.equal(nameOf(undefined), "");
});

for (const [name, make] of Object.entries(HOSTILE)) {
  test(`"${name}" as plain text is pieces that are laid out quickly, and nothing is lost`, () => {
    const text = make();
    let at = 0;
    while (at < text.length) {
      const end = pieceEnd(text, at);
      const piece = text.slice(at, end);
      assert.ok(piece.length > 0 && piece.length <= PIECE);
      assert.ok(piece.split("\n").length <= 61);
      assert.doesNotMatch(piece, /^[\udc00-\udfff]/);
      at = end;
    }
  });
}

test("JSON that is deep or long is cut", () => {
  /** @type {unknown} */
  let deep = 1;
  for (let level = 0; level < 50_000; level += 1) deep = [deep];
  assert.ok(pretty(deep).length < 20_000);
  const long = pretty({ a: "x".repeat(5_000_000), b: 1 });
  assert.ok(long.length <= 400_001);
  assert.ok(pretty(Array(1_000_000).fill(0)).length <= 400_001);
});

test("JSON within the limits is as JSON.stringify has it", () => {
  const value = { a: [1, "x\n", null, true, {}, []], "b c": { d: [[{ e: 1.5 }]] } };
  assert.equal(pretty(value), JSON.stringify(value, null, 2));
});

test("a text without an end is spoken in sentences of bounded length", () => {
  for (const text of ["a".repeat(50_000), ".".repeat(50_000), "word ".repeat(10_000), "\t".repeat(50_000)]) {
    const { sentences } = finishedSentences(text, NOTHING_SPOKEN, true);
    assert.ok(sentences.every((sentence) => sentence.length <= 600));
  }
});

test("a growing text without an end is not read again from its beginning", () => {
  const text = "word ".repeat(2000);
  let spoken = NOTHING_SPOKEN;
  for (let end = 50; end <= text.length; end += 50) {
    spoken = finishedSentences(text.slice(0, end), spoken, false);
    assert.ok(end - spoken.end <= 650, `${spoken.end} of ${end}`);
  }
});

test("arguments that nest deeply are completed, and long ones are not parsed while they stream", () => {
  assert.equal(completeJson("[".repeat(20_000)).length, 40_000);
  assert.equal(parsePartialJson(`{"a": "${"x".repeat(200_000)}`), undefined);
});

test("a long message of spaces is no command", () => {
  assert.equal(isServerCommand(`/help${" ".repeat(500_000)}\nx`), false);
  assert.equal(isServerCommand("  /help me \n"), true);
});
