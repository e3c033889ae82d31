// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { closed } from "../../web/text/unfinished.js";

test("a mark that is still open is closed, and one that just begins is left out", () => {
  const shown = {
    "Lower **cf": "Lower **cf**",
    "Lower **cfg ": "Lower **cfg**",
    "Lower **": "Lower ",
    "Lower **cfg*": "Lower **cfg**",
    "Lower **cfg** to `4": "Lower **cfg** to `4`",
    "Lower `": "Lower ",
    "**a `b**": "**a `b**`**",
    "see [the notes](https://exam": "see the notes",
    "one\n**two": "one\n**two**",
    "2 * 3 and `a * b`": "2 * 3 and `a * b`",
    "a *": "a ",
    "plain": "plain",
    "": "",
  };
  for (const [source, text] of Object.entries(shown)) assert.equal(closed(source), text);
});

test("no beginning of a text in bold shows its asterisks", () => {
  const text = "Use **two words** and `code` or [a link](https://example.org/x) here.";
  for (let end = 0; end <= text.length; end += 1) {
    const marks = closed(text.slice(0, end)).split("**").length - 1;
    assert.equal(marks % 2, 0, text.slice(0, end));
  }
});
