// @ts-check
/** The chats page: search, pinned chats, then the other chats by day. */

import { t } from "../strings.js";
import { groups } from "../text/chat-list.js";
import { createChatRow } from "./chat-row.js";
import { createCleanUp } from "./clean-up.js";
import { h, icon, iconButton, place, show } from "./dom.js";
import { isComposing } from "./isolation.js";
import { createMenu } from "./menu.js";
import { createSearchResults } from "./search-results.js";

/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {Omit<import("./chat-row.js").RowActions, "menu"> & {
 *   openMessage: (id: string, messageId: string) => unknown,
 *   search: (typed: string) => void,
 *   more: () => unknown,
 *   importFile: (file: File) => unknown,
 *   cleanUp: import("./clean-up.js").CleanUpActions,
 * }} ChatsActions
 */

/** @param {ChatsActions} actions */
export function createChatsPage(actions) {
  const menu = createMenu();
  const field = h("input", {
    class: "ca-search__field",
    type: "search",
    "aria-label": t("chats.search"),
    placeholder: t("chats.search"),
    oninput: () => type(),
  });
  const clear = iconButton("close", t("chats.search.clear"), {
    class: "ca-icon-button--tiny",
    hidden: true,
    onclick: () => {
      field.value = "";
      type();
      field.focus();
    },
  });
  const file = h("input", {
    type: "file",
    class: "ca-offscreen",
    accept: ".json,.jsonl,.md",
    tabindex: "-1",
    "aria-hidden": "true",
    onchange: () => {
      const [chosen] = file.files ?? [];
      if (chosen) actions.importFile(chosen);
      file.value = "";
    },
  });
  const options = iconButton("more", t("chats.more.options"), {
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    onclick: () =>
      menu.toggle(options, [
        { label: t("chats.import"), run: () => file.click() },
        { label: t("clean.open"), run: () => cleanUp.open(options) },
      ]),
  });
  const bar = h(
    "div",
    { class: "ca-search", role: "search" },
    h("div", { class: "ca-search__box" }, icon("search"), field, clear),
    options,
    file,
  );
  const results = createSearchResults(actions.openMessage, () => field.focus());
  const cleanUp = createCleanUp(actions.cleanUp);
  const list = h("div", { class: "ca-list" });
  const said = h("p", { class: "ca-quiet" });
  const more = h(
    "button",
    { type: "button", class: "ca-link", hidden: true, onclick: actions.more },
    t("chats.more"),
  );
  const scroller = h(
    "div",
    { class: "ca-page ca-page--chats" },
    cleanUp.element,
    ...[results.element, list, said, more],
  );
  const element = h("div", { class: "ca-chats" }, bar, scroller, menu.element);
  /** @type {Map<string, ReturnType<typeof createChatRow>>} by the chat's id */
  const rows = new Map();
  /** @type {Map<string, HTMLElement>} by the group's name */
  const captions = new Map();
  /** @type {PanelState | null} */
  let drawn = null;

  const type = () => {
    show(clear, field.value !== "");
    actions.search(field.value);
  };

  field.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "ArrowDown" && results.focus()) event.preventDefault();
    if (event.key !== "Escape" || !field.value) return;
    // The first Escape ends the search, the second one closes the page.
    event.stopPropagation();
    event.preventDefault();
    field.value = "";
    type();
  });

  /** Deletes a chat; the focus moves to the next or previous chat. @param {string} id */
  const remove = (id) => {
    const element = rows.get(id)?.element;
    const others = [...list.querySelectorAll(".ca-entry")];
    const at = others.findIndex((other) => other === element);
    const next = others[at + 1] ?? others[at - 1];
    /** @type {HTMLElement} */ (next?.querySelector("button") ?? field).focus();
    actions.remove(id);
  };

  /** @param {string} id */
  const rowOf = (id) => {
    const row = rows.get(id) ?? createChatRow(id, { ...actions, remove, menu: menu.toggle });
    rows.set(id, row);
    return row;
  };

  /** @param {string} name */
  const captionOf = (name) => {
    const caption = captions.get(name) ?? h("h3", { class: "ca-caption" }, name);
    captions.set(name, caption);
    return caption;
  };

  /** @param {PanelState} state */
  const drawList = (state) => {
    const current = state.chat.id;
    const shown = groups(state.chats ?? [], new Date()).flatMap(({ name, dated, chats }) => [
      captionOf(name),
      ...chats.map((chat) => {
        const row = rowOf(chat.id);
        row.update(chat, { current: chat.id === current, dated });
        return row.element;
      }),
    ]);
    place(list, shown);
    const ids = new Set((state.chats ?? []).map((chat) => chat.id));
    for (const id of [...rows.keys()]) if (!ids.has(id)) rows.delete(id);
  };

  return {
    element,
    focus: () => field.focus(),
    close: menu.close,
    /** @param {PanelState} state */
    update(state) {
      const searching = state.search.query !== "";
      if (!searching && drawn?.search.query) {
        field.value = "";
        show(clear, false);
      }
      if (state.chats !== drawn?.chats || state.chat.id !== drawn?.chat.id) drawList(state);
      results.update(state.search);
      show(results.element, searching);
      show(list, !searching);
      show(said, !searching && !state.chats?.length);
      said.textContent = t(state.chats === null ? "panel.loading" : "chats.empty");
      show(more, !searching && state.moreChats);
      drawn = state;
    },
  };
}
