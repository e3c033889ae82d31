// @ts-check
/** The files attached to the next message: added by dialog, paste or drop, listed, and removed. */

import { h, setText, show } from "./dom.js";
import { fileChip } from "./file-parts.js";

/** @typedef {import("../types.js").Attached} Attached */
/** @typedef {import("../types.js").Attachment} Attachment */

/** File types that the file dialog shows. */
const ACCEPT =
  "image/png,image/jpeg,image/webp,image/gif,text/*,.json,.md,.yaml,.yml,.toml,.csv,.log,.py";

/**
 * @param {() => import("../state/attached.js").AttachedFiles} attached of the open chat
 * @param {() => {tokens: number, model: string} | null} windowOf the model's window
 */
export function createAttachments(attached, windowOf) {
  /** @type {Attached | null} */
  let drawn = null;
  const row = h("div", { class: "ca-files", hidden: true });
  const problem = h("p", { class: "ca-problem", role: "alert", hidden: true });
  const input = h("input", {
    type: "file",
    class: "ca-offscreen",
    multiple: true,
    accept: ACCEPT,
    tabindex: "-1",
    "aria-hidden": "true",
    onchange: () => {
      add([...(input.files ?? [])]);
      input.value = "";
    },
  });
  const element = h("div", { class: "ca-attachments" }, row, problem, input);

  /** @param {File[]} chosen */
  const add = (chosen) => attached().add(chosen, windowOf());

  /** @param {Attachment} file */
  const chip = (file) =>
    fileChip(file, () => {
      const files = attached();
      files.set(files.get().files.filter((each) => each !== file));
    });

  return {
    element,
    add,
    choose: () => input.click(),
    /** @param {Attached} next */
    update(next) {
      if (next.files !== drawn?.files) row.replaceChildren(...next.files.map(chip));
      show(row, next.files.length > 0);
      setText(problem, next.problem);
      show(problem, next.problem !== "");
      drawn = next;
    },
  };
}
