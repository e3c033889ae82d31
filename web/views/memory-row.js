// @ts-check
/** A memory in the list: its text, where it comes from, what it replaced, and editing in its place. */

import { t, tn } from "../strings.js";
import { dateTime, number } from "../text/format.js";
import { factsOf, OWN_KINDS, shownText, sourceText } from "../text/memory.js";
import { nameOf } from "../text/plain.js";
import { h, icon, iconButton, present, setText, show } from "./dom.js";
import { createEditBox } from "./edit-box.js";

/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").MemoryKind} MemoryKind */

/**
 * @typedef {object} MemoryActions
 * @property {(id: string, messageId: string) => unknown} openMessage
 * @property {(id: string) => unknown} openChat
 * @property {(memory: Memory, changes: {text?: string, kind?: MemoryKind, pinned?: boolean}) =>
 *   Promise<boolean>} changeMemory
 * @property {(memory: Memory) => unknown} forget
 * @property {(button: HTMLElement, items: import("./menu.js").MenuItem[]) => void} menu
 */

/** Most characters of a memory; the server has the same limit. */
const MOST = 1000;
/** Most characters of a memory in the name of its menu. */
const NAMED = 60;

/** @param {MemoryActions} actions */
export function createMemoryRow(actions) {
  const text = h("p", { class: "ca-memory__text", dir: "auto" });
  const facts = h("p", { class: "ca-quiet ca-memory__facts" });
  const history = h("details", { class: "ca-memory__history", hidden: true });
  const options = iconButton("more", "", {
    class: "ca-icon-button--small",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    onclick: () => actions.menu(options, items()),
  });
  const shown = h(
    "div",
    { class: "ca-memory__shown" },
    h("div", { class: "ca-memory__words" }, text, facts, history),
    options,
  );
  const element = h("li", { class: "ca-memory", tabindex: "-1" }, shown);
  /** @type {Memory | null} */
  let memory = null;
  let drawn = "";

  const items = () => {
    const given = memory;
    if (!given) return [];
    const summary = given.kind === "session_summary";
    return [
      ...(summary ? [] : [{ label: t("memory.change"), run: edit }]),
      {
        label: t(given.pinned ? "memory.unpin" : "memory.pin"),
        run: () => void actions.changeMemory(given, { pinned: !given.pinned }),
      },
      { label: t("memory.delete"), run: () => actions.forget(given), danger: true },
    ];
  };

  const edit = () => {
    const given = memory;
    if (!given) return;
    const kind = h(
      "select",
      { class: "ca-select", "aria-label": t("memory.edit.kind") },
      ...OWN_KINDS.map((one) =>
        h("option", { value: one, selected: one === given.kind }, t(`memory.one.${one}`)),
      ),
    );
    const box = createEditBox({
      label: t("memory.edit"),
      value: given.text,
      most: MOST,
      beside: kind,
      async save(words) {
        const other = /** @type {MemoryKind} */ (kind.value);
        const changes = {
          ...(words === given.text ? {} : { text: words }),
          ...(other === given.kind ? {} : { kind: other }),
        };
        return Object.keys(changes).length ? actions.changeMemory(given, changes) : true;
      },
      end() {
        if (!box.element.isConnected) return;
        box.element.replaceWith(shown);
        options.focus();
      },
    });
    shown.replaceWith(box.element);
    box.focus();
  };

  return {
    element,
    options,
    unfold: () => (history.open = true),
    /**
     * @param {Memory} next
     * @param {{replaced: readonly Memory[], showsKind: boolean}} place
     */
    update(next, { replaced, showsKind }) {
      memory = next;
      const state = JSON.stringify([next, replaced, showsKind]);
      if (state === drawn) return;
      drawn = state;
      setText(text, shownText(next.text));
      const label = t("memory.options", { text: nameOf(next.text, NAMED) });
      options.setAttribute("aria-label", label);
      options.title = label;
      facts.replaceChildren(...factLine(next, showsKind, actions));
      facts.title = dateTime(next.created);
      show(history, replaced.length > 0);
      const words = tn("memory.replaces", replaced.length, { count: number(replaced.length) });
      history.replaceChildren(
        h("summary", {}, words),
        h("ul", {}, ...replaced.map((one) => oldRow(one, actions))),
      );
    },
  };
}

/** @param {Memory} memory @param {boolean} showsKind @param {MemoryActions} actions */
function factLine(memory, showsKind, actions) {
  const { source, kind, pinned } = memory;
  const words = sourceText(memory);
  const from = source
    ? h(
        "button",
        {
          type: "button",
          class: "ca-link ca-memory__source",
          title: t("memory.source.open"),
          onclick: () =>
            source.message_id
              ? actions.openMessage(source.chat_id, source.message_id)
              : actions.openChat(source.chat_id),
        },
        words,
      )
    : h("span", {}, words);
  const line = [showsKind && h("span", {}, t(`memory.one.${kind}`)), from].filter(Boolean);
  return present([
    pinned && h("span", { class: "ca-memory__pin" }, icon("pin"), t("memory.pinned")),
    .../** @type {HTMLElement[]} */ (line),
    ...factsOf(memory, new Date()).map((fact) => h("span", {}, fact)),
  ]);
}

/** @param {Memory} memory that another one replaced @param {Pick<MemoryActions, "forget">} actions */
export const oldRow = (memory, { forget }) =>
  h(
    "li",
    { class: "ca-memory__old", dir: "auto" },
    h("span", {}, shownText(memory.text)),
    iconButton("close", `${t("memory.delete")}: ${nameOf(memory.text, NAMED)}`, {
      class: "ca-icon-button--tiny",
      onclick: () => forget(memory),
    }),
  );
