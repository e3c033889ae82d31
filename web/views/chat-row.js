// @ts-check
/** A chat in the list: title, one fact, a menu, and a field to rename the chat. */

import { BUSY_STATES } from "../state/chat-state.js";
import { t, tn } from "../strings.js";
import { clockTime, dateTime, number, shortDate } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h, iconButton, setText, show } from "./dom.js";
import { isComposing } from "./isolation.js";

/** @typedef {import("../services/api.js").ExportFormat} ExportFormat */
/** @typedef {import("../types.js").ChatEntry} ChatEntry */

/**
 * @typedef {object} RowActions
 * @property {(id: string) => unknown} open
 * @property {(id: string, title: string) => unknown} rename
 * @property {(id: string, pinned: boolean) => unknown} pin
 * @property {(id: string) => unknown} remove
 * @property {(id: string, format: ExportFormat) => unknown} exportAs
 * @property {(id: string) => unknown} share
 * @property {(button: HTMLElement, items: import("./menu.js").MenuItem[]) => void} menu
 */

/** Most characters of a title; the server has the same limit. */
const LONGEST = 200;
/** States of a chat in which the turn waits for the user. */
const WAITING_STATES = new Set(["paused", "waiting_user_input"]);
/** @type {readonly ExportFormat[]} */
const FORMATS = ["markdown", "jsonl", "trajectory"];

/** @param {string} id @param {RowActions} actions */
export function createChatRow(id, actions) {
  const dot = h("span", { class: "ca-dot", hidden: true });
  const unread = h("span", { class: "ca-hidden-text", hidden: true }, t("chats.unread"));
  const name = h("span", { class: "ca-row__name" });
  const fact = h("span", { class: "ca-quiet" });
  const open = h(
    "button",
    { type: "button", class: "ca-row", onclick: () => actions.open(id) },
    dot,
    unread,
    name,
    fact,
  );
  const options = iconButton("more", "", {
    class: "ca-icon-button--small",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    onclick: () => actions.menu(options, items()),
  });
  const element = h("div", { class: "ca-entry" }, open, options);
  /** @type {ChatEntry | null} */
  let chat = null;
  let editing = false;

  const items = () => [
    { label: t("chats.rename"), run: rename },
    {
      label: t(chat?.pinned ? "chats.unpin" : "chats.pin"),
      run: () => actions.pin(id, !chat?.pinned),
    },
    ...FORMATS.map((format) => ({
      label: t(/** @type {"chats.export.markdown"} */ (`chats.export.${format}`)),
      run: () => actions.exportAs(id, format),
    })),
    { label: t("chats.share"), run: () => actions.share(id) },
    { label: t("chats.delete"), run: () => actions.remove(id), danger: true },
  ];

  const rename = () => {
    const field = h("input", {
      class: "ca-entry__field",
      "aria-label": t("chats.name"),
      maxlength: LONGEST,
    });
    field.value = chat?.title ?? "";
    const end = (/** @type {boolean} */ keep) => {
      if (!editing) return;
      editing = false;
      const title = field.value.trim();
      field.replaceWith(open);
      if (keep && title && title !== chat?.title) actions.rename(id, title);
    };
    field.addEventListener("keydown", (event) => {
      if (isComposing(event) || (event.key !== "Enter" && event.key !== "Escape")) return;
      // Escape would close the page, and Enter would click the row that replaces the field.
      event.stopPropagation();
      event.preventDefault();
      end(event.key === "Enter");
      open.focus();
    });
    field.addEventListener("blur", () => end(true));
    editing = true;
    open.replaceWith(field);
    field.focus();
    field.select();
  };

  return {
    element,
    /**
     * @param {ChatEntry} next
     * @param {{current: boolean, dated: boolean}} place
     */
    update(next, { current, dated }) {
      chat = next;
      const title = nameOf(next.title, LONGEST) || t("chats.untitled");
      const active = BUSY_STATES.has(next.state) || WAITING_STATES.has(next.state);
      show(dot, active || Boolean(next.unread));
      dot.classList.toggle("ca-dot--runs", BUSY_STATES.has(next.state));
      show(unread, Boolean(next.unread));
      setText(name, title);
      name.title = title;
      name.classList.toggle("ca-row__name--unread", Boolean(next.unread));
      setText(fact, factOf(next, dated));
      fact.title = fact.textContent ? chatFacts(next) : "";
      if (current) open.setAttribute("aria-current", "true");
      else open.removeAttribute("aria-current");
      const label = t("chats.options", { title });
      options.setAttribute("aria-label", label);
      options.title = label;
    },
  };
}

/** @param {ChatEntry} chat @returns {string} when it changed, and how long it is */
const chatFacts = (chat) =>
  [dateTime(chat.updated), tn("chats.messages", chat.messages, { count: number(chat.messages) })]
    .filter(Boolean)
    .join(" · ");

/** @param {ChatEntry} chat @param {boolean} dated whether its day is not that of the group */
function factOf(chat, dated) {
  if (BUSY_STATES.has(chat.state)) return t("chats.running");
  if (WAITING_STATES.has(chat.state)) return t("chats.paused");
  return dated
    ? shortDate(chat.updated, new Date())
    : clockTime(chat.updated, new Date(chat.updated));
}
