// @ts-check
/**
 * A card that asks the user to approve a tool call: what will happen, in one sentence of the
 * server's, what an edit will change, the buttons, and a text box for what to do instead. The title is always the panel's own:
 * a title that came with the call may come from an import. Words from outside are isolated, so that
 * they cannot turn ours around.
 *
 * The law: no key approves by accident. When the question comes, an empty text box gives the focus
 * to the card and not to one of its buttons.
 */

import { toolName } from "../state/messages.js";
import { t, textFor, tn } from "../strings.js";
import { number, pretty } from "../text/format.js";
import { nameOf, seen, unseenCount } from "../text/plain.js";
import { readDiff } from "../text/workflow-diff.js";
import { createAnswerBox, takeFocus } from "./answer-box.js";
import { changeBody } from "./change-body.js";
import { button, h, icon, present, setText, show } from "./dom.js";
import { createLongText } from "./long-text.js";
import { createToolbar } from "./toolbar.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("../state/waiting.js").Decision} Decision */
/**
 * @typedef {object} Decisions
 * @property {(part: ToolPart, remember: boolean) => unknown} approve
 * @property {(part: ToolPart, instead: string) => unknown} reject
 * @property {import("./drawing.js").Draw} draw
 * @property {import("./node-chip.js").ShowNode} showNode
 */

const SKILL = "createUserSkill";
/** Most characters of a skill's description on the card; the server's limit is below it. */
const ABOUT = 1000;

/**
 * The card is of one question for ever: a call that asks anew, with other arguments, has another
 * question and gets another card. The buttons are disabled while the turn still runs: until it
 * pauses, the server refuses decisions.
 * @param {ToolPart} part
 * @param {Decisions} decisions
 * @returns {{element: HTMLElement, update(part: ToolPart, facts: {live: boolean, decision:
 *   Decision | null}): void}}
 */
export function createApproval(part, decisions) {
  const once = button(t("approval.once"), "primary", () => decisions.approve(part, false));
  const always = button(t("approval.always"), "plain", () => decisions.approve(part, true), {
    title: t("approval.covers"),
  });
  const no = button(t("approval.no"), "plain", () => decisions.reject(part, instead.take()));
  const instead = createAnswerBox(t("approval.instead"), t("approval.instead.label"), (text) =>
    decisions.reject(part, text),
  );
  const buttons = createToolbar(t("approval.buttons"), { class: "ca-actions" });
  const sentence = h("p", { class: "ca-approval__text", dir: "auto" });
  const changes = h("div", { class: "ca-approval__change", hidden: true });
  const covers = h("p", { class: "ca-quiet" }, t("approval.covers"));
  const given = argumentsOf(part, decisions.draw);
  const element = h(
    "section",
    {
      class: "ca-card ca-card--ask",
      role: "group",
      "aria-label": approvalTitle(part),
      tabindex: "-1",
    },
    h("h3", { class: "ca-card__title" }, icon("warn"), h("span", {}, approvalTitle(part))),
    h(
      "div",
      { class: "ca-card__body" },
      sentence,
      changes,
      ...given.shown,
      buttons.element,
      covers,
      instead.element,
    ),
  );
  element.addEventListener("keydown", (event) => {
    if (event.target !== element || !["ArrowDown", "ArrowRight"].includes(event.key)) return;
    event.preventDefault();
    once.focus();
  });
  /** @type {boolean | null} */
  let wasLive = null;
  /** @type {boolean | null} */
  let remembers = null;

  return {
    element,
    update(_part, { live, decision }) {
      setText(sentence, approvalText(part, decision));
      if (decision?.change && changes.hidden) {
        const rows = readDiff(seen(decision.change.diff));
        changes.append(...changeBody(decision.change, rows, decisions.showNode, false));
        show(changes, true);
      }
      given.fold(decision !== null && toolName(part) !== SKILL);
      const remember = decision?.remember ?? toolName(part) !== SKILL;
      if (live === wasLive && remember === remembers) return;
      for (const each of [once, always, no]) each.disabled = live;
      instead.disable(live);
      show(covers, remember);
      buttons.fill(present([once, remember && always, no]).map((each) => /** @type {Node} */ (each)));
      if (wasLive !== false && !live) takeFocus(element);
      wasLive = live;
      remembers = remember;
    },
  };
}

/** @param {ToolPart} part @returns {string} the card's title */
export const approvalTitle = (part) =>
  textFor(`approval.title.${toolName(part)}`, "approval.title.other");

/**
 * @param {ToolPart} part
 * @param {Decision | null} decision
 * @returns {string} what will happen
 */
export function approvalText(part, decision) {
  if (decision) return seen(decision.text);
  const input = inputOf(part);
  if (toolName(part) === SKILL) return t("approval.skill.text", { name: nameOf(input.name) });
  return t("approval.generic", { name: nameOf(toolName(part)) });
}

/** @param {ToolPart} part @returns {Record<string, unknown>} */
const inputOf = ({ input }) =>
  /** @type {any} */ (typeof input === "object" && input !== null ? input : {});

/**
 * What the tool is called with: in sight where the sentence does not say it all.
 * @param {ToolPart} part
 * @param {import("./drawing.js").Draw} draw
 * @returns {{shown: HTMLElement[], fold(folds: boolean): void}}
 */
function argumentsOf(part, draw) {
  const isSkill = toolName(part) === SKILL;
  const input = inputOf(part);
  const text = isSkill
    ? String(input.instructions ?? pretty(part.input))
    : pretty(part.input) || t("tool.none");
  const label = t(isSkill ? "approval.skill.instructions" : "error.details");
  const about = isSkill ? nameOf(input.description, ABOUT) : "";
  const hidden = unseenCount(text);
  const content = h("pre", {
    class: "ca-approval__shown",
    tabindex: "0",
    "aria-label": label,
  });
  createLongText(draw, content).update(seen(text));
  const folded = h(
    "details",
    { class: "ca-approval__given" },
    h("summary", {}, label),
    content,
    hidden > 0 && h("p", {}, tn("approval.hidden", hidden, { count: number(hidden) })),
  );
  return {
    shown: [
      ...(about ? [h("p", { class: "ca-quiet" }, h("bdi", {}, about))] : []),
      folded,
    ],
    /** What cannot be seen is not folded away. */
    fold(folds) {
      folded.open = !folds || hidden > 0;
    },
  };
}
