// @ts-check
/** The page "Share for help": the file as it would be saved, to read before it is saved. */

import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { button, h, setText, show } from "./dom.js";
import { createDrawing } from "./drawing.js";
import { createLongText } from "./long-text.js";

/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {object} ShareActions
 * @property {(wanted: boolean) => unknown} shareWorkflow
 * @property {() => unknown} saveShared
 */

/** @param {ShareActions} actions */
export function createSharePage(actions) {
  const draw = createDrawing((change) => change());
  const tick = h("input", {
    type: "checkbox",
    onchange: () => actions.shareWorkflow(tick.checked),
  });
  const name = h("span");
  const choice = h("label", { class: "ca-share__choice" }, tick, name);
  const said = h("p", { class: "ca-quiet", role: "status" });
  const save = button(t("share.save"), "primary", () => actions.saveShared());
  const preview = h("div", {
    class: "ca-share__file",
    role: "region",
    tabindex: "0",
    "aria-label": t("share.preview"),
  });
  const element = h(
    "div",
    { class: "ca-page ca-share" },
    h("p", { class: "ca-quiet" }, t("share.intro")),
    choice,
    said,
    preview,
    h("div", { class: "ca-actions" }, save),
  );
  /** @type {PanelState["share"]} */
  let drawn = null;

  return {
    element,
    open() {},
    /** @param {PanelState} state */
    update({ share, workflow }) {
      const open = nameOf(workflow?.name ?? "") || t("empty.unnamed");
      show(choice, workflow !== null && workflow.nodes > 0);
      setText(name, t("share.workflow", { name: open }));
      if (!share || share === drawn) return;
      drawn = share;
      tick.checked = share.withWorkflow;
      save.disabled = share.file === null;
      setText(said, share.failed || (share.file ? takenOut(share.file) : t("share.making")));
      const text = h("pre", {});
      preview.replaceChildren(text);
      show(preview, share.file !== null);
      if (share.file) createLongText(draw, text).update(share.file.content);
    },
  };
}

/** @param {import("../types.js").SharedFile} file */
function takenOut({ taken_out: { keys, paths, names } }) {
  if (keys + paths + names === 0) return t("share.clean");
  const counts = [
    keys > 0 && tn("share.keys", keys, { count: number(keys) }),
    paths > 0 && tn("share.paths", paths, { count: number(paths) }),
    names > 0 && tn("share.names", names, { count: number(names) }),
  ];
  return t("share.taken", { things: counts.filter(Boolean).join(", ") });
}
