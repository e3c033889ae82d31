// @ts-check
/** The files attached to the next message: added by dialog, paste or drop, listed, and removed. */

import { readAttachment } from "../services/files.js";
import { t } from "../strings.js";
import { refusal, tooLong } from "../text/attachment.js";
import { h, show } from "./dom.js";
import { fileChip } from "./file-parts.js";

/** @typedef {import("../types.js").Attachment} Attachment */

/** File types that the file dialog shows. */
const ACCEPT =
  "image/png,image/jpeg,image/webp,image/gif,text/*,.json,.md,.yaml,.yml,.toml,.csv,.log,.py";

/**
 * @param {() => void} onChange
 * @param {() => {tokens: number, model: string} | null} windowOf the model's window
 */
export function createAttachments(onChange, windowOf) {
  /** @type {Attachment[]} */
  let files = [];
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
      void add([...(input.files ?? [])]);
      input.value = "";
    },
  });
  const element = h("div", { class: "ca-attachments" }, row, problem, input);

  /** @param {string} text */
  const complain = (text) => {
    problem.textContent = text;
    show(problem, text !== "");
  };

  const draw = () => {
    row.replaceChildren(...files.map(chip));
    show(row, files.length > 0);
    onChange();
  };

  /** @param {Attachment} file */
  const chip = (file) =>
    fileChip(file, () => {
      files = files.filter((each) => each !== file);
      complain("");
      draw();
    });

  /** @param {File[]} chosen */
  const add = async (chosen) => {
    complain("");
    for (const file of chosen) {
      const no = refusal(file, files);
      if (no) {
        complain(no);
        continue;
      }
      try {
        const read = await readAttachment(file);
        const long = tooLong(read, files, windowOf());
        if (long) complain(long);
        else files = [...files, read];
      } catch {
        complain(t("attach.unreadable", { name: file.name }));
      }
    }
    draw();
  };

  return {
    element,
    add,
    choose: () => input.click(),
    get: () => files,
    /** @param {readonly Attachment[]} next */
    set(next) {
      files = [...next];
      complain("");
      draw();
    },
  };
}
