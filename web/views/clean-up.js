// @ts-check
/** Cleaning up: the chats that did not change for long, and a button that deletes them. */

import { t, tn } from "../strings.js";
import { errorText, number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { createCard } from "./card.js";
import { button, h } from "./dom.js";

/**
 * @typedef {object} CleanUpActions
 * @property {(days: number) => Promise<{title: string}[]>} old the chats that would be deleted
 * @property {(days: number) => Promise<unknown>} remove
 */

/** Days without a change, from which a chat counts as old. */
const DAYS = [30, 90, 365];
const USUAL = 90;
/** Most titles in the card. */
const LISTED = 8;

/** @param {CleanUpActions} actions */
export function createCleanUp(actions) {
  const element = h("div", { hidden: true });
  let opener = /** @type {HTMLElement | null} */ (null);
  let asked = 0;

  const choice = h(
    "select",
    { class: "ca-clean__days", "aria-label": t("clean.since"), onchange: () => void look() },
    ...DAYS.map((days) =>
      h("option", { value: days, selected: days === USUAL }, tn("clean.days", days, { days })),
    ),
  );
  const found = h("div", { role: "status" });
  const remove = button("", "primary", () => void end(() => actions.remove(days())));
  const card = createCard({
    tone: "plain",
    mark: "clock",
    title: t("clean.title"),
    body: [h("div", { class: "ca-clean" }, h("span", {}, t("clean.since")), choice), found],
    actions: [remove, button(t("clean.cancel"), "quiet", () => void end())],
  });
  card.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    event.preventDefault();
    void end();
  });

  const days = () => Number(choice.value);

  /** Asks which chats would be deleted. */
  async function look() {
    const question = (asked += 1);
    remove.hidden = true;
    found.textContent = t("panel.loading");
    try {
      const chats = await actions.old(days());
      if (question === asked) draw(chats);
    } catch (error) {
      if (question === asked) found.textContent = errorText(error);
    }
  }

  /** @param {{title: string}[]} chats */
  function draw(chats) {
    const count = number(chats.length);
    remove.hidden = chats.length === 0;
    remove.textContent = tn("clean.delete", chats.length, { count });
    const more = chats.length - LISTED;
    const names = chats.slice(0, LISTED).map(({ title }) => nameOf(title) || t("chats.untitled"));
    found.replaceChildren(
      h("p", {}, chats.length ? tn("clean.found", chats.length, { count }) : t("clean.none")),
      h(
        "ul",
        { class: "ca-clean__titles" },
        ...names.map((name) => h("li", {}, name)),
        more > 0 && h("li", {}, t("clean.more", { count: number(more) })),
      ),
    );
  }

  /** @param {() => Promise<unknown>} [work] */
  async function end(work) {
    asked += 1;
    remove.hidden = true;
    await work?.();
    element.hidden = true;
    element.replaceChildren();
    opener?.focus();
  }

  return {
    element,
    /** @param {HTMLElement} from gets the focus back */
    open(from) {
      opener = from;
      element.hidden = false;
      element.replaceChildren(card);
      choice.focus();
      void look();
    },
  };
}
