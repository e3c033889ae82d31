// @ts-check
/**
 * Below an answer: what was remembered of it, each with *Undo*, and quietly how many memories it was
 * given, which unfolds to their words.
 */

import { t, tn } from "../strings.js";
import { number } from "../text/format.js";
import { shownText } from "../text/memory.js";
import { nameOf } from "../text/plain.js";
import { button, h, icon, present, setText, show } from "./dom.js";

/** @typedef {import("../state/kept.js").AnswerMemories} AnswerMemories */

/**
 * @typedef {object} NoteActions
 * @property {(memory: {id: string, text: string}) => unknown} forget
 * @property {(ids: readonly string[]) => unknown} lookUp
 * @property {(id: string) => unknown} showMemory opens the page Memory there
 * @property {() => unknown} openMemory opens the page Memory
 * @property {() => unknown} memoryTold
 */

/** Most characters of a memory in the name of a button. */
const NAMED = 60;

/** @param {NoteActions} actions */
export function createMemoryNotes(actions) {
  const cards = h("div", { class: "ca-kept-list" });
  const count = h("summary", {});
  const list = h("ul", {});
  const used = h(
    "details",
    { class: "ca-used", hidden: true, ontoggle: () => used.open && actions.lookUp(ids) },
    count,
    list,
  );
  const element = h("div", { class: "ca-memory-notes", hidden: true }, cards, used);
  /** @type {readonly string[]} */
  let ids = [];
  let drawn = "null";

  return {
    element,
    /** @param {AnswerMemories | null} memories */
    update(memories) {
      const state = JSON.stringify(memories);
      if (state === drawn) return;
      drawn = state;
      show(element, memories !== null);
      if (!memories) return;
      const { kept, told } = memories;
      cards.replaceChildren(
        ...present([
          kept.length > 0 &&
            keptCard(kept, actions, told || kept.every(({ is }) => is === "gone")),
        ]),
      );
      ids = memories.used.map(({ id }) => id);
      show(used, ids.length > 0);
      setText(count, tn("memory.given", ids.length, { count: number(ids.length) }));
      list.replaceChildren(...memories.used.map((one) => usedRow(one, actions)));
    },
  };
}

/**
 * A card of what was remembered.
 * @param {AnswerMemories["kept"]} kept
 * @param {NoteActions} actions
 * @param {boolean} told whether the user knows what is kept and where
 */
function keptCard(kept, actions, told) {
  return h(
    "section",
    { class: "ca-card ca-kept", "aria-label": t("memory.kept.title") },
    ...kept.map((one) => keptRow(one, actions)),
    !told &&
      h(
        "div",
        { class: "ca-kept__first" },
        h("p", { class: "ca-quiet" }, t("memory.first")),
        h(
          "div",
          { class: "ca-kept__buttons" },
          button(t("memory.understood"), "plain", actions.memoryTold, {
            class: "ca-button ca-button--plain ca-button--small",
          }),
          h(
            "button",
            { type: "button", class: "ca-link", onclick: actions.openMemory },
            t("memory.see"),
          ),
        ),
      ),
  );
}

/** @param {AnswerMemories["kept"][number]} kept @param {Pick<NoteActions, "forget">} actions */
function keptRow({ id, text, is }, { forget }) {
  return h(
    "div",
    { class: `ca-kept__row ca-kept__row--${is}` },
    icon(is === "kept" ? "book" : "minus"),
    h(
      "div",
      { class: "ca-kept__words" },
      h("span", { class: "ca-quiet" }, t(TITLES[is])),
      h("span", { class: "ca-kept__text", dir: "auto" }, shownText(text)),
    ),
    is === "kept" &&
      button(t("memory.undo"), "plain", () => forget({ id, text }), {
        class: "ca-button ca-button--plain ca-button--small",
        "aria-label": t("memory.undo.label", { text: nameOf(text, NAMED) }),
      }),
  );
}

const TITLES = /** @type {const} */ ({
  kept: "memory.kept.title",
  replaced: "memory.kept.replaced",
  gone: "memory.kept.gone",
});

/** @param {AnswerMemories["used"][number]} memory @param {Pick<NoteActions, "showMemory">} actions */
function usedRow({ id, text }, { showMemory }) {
  if (text === null) return h("li", { class: "ca-quiet" }, t("panel.loading"));
  if (text === "") return h("li", { class: "ca-quiet" }, t("memory.given.gone"));
  const label = t("memory.given.open", { text: nameOf(text, NAMED) });
  return h(
    "li",
    {},
    h(
      "button",
      {
        type: "button",
        class: "ca-used__one",
        title: label,
        onclick: () => showMemory(id),
      },
      h("span", { dir: "auto" }, shownText(text)),
    ),
  );
}
