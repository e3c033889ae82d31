// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { countRows, readDiff } from "../../web/text/workflow-diff.js";

/** @param {string} line @returns {any} the row of a diff with this line alone */
const row = (line) => readDiff(`from 1a2b3c4d to 5e6f7a8b:\n${line}`)[0];
/** @param {string} change @returns {any} */
const change = (change) => row(`~ 3 KSampler: ${change}`).changes[0];

test("nodes that came and went are named by id and type", () => {
  const rows = readDiff(
    "from 1a2b3c4d to 5e6f7a8b:\n" +
      "- 7 EmptyLatentImage\n" +
      "+ 12 LoraLoaderModelOnly lora_name=detail.safetensors model<-4.MODEL\n" +
      '+ 13 subgraph "Upscale twice" model<-4.MODEL',
  );
  assert.deepEqual(
    rows.map(({ mark, node }) => [mark, node?.id, node?.kind]),
    [
      ["removed", "7", "EmptyLatentImage"],
      ["added", "12", "LoraLoaderModelOnly"],
      ["added", "13", "Upscale twice"],
    ],
  );
});

test("a changed node has its values, links and mode", () => {
  const { node, changes, text } = row(
    "~ 3 KSampler: steps=20 -> 30; model<-4.MODEL -> 12; now bypassed, was run",
  );
  assert.deepEqual(node, { id: "3", kind: "KSampler", inside: "" });
  assert.deepEqual(changes, [
    { of: "value", name: "steps", before: "20", after: "30" },
    { of: "link", name: "model", before: "4.MODEL", after: "12" },
    { of: "mode", name: "", before: "run", after: "bypassed" },
  ]);
  assert.equal(text, "");
});

test("signs inside of a text are part of the text", () => {
  assert.deepEqual(change('text="a -> b; c=\\"d\\": e" -> "f<-g"'), {
    of: "value",
    name: "text",
    before: 'a -> b; c="d": e',
    after: "f<-g",
  });
});

test("links that are made and cut, and values that come and go", () => {
  assert.deepEqual(change("mask<-8.MASK, was not linked"), {
    of: "link",
    name: "mask",
    before: null,
    after: "8.MASK",
  });
  assert.deepEqual(change("mask no more <-8.MASK").after, null);
  assert.deepEqual(change('new "two words"=7'), {
    of: "value",
    name: "two words",
    before: null,
    after: "7",
  });
  assert.deepEqual(change("no more width").after, null);
  assert.deepEqual(change('title none -> "First pass"').after, "First pass");
  assert.deepEqual(change("was KSamplerAdvanced").of, "type");
});

test("of a long text the changed part is shown", () => {
  const found = change('text from character 30: "a red fox" -> "a blue fox"');
  assert.deepEqual([found.before, found.after], ["…a red fox…", "…a blue fox…"]);
  assert.equal(change(`text="${"a".repeat(9)}"…+400 -> b`).before, "aaaaaaaaa…");
});

test("a node of a subgraph is known by the subgraph's name", () => {
  const rows = readDiff(
    'from 1a2b3c4d to 5e6f7a8b:\nin subgraph "Upscale":\n  ~ 12 LatentUpscaleBy: scale_by=2 -> 4\n' +
      "  ~ out LATENT<-12 -> 13",
  );
  assert.deepEqual(rows[0].node, { id: "12", kind: "LatentUpscaleBy", inside: "Upscale" });
  assert.deepEqual(rows[1], {
    mark: "other",
    node: null,
    changes: [],
    text: "out LATENT<-12 -> 13",
  });
});

test("a line of another form is shown as it is", () => {
  assert.deepEqual(row("Nothing has changed since 1a2b3c4d.").text, "Nothing has changed since 1a2b3c4d.");
  assert.equal(row("~ 3 KSampler: something new").text, "something new");
});

test("what changed is counted by kind", () => {
  const rows = readDiff(
    "from 1a2b3c4d to 5e6f7a8b:\n- 7 A\n+ 8 B\n+ 9 C\n~ 3 K: steps=2 -> 3; cfg=1 -> 2; model<-4 -> 8; now muted, was run",
  );
  assert.deepEqual(countRows(rows), { added: 2, removed: 1, values: 2, links: 1, others: 1 });
});
