// @ts-check
/** A card: a heading with a mark, a sentence, what can be done, and details below. */

import { h, icon, present } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * @param {object} content
 * @param {"plain" | "ask" | "error" | "warn"} content.tone
 * @param {string} content.mark an icon's name
 * @param {string} content.title
 * @param {Child[]} [content.body]
 * @param {Child[]} [content.actions] buttons, the likeliest first
 * @param {string} [content.role]
 */
export function createCard({ tone, mark, title, body = [], actions = [], role }) {
  return h(
    "section",
    { class: `ca-card ca-card--${tone}`, role, "aria-label": title },
    h("h3", { class: "ca-card__title" }, icon(mark), h("span", {}, title)),
    h(
      "div",
      { class: "ca-card__body" },
      ...body,
      present(actions).length > 0 && h("div", { class: "ca-actions" }, ...actions),
    ),
  );
}
