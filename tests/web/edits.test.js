// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { editOf, hasEdits, isEdit, kindsOf } from "../../web/state/edits.js";

/** @param {unknown} output @param {Record<string, unknown>} [more] @returns {any} */
const edit = (output, more) => ({
  type: "dynamic-tool",
  toolName: "editWorkflow",
  toolCallId: "e",
  state: "output-available",
  input: {},
  output,
  ...more,
});

test("an edit has its diff, its new problems and how many copies changed", () => {
  const problem = { node: "9", input: "", message: "Nothing is saved.", fix: { text: "Run it." } };
  const found = editOf(edit({ diff: "from", problems: [problem, "Other", 7], instances: 2 }));
  assert.deepEqual(found, {
    of: "edit",
    diff: "from",
    problems: [
      { node: "9", message: "Nothing is saved.", fix: "Run it." },
      { node: "", message: "Other", fix: "" },
    ],
    instances: 2,
    name: "",
  });
});

test("a result as text is read as JSON, or shown as it is", () => {
  assert.equal(editOf(edit('{"diff": "from"}')).diff, "from");
  assert.equal(editOf(edit("from 1 to 2")).diff, "from 1 to 2");
  assert.equal(editOf(edit(null)).diff, "");
});

test("a call that failed, still runs or only reads is no edit", () => {
  assert.equal(isEdit(edit({}, { state: "output-error" })), false);
  assert.equal(isEdit(edit({}, { state: "input-available" })), false);
  assert.equal(isEdit(edit({}, { toolName: "getWorkflowInfo" })), false);
});

test("an edit that found all as it wanted it has nothing to show and nothing to take back", () => {
  const same = edit({ diff: "Nothing has changed since 5dd20ba7.", problems: [] });
  assert.equal(editOf(same).diff, "");
  assert.equal(hasEdits([same]), false);
  assert.equal(hasEdits([same, edit({ diff: "from 1 to 2" })]), true);
});

test("what was opened or taken back by the model is no change to take back", () => {
  assert.equal(hasEdits([edit({}, { toolName: "openWorkflow" })]), false);
  assert.equal(hasEdits([edit({}, { toolName: "undoEdits" })]), false);
  assert.equal(hasEdits([{ type: "text", text: "Done" }, edit({})]), true);
});

test("the types of the nodes that an answer's edits name are known by their ids", () => {
  const first = edit({ diff: "from 1a2b3c4d to 5e6f7a8b:\n~ 3 KSampler: steps=8 -> 12\n+ 9 VAEDecode" });
  const inside =
    'from 5e6f7a8b to 1a2b3c4d:\nin subgraph "Upscale":\n  ~ 12 LatentUpscaleBy: scale_by=2 -> 4';
  const kinds = kindsOf([first, { type: "text", text: "3" }, edit({ diff: inside })]);
  assert.deepEqual([...kinds], [["3", "KSampler"], ["9", "VAEDecode"]]);
});
