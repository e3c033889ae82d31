// @ts-check
/** The results of a search of chats, best first, with the matched words marked. */

import { t, tn } from "../strings.js";
import { pieces } from "../text/chat-list.js";
import { number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h } from "./dom.js";

/** @typedef {import("../types.js").Search} Search */
/** @typedef {import("../types.js").SearchResult} SearchResult */

/** @param {(id: string, messageId: string) => unknown} open */
export function createSearchResults(open) {
  const said = h("p", { class: "ca-quiet", role: "status" });
  const list = h("div", { class: "ca-found" });
  const element = h("div", { class: "ca-results", hidden: true }, said, list);
  /** @type {Search["results"]} */
  let drawn = null;

  /** @param {SearchResult} result */
  const row = (result) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-row ca-row--tall",
        onclick: () => open(result.chat_id, result.message_id),
      },
      h("span", { class: "ca-row__name" }, nameOf(result.title) || t("chats.untitled")),
      h(
        "span",
        { class: "ca-snippet" },
        ...pieces(result.snippet, result.marks).map(({ text, marked }) =>
          marked ? h("mark", {}, text) : text,
        ),
      ),
    );

  return {
    element,
    /** @param {Search} search */
    update({ query, results, failed }) {
      said.textContent =
        failed ||
        (results === null
          ? t("chats.search.running")
          : results.length
            ? tn("chats.search.found", results.length, { count: number(results.length) })
            : t("chats.search.none", { query }));
      if (results === drawn) return;
      drawn = results;
      list.replaceChildren(...(results ?? []).map(row));
    },
  };
}
