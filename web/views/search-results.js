// @ts-check
/**
 * The results of a search, by chat: the chat with the best result first, and in each the best
 * first, with the words of the search marked. Arrow keys go from one result to the next.
 */

import { FOUND } from "../services/api.js";
import { t, tn } from "../strings.js";
import { byChat, pieces } from "../text/chat-list.js";
import { number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h } from "./dom.js";

/** @typedef {import("../types.js").Search} Search */
/** @typedef {import("../types.js").SearchResult} SearchResult */

/**
 * @param {(id: string, messageId: string) => unknown} open
 * @param {() => void} leave moves the focus back to the search field
 */
export function createSearchResults(open, leave) {
  const said = h("p", { class: "ca-quiet", role: "status" });
  const list = h("div", { class: "ca-found", onkeydown: move });
  const element = h("div", { class: "ca-results", hidden: true }, said, list);
  /** @type {Search["results"]} */
  let drawn = null;

  const rows = () => /** @type {HTMLElement[]} */ ([...list.querySelectorAll(".ca-row")]);

  /** @param {KeyboardEvent} event */
  function move(event) {
    const all = rows();
    const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at < 0) return;
    const step = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    if (step < 0) leave();
    else all[Math.min(step, all.length - 1)].focus();
  }

  /** @param {SearchResult} result */
  const row = (result) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-row ca-row--tall",
        "data-message": `${result.chat_id}/${result.message_id}`,
        onclick: () => open(result.chat_id, result.message_id),
      },
      h(
        "span",
        { class: "ca-found__who" },
        t(result.role === "user" ? "message.yours" : "message.theirs"),
      ),
      h(
        "span",
        { class: "ca-snippet" },
        ...pieces(result.snippet, result.marks).map(({ text, marked }) =>
          marked ? h("mark", {}, text) : text,
        ),
      ),
    );

  /** @param {ReturnType<typeof byChat>[number]} group */
  const chat = ({ title, results }) => {
    const name = nameOf(title) || t("chats.untitled");
    return h(
      "section",
      { class: "ca-found__chat", "aria-label": name },
      h(
        "div",
        { class: "ca-found__title" },
        h("h3", { title: name }, name),
        h("span", { class: "ca-quiet" }, messages(results.length)),
      ),
      ...results.map(row),
    );
  };

  return {
    element,
    /** Moves the focus to the first result. @returns {boolean} whether there is one */
    focus() {
      const [first] = rows();
      first?.focus();
      return first !== undefined;
    },
    /** @param {Search} search */
    update({ query, results, failed }) {
      const groups = byChat(results ?? []);
      said.textContent =
        failed || (results === null ? t("chats.search.running") : sentence(query, groups));
      if (results === drawn) return;
      drawn = results;
      // Results of further letters replace those that the reader is among already.
      const chosen = /** @type {HTMLElement} */ (document.activeElement);
      const at = rows().indexOf(chosen);
      list.replaceChildren(...groups.map(chat));
      if (at < 0) return;
      const again = rows().find((each) => each.dataset.message === chosen.dataset.message);
      if (again) again.focus({ preventScroll: true });
      else leave();
    },
  };
}

/** @param {number} count */
const messages = (count) => tn("chats.messages", count, { count: number(count) });

/** @param {string} query @param {ReturnType<typeof byChat>} groups */
function sentence(query, groups) {
  const count = groups.reduce((sum, group) => sum + group.results.length, 0);
  if (!count) return t("chats.search.none", { query });
  if (count === FOUND) return t("chats.search.best", { count: number(count) });
  return tn("chats.search.in", groups.length, {
    found: messages(count),
    count: number(groups.length),
  });
}
