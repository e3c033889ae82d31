// @ts-check
/** A toast above the composer: one sentence, with Undo after a deletion. Disappears by itself. */

import { t } from "../strings.js";
import { nameOf } from "../text/plain.js";
import { button, h, iconButton, present, show } from "./dom.js";

/** @typedef {import("../types.js").Toast} Toast */

/** @param {{undo: () => unknown, close: () => unknown}} actions */
export function createToast(actions) {
  const card = h("div", { class: "ca-toast", role: "status", hidden: true });
  const element = h("div", { class: "ca-toast-place" }, card);
  /** @type {Toast | null} */
  let drawn = null;
  return {
    element,
    /** @param {Toast | null} toast */
    update(toast) {
      if (toast === drawn) return;
      drawn = toast;
      show(card, toast !== null);
      if (!toast) return;
      const deleted = toast.kind === "deleted";
      const title = deleted ? nameOf(toast.chat.title) || t("chats.untitled") : "";
      card.replaceChildren(
        ...present([
          h("span", { class: "ca-grow" }, deleted ? t("chats.deleted", { title }) : toast.text),
          deleted && button(t("chats.undo"), "primary", actions.undo),
          iconButton("close", t("toast.close"), {
            class: "ca-icon-button--small",
            onclick: actions.close,
          }),
        ]),
      );
    },
  };
}
