// @ts-check
/** A card: a title with an icon, a text, buttons, and details to unfold. */

import { h, icon, present } from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * @param {object} content
 * @param {"plain" | "ask" | "error" | "warn"} content.tone
 * @param {string} content.mark a key of `ICONS`
 * @param {string} content.title
 * @param {Child[]} [content.body]
 * @param {Child[]} [content.actions] buttons, the most likely one first
 * @param {Child[]} [content.after] below the buttons
 * @param {{label: string, text: string, open?: boolean}} [content.details] preformatted text,
 *   folded at first unless `open`
 * @param {string} [content.role]
 */
export function createCard({ tone, mark, title, body = [], actions = [], after = [], details, role }) {
  return h(
    "section",
    { class: `ca-card ca-card--${tone}`, role, "aria-label": title },
    h("h3", { class: "ca-card__title" }, icon(mark), h("span", {}, title)),
    h(
      "div",
      { class: "ca-card__body" },
      ...body,
      present(actions).length > 0 && h("div", { class: "ca-actions" }, ...actions),
      ...after,
    ),
    details &&
      h(
        "details",
        { class: "ca-card__details", open: details.open },
        h("summary", {}, details.label),
        h("pre", { tabindex: "0" }, details.text),
      ),
  );
}
