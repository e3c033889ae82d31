// @ts-check
/**
 * A card that asks the user to approve a tool call: what the tool does, all that it does it with,
 * and the buttons. The question is always the panel's own: a title that came with the call may
 * come from an import. Words from outside are isolated, so that they cannot turn ours around, and
 * stand in sight before the buttons.
 */

import { toolName } from "../state/messages.js";
import { t, tn } from "../strings.js";
import { number, pretty } from "../text/format.js";
import { nameOf, seen, unseenCount } from "../text/plain.js";
import { createCard } from "./card.js";
import { button, h } from "./dom.js";
import { createLongText } from "./long-text.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/**
 * @typedef {object} Decisions
 * @property {(part: ToolPart, remember: boolean) => unknown} approve
 * @property {(part: ToolPart) => unknown} reject
 * @property {import("./drawing.js").Draw} draw
 */

/**
 * The card is of one question for ever: a call that asks anew, with other arguments, has another
 * question and gets another card. The buttons are disabled while the turn still runs: until it pauses, the server refuses decisions.
 * @param {ToolPart} part
 * @param {Decisions} decisions
 * @returns {{element: HTMLElement, update(part: ToolPart, facts: {live: boolean}): void}}
 */
export function createApproval(part, decisions) {
  const words = wordsOf(part);
  const allow = button(words.allow, "primary", () => decisions.approve(part, false));
  const deny = button(t("approval.deny"), "plain", () => decisions.reject(part));
  const always =
    words.covers === null
      ? []
      : [
          button(t("approval.always"), "quiet", () => decisions.approve(part, true), {
            class: "ca-button ca-button--quiet ca-approval__always",
          }),
        ];
  const hidden = unseenCount(words.shown);
  const shown = h("pre", { class: "ca-approval__shown", tabindex: "0", "aria-label": words.label });
  createLongText(decisions.draw, shown).update(seen(words.shown));
  const card = createCard({
    tone: "ask",
    mark: "warn",
    title: words.question,
    role: "group",
    body: [
      h("p", {}, ...words.text),
      words.about && h("p", { class: "ca-quiet" }, h("bdi", {}, words.about)),
      h("div", { class: "ca-step__label" }, words.label),
      shown,
      hidden > 0 && h("p", {}, tn("approval.hidden", hidden, { count: number(hidden) })),
    ],
    actions: [allow, deny, ...always],
    after: [words.covers !== null && h("p", { class: "ca-quiet" }, words.covers)],
  });
  return {
    element: card,
    update(_part, { live }) {
      for (const each of [allow, deny, ...always]) each.disabled = live;
    },
  };
}

/** Most characters of a skill's description on the card; the server's limit is below it. */
const ABOUT = 1000;

/**
 * @typedef {object} Words
 * @property {string} question
 * @property {import("./dom.js").Child[]} text
 * @property {string} about
 * @property {string} allow
 * @property {string} label of what is shown
 * @property {string} shown all that the tool is called with
 * @property {string | null} covers what "Always" allows; null: the tool asks each time
 */

/** @param {ToolPart} part @returns {string} the card's title */
export const approvalQuestion = (part) =>
  t(toolName(part) === "createUserSkill" ? "approval.skill.question" : "approval.question");

/** @param {ToolPart} part @returns {Words} */
function wordsOf(part) {
  const input = /** @type {Record<string, unknown>} */ (
    typeof part.input === "object" && part.input !== null ? part.input : {}
  );
  if (toolName(part) === "createUserSkill") {
    return {
      question: approvalQuestion(part),
      text: around("approval.skill.text", nameOf(input.name)),
      about: nameOf(input.description, ABOUT),
      allow: t("approval.skill.allow"),
      label: t("approval.skill.instructions"),
      shown: String(input.instructions ?? pretty(part.input)),
      covers: null,
    };
  }
  return {
    question: approvalQuestion(part),
    text: around("approval.generic", nameOf(toolName(part))),
    about: "",
    allow: t("approval.allow"),
    label: t("tool.arguments"),
    shown: pretty(part.input) || t("tool.none"),
    covers: t("approval.covers"),
  };
}

/**
 * @param {"approval.skill.text" | "approval.generic"} key of a text with `{name}`
 * @param {string} name from outside
 * @returns {import("./dom.js").Child[]} the text with the name isolated
 */
function around(key, name) {
  const [before, after] = t(key, { name: "\n" }).split("\n");
  return [before, h("bdi", { class: "ca-approval__name" }, name), after];
}
