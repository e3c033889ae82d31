// @ts-check
/** A toast above the composer: one sentence, with Undo after a deletion. Disappears by itself. */

import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { button, h, iconButton, present, show } from "./dom.js";

/** @typedef {import("../types.js").Toast} Toast */

/** @param {{undo: () => unknown, forget: () => unknown, close: () => unknown}} actions `forget`: what
 *   was learned from the deleted chat goes, too */
export function createToast(actions) {
  const card = h("div", { class: "ca-toast", role: "status", hidden: true });
  const element = h("div", { class: "ca-toast-place" }, card);
  /** @type {Toast | null} */
  let drawn = null;

  /** @param {Toast} toast what the chat left, and the button that takes it */
  const learned = (toast) => {
    const count = toast.kind === "deleted" ? (toast.learned ?? 0) : 0;
    if (!count) return [];
    const words = tn("chats.learned", count, { count: number(count) });
    const forget = button(tn("chats.learned.forget", count), "quiet", actions.forget, {
      class: "ca-link",
    });
    return [h("span", { class: "ca-toast__learned" }, words, " ", forget)];
  };

  return {
    element,
    /** @param {Toast | null} toast */
    update(toast) {
      if (toast === drawn) return;
      drawn = toast;
      show(card, toast !== null);
      if (!toast) return;
      card.replaceChildren(
        ...present([
          h("span", { class: "ca-grow" }, sentence(toast), ...learned(toast)),
          toast.kind !== "said" && button(t("chats.undo"), "primary", actions.undo),
          iconButton("close", t("toast.close"), {
            class: "ca-icon-button--small",
            onclick: actions.close,
          }),
        ]),
      );
    },
  };
}

/** @param {Toast} toast */
function sentence(toast) {
  if (toast.kind === "said" || toast.kind === "gone") return toast.text;
  if (toast.kind === "cleaned") {
    return tn("clean.done", toast.ids.length, { count: number(toast.ids.length) });
  }
  const title = nameOf(toast.chat.title) || t("chats.untitled");
  const { forgotten } = toast;
  if (!forgotten) return t("chats.deleted", { title });
  return tn("chats.deleted.all", forgotten, { title, count: number(forgotten) });
}
