// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { isSource, sourceOf } from "../../web/text/sources.js";

const PAGE = "http://127.0.0.1:8188/";

/** @param {Record<string, unknown>} fields */
const shown = (fields) =>
  sourceOf(/** @type {any} */ ({ type: "source-url", sourceId: "s", ...fields }), PAGE);

test("a source is shown with its title and the host that it leads to", () => {
  const source = shown({ url: "https://docs.example/a?b=1", title: "The guide" });
  assert.deepEqual(source, {
    title: "The guide",
    host: "docs.example",
    url: "https://docs.example/a?b=1",
  });
});

test("a source without a title is shown with its address", () => {
  const source = shown({ url: "https://docs.example/a", title: " \u202e" });
  assert.deepEqual([source.title, source.host], ["docs.example/a", ""]);
});

for (const url of [
  "javascript:alert(1)",
  "data:text/html,x",
  "mailto:a@b.example",
  "http://127.0.0.1:8188/api/queue",
  "http://localhost:8188/x",
  "//evil.example/x",
  "",
  undefined,
]) {
  test(`${JSON.stringify(url)} of a source is no link`, () =>
    assert.equal(shown({ url, title: "A" }).url, null));
}

test("neither a name before the host nor letters of another script hide the host", () => {
  assert.equal(shown({ url: "https://bank.example@evil.example/", title: "A" }).host, "evil.example");
  assert.match(shown({ url: "https://b\u0430nk.example/", title: "A" }).host, /^xn--/);
});

test("a title is one line, short, and turns no text around", () => {
  const { title } = shown({ url: "https://a.example", title: `A\n\u202eb${"x".repeat(500)}` });
  assert.ok(title.startsWith("A bx") && title.length <= 120 && title.endsWith("…"));
  assert.equal(sourceOf(/** @type {any} */ ({ title: { a: 1 } }), PAGE).url, null);
});

test("parts that are no sources are not listed as such", () => {
  assert.equal(isSource({ type: "text", text: "x" }), false);
  assert.equal(isSource({ type: "source-document", sourceId: "s" }), true);
});
