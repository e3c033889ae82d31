// @ts-check
/** A card that asks the user to approve a tool call: what the tool does, and three buttons. */

import { toolName } from "../state/messages.js";
import { t } from "../strings.js";
import { pretty } from "../text/format.js";
import { createCard } from "./card.js";
import { button, h } from "./dom.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/**
 * @typedef {{approve: (ids: string[], remember: boolean) => unknown, reject: (ids: string[]) =>
 *   unknown}} Decisions
 */

/**
 * The buttons are disabled while the turn still runs: until it pauses, the server refuses decisions.
 * @param {ToolPart} part
 * @param {Decisions} decisions
 * @returns {{element: HTMLElement, update(part: ToolPart, facts: {live: boolean}): void}}
 */
export function createApproval(part, decisions) {
  const ids = [part.toolCallId];
  const words = wordsOf(part);
  const allow = button(words.allow, "primary", () => decisions.approve(ids, false));
  const deny = button(t("approval.deny"), "plain", () => decisions.reject(ids));
  const always = button(t("approval.always"), "quiet", () => decisions.approve(ids, true), {
    class: "ca-button ca-button--quiet ca-approval__always",
  });
  const card = createCard({
    tone: "ask",
    mark: "warn",
    title: words.question,
    role: "group",
    body: [h("p", {}, words.text), words.about && h("p", { class: "ca-quiet" }, words.about)],
    actions: [allow, deny, always],
    details: { label: t("approval.details"), text: words.details },
  });
  return {
    element: card,
    update(_part, { live }) {
      for (const each of [allow, deny, always]) each.disabled = live;
    },
  };
}

/**
 * @param {ToolPart} part
 * @returns {{question: string, text: string, about: string, allow: string, details: string}}
 */
function wordsOf(part) {
  const input = /** @type {Record<string, unknown>} */ (
    typeof part.input === "object" && part.input !== null ? part.input : {}
  );
  if (toolName(part) === "createUserSkill") {
    return {
      question: t("approval.skill.question"),
      text: t("approval.skill.text", { name: String(input.name ?? "") }),
      about: String(input.description ?? ""),
      allow: t("approval.skill.allow"),
      details: String(input.instructions ?? pretty(part.input)),
    };
  }
  return {
    question: t("approval.question", { title: part.title ?? toolName(part) }),
    text: t("approval.generic"),
    about: "",
    allow: t("approval.allow"),
    details: pretty(part.input),
  };
}
