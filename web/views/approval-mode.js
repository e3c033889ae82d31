// @ts-check
/** What asks the user first in a chat: the button beside the model's name, and the choices behind it. */

import { t, tn } from "../strings.js";
import { clockTime, number } from "../text/format.js";
import { button, h, icon, present, setText, show } from "./dom.js";

/** @typedef {import("../types.js").ApprovalMode} ApprovalMode */
/** @typedef {import("../types.js").ChatParams} ChatParams */

/** @type {readonly ApprovalMode[]} */
const MODES = ["ask", "edits", "budget"];
/** What a budget is at first, and at most (`assistant/chats/permissions.py`). */
const FIRST = { runs: 10, minutes: 30 };
const MOST = { runs: 10_000, minutes: 10_080 };

/** @param {ChatParams} params @returns {ApprovalMode} */
export const modeOf = ({ approval }) => approval ?? "edits";

/**
 * @param {import("../types.js").BudgetLeft} left
 * @returns {string} "3 runs left, until 14:30"
 */
const leftOf = ({ runs, until }) =>
  tn("mode.left", runs, { count: number(runs), time: clockTime(until, new Date()) });

/** The button; the default mode is shown by its icon alone. @param {() => void} open */
export function createModeButton(open) {
  const words = h("span", { hidden: true });
  const element = h(
    "button",
    { type: "button", class: "ca-mode", "aria-haspopup": "dialog", onclick: open },
    icon("shield"),
    words,
  );
  return {
    element,
    /** @param {import("../types.js").ChatState} chat */
    update({ params, budgetLeft }) {
      const mode = modeOf(params);
      const left = mode === "budget" && budgetLeft ? ` (${leftOf(budgetLeft)})` : "";
      const label = t("mode.label", { mode: t(`mode.${mode}`) }) + left;
      const short = mode === "edits" ? "" : t(`mode.${mode}.short`);
      // What is seen is part of the name.
      element.setAttribute("aria-label", [label, short].filter(Boolean).join(", "));
      element.title = label;
      show(words, short !== "");
      setText(words, short);
    },
  };
}

/**
 * The content of the dialog.
 * @param {import("../types.js").ChatState} chat
 * @param {(params: ChatParams) => unknown} set
 * @returns {HTMLElement[]}
 */
export function modePicker({ params, budgetLeft }, set) {
  const current = modeOf(params);
  const budget = createBudget(params.budget ?? FIRST, (given) =>
    set({ approval: "budget", budget: given }),
  );
  const choices = MODES.map((mode) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-choice ca-choice--tall",
        "aria-pressed": String(mode === current),
        onclick: () => (mode === "budget" ? budget.open() : set({ approval: mode })),
      },
      h("span", { class: "ca-choice__mark" }, mode === current && icon("check")),
      h(
        "span",
        { class: "ca-choice__words" },
        h("span", {}, t(`mode.${mode}`)),
        h("span", { class: "ca-quiet" }, t(`mode.${mode}.about`)),
      ),
    ),
  );
  show(budget.element, current === "budget");
  return present([
    h("h3", {}, t("mode.title")),
    h("div", { class: "ca-choices" }, ...choices, budget.element),
    current === "budget" && budgetLeft && h("p", { class: "ca-quiet" }, leftOf(budgetLeft)),
    h("p", { class: "ca-quiet" }, `${t("mode.chat")} ${t("mode.always")}`),
  ]).map((each) => /** @type {HTMLElement} */ (each));
}

/**
 * @param {{runs: number, minutes: number}} first
 * @param {(budget: {runs: number, minutes: number}) => unknown} set
 */
function createBudget(first, set) {
  const problem = h("p", { class: "ca-problem", role: "alert", hidden: true }, t("mode.budget.wrong"));
  const runs = field("runs", first.runs);
  const minutes = field("minutes", first.minutes);
  const done = () => {
    const given = { runs: Number(runs.input.value), minutes: Number(minutes.input.value) };
    const isRight = isWithin(given.runs, MOST.runs) && isWithin(given.minutes, MOST.minutes);
    show(problem, !isRight);
    if (isRight) set(given);
  };
  const element = h(
    "div",
    { class: "ca-budget", hidden: true },
    runs.element,
    minutes.element,
    button(t("mode.budget.set"), "primary", done),
    problem,
  );
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
    event.preventDefault();
    done();
  });
  return {
    element,
    open() {
      show(element, true);
      runs.input.focus();
      runs.input.select();
    },
  };
}

/** @param {number} value @param {number} most */
const isWithin = (value, most) => Number.isInteger(value) && value >= 1 && value <= most;

/** @param {"runs" | "minutes"} name @param {number} value */
function field(name, value) {
  const input = h("input", {
    class: "ca-input",
    type: "number",
    min: "1",
    max: String(MOST[name]),
    step: "1",
    value: String(value),
  });
  return { input, element: h("label", {}, h("span", {}, t(`mode.budget.${name}`)), input) };
}
