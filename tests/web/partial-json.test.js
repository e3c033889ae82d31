// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { completeJson, parsePartialJson } from "../../web/state/partial-json.js";

const DOCUMENT = JSON.stringify({
  name: 'a "quoted" \\ line\n',
  list: [1, -2.5, 3e4, true, false, null, "x", {}, [], { deep: [[0]] }],
  é: "😀 \u2028",
  empty: {},
});

test("the value of every prefix agrees with the whole document", () => {
  const whole = JSON.parse(DOCUMENT);
  for (let end = 1; end <= DOCUMENT.length; end += 1) {
    const value = parsePartialJson(DOCUMENT.slice(0, end));
    assert.ok(isPrefixOf(value, whole), `prefix of ${end}: ${JSON.stringify(value)}`);
  }
  assert.deepEqual(parsePartialJson(DOCUMENT), whole);
});

/** @param {any} part @param {any} whole @returns {boolean} */
function isPrefixOf(part, whole) {
  if (typeof part === "string" && typeof whole === "string") return whole.startsWith(part);
  if (typeof part === "number" && typeof whole === "number") {
    return String(whole).startsWith(String(part)) || part === whole || whole / part >= 10;
  }
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item, index) => isPrefixOf(item, whole[index]));
  }
  if (typeof part === "object" && part !== null) {
    return Object.keys(part).every((key) => isPrefixOf(part[key], whole[key]));
  }
  return part === whole;
}

for (const [text, expected] of /** @type {[string, unknown][]} */ ([
  ["{", {}],
  ['{"a', {}],
  ['{"a":', {}],
  ['{"a":"b', { a: "b" }],
  ['{"a":"b\\', { a: "b" }],
  ['{"a":"b\\u00e', { a: "b" }],
  ['{"a":-', {}],
  ['{"a":1.', { a: 1 }],
  ['{"a":1e', { a: 1 }],
  ['{"a":1,"b":t', { a: 1, b: true }],
  ["[1,", [1]],
  ["[n", [null]],
  ['"open', "open"],
])) {
  test(`${text} is parsed as ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parsePartialJson(text), expected);
  });
}

for (const text of ["", "  ", "oops", "}{"]) {
  test(`${JSON.stringify(text)} has no value yet`, () => {
    assert.equal(parsePartialJson(text), undefined);
  });
}

test("a long argument is completed in linear time", () => {
  const long = `{"text":"${"word ".repeat(40_000)}`;
  assert.ok(completeJson(long).endsWith('"}'));
});
