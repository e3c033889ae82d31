// @ts-check
/** The list of chats, newest first, by day. Choosing one opens it. */

import { t, tn } from "../strings.js";
import { clockTime, dayName, number } from "../text/format.js";
import { h, present } from "./dom.js";

/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").PanelState} PanelState */

/** States of a chat in which something runs. */
const RUNNING = new Set(["generating", "executing_tools"]);
const WAITING = new Set(["paused", "waiting_client"]);

/** @param {{open: (id: string) => unknown, more: () => unknown, pageSize: number}} actions */
export function createChatsPage(actions) {
  const element = h("div", { class: "ca-page" });
  /** @type {PanelState["chats"] | undefined} */
  let drawn;
  let current = "";

  /** @param {ChatEntry} chat @param {boolean} today */
  const row = (chat, today) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-row",
        "aria-current": chat.id === current ? "true" : null,
        onclick: () => actions.open(chat.id),
      },
      (RUNNING.has(chat.state) || WAITING.has(chat.state)) && h("span", { class: "ca-dot" }),
      h("span", { class: "ca-row__name" }, chat.title || t("chats.untitled")),
      h("span", { class: "ca-quiet" }, factOf(chat, today)),
    );

  return {
    element,
    /** @param {PanelState} state */
    update(state) {
      if (state.chats === drawn && state.chat.id === current) return;
      drawn = state.chats;
      current = state.chat.id;
      const chats = state.chats ?? [];
      const now = new Date();
      /** @type {HTMLElement[]} */
      const content = [];
      let day = "";
      for (const chat of chats) {
        const name = dayName(chat.updated, now);
        if (name !== day) content.push(h("h3", { class: "ca-caption" }, name));
        day = name;
        content.push(row(chat, name === t("day.today")));
      }
      element.replaceChildren(
        ...present([
          state.chats === null && h("p", { class: "ca-quiet" }, t("panel.loading")),
          state.chats !== null && !chats.length && h("p", { class: "ca-quiet" }, t("chats.empty")),
          ...content,
          chats.length > 0 &&
            chats.length % actions.pageSize === 0 &&
            h(
              "button",
              { type: "button", class: "ca-link", onclick: actions.more },
              t("chats.more"),
            ),
        ]),
      );
    },
  };
}

/** @param {ChatEntry} chat @param {boolean} today */
function factOf(chat, today) {
  if (RUNNING.has(chat.state)) return t("chats.running");
  if (WAITING.has(chat.state)) return t("chats.paused");
  return today
    ? clockTime(chat.updated)
    : tn("chats.messages", chat.messages, { count: number(chat.messages) });
}
