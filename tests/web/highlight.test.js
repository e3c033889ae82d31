// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { highlight } from "../../web/text/highlight.js";

/** @param {string} code @param {string} language @param {string} [open] */
const coloured = (code, language, open) =>
  highlight(code, language, open)
    .runs.filter(({ kind }) => kind)
    .map(({ kind, text }) => `${kind}: ${text}`);

test("comments, strings, numbers and keywords are told apart", () => {
  assert.deepEqual(coloured('def go(seed=7):  # first\n    return "a # b"', "python"), [
    "word: def",
    "number: 7",
    "comment: # first",
    "word: return",
    'string: "a # b"',
  ]);
  assert.deepEqual(coloured("const x = `a\n${b}`; /* no */ // yes", "ts"), [
    "word: const",
    "string: `a\n${b}`",
    "comment: /* no */",
    "comment: // yes",
  ]);
  assert.deepEqual(coloured('{"cfg": 4.5, "on": true, "s": "x"}', "json"), [
    'name: "cfg"',
    "number: 4.5",
    'name: "on"',
    "word: true",
    'name: "s"',
    'string: "x"',
  ]);
  assert.deepEqual(coloured("steps: 20 # few\n- name: a", "yaml"), [
    "name: steps",
    "number: 20",
    "comment: # few",
    "name: name",
  ]);
  assert.deepEqual(coloured('<a href="x"><!-- no --></a>', "html"), [
    "name: <a",
    "name: href",
    'string: "x"',
    "name: >",
    "comment: <!-- no -->",
    "name: </a",
    "name: >",
  ]);
});

test("a string of several lines goes on in the next part", () => {
  const first = highlight('x = """one\n', "python");
  assert.equal(first.open, '"""');
  const second = highlight('two""" + 1', "python", first.open);
  assert.deepEqual(second.runs, [
    { kind: "string", text: 'two"""' },
    { kind: "", text: " + " },
    { kind: "number", text: "1" },
  ]);
  assert.equal(second.open, "");
});

test("an unknown language and plain text are not coloured", () => {
  for (const language of ["", "text", "prompt", "constructor"]) {
    assert.deepEqual(highlight("for 7 in it", language), {
      runs: [{ kind: "", text: "for 7 in it" }],
      open: "",
    });
  }
});

test("the runs are the code, whatever it is, and few of them are coloured", () => {
  const hostile = ['"\\', "'''", "/*", "<!--", "#", "1 ", "a.1e", "`", "-- ", "\n", "=", "é", "<a "];
  for (const unit of hostile) {
    for (const language of ["python", "js", "sh", "json", "html", "sql"]) {
      const code = unit.repeat(1000);
      const { runs } = highlight(code, language);
      assert.equal(runs.map(({ text }) => text).join(""), code);
      assert.ok(runs.filter(({ kind }) => kind).length <= 400);
      assert.ok(runs.every(({ text }) => text));
    }
  }
});
