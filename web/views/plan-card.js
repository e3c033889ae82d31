// @ts-check
/** The plan of an answer: one live card at its top, with the state of each step. */

import { progressOf } from "../state/plan.js";
import { t } from "../strings.js";
import { number } from "../text/format.js";
import { seen } from "../text/plain.js";
import { h, icon, setText, show } from "./dom.js";

/** @typedef {import("../state/plan.js").PlanStep} PlanStep */

/** Most characters of a step that are shown. */
const LONGEST = 300;
const MARKS = { open: "ring", doing: "arc", done: "check", dropped: "minus" };

export function createPlanCard() {
  const count = h("span", { class: "ca-plan__count" });
  const bar = h("progress", { class: "ca-plan__bar", "aria-label": t("plan.progress") });
  const list = h("ol", { class: "ca-plan__steps" });
  const element = h(
    "details",
    { class: "ca-card ca-plan", open: true },
    h(
      "summary",
      { class: "ca-plan__head" },
      icon("chevron", "ca-fold"),
      h("span", { class: "ca-plan__title" }, t("plan.title")),
      bar,
      count,
    ),
    list,
  );
  let drawn = "";

  return {
    element,
    /** @param {readonly PlanStep[]} plan @param {boolean} works whether the answer goes on */
    update(plan, works) {
      const state = plan.length ? JSON.stringify([plan, works]) : "";
      if (state === drawn) return;
      drawn = state;
      show(element, plan.length > 0);
      const { done, all } = progressOf(plan);
      setText(count, t("plan.count", { done: number(done), all: number(all) }));
      bar.max = Math.max(all, 1);
      bar.value = done;
      element.classList.toggle("ca-plan--works", works);
      list.replaceChildren(...plan.map((step) => row(step)));
    },
  };
}

/** @param {PlanStep} step */
const row = ({ text, state }) =>
  h(
    "li",
    {
      class: `ca-plan__step ca-plan__step--${state}`,
      "aria-current": state === "doing" ? "step" : null,
    },
    icon(MARKS[state]),
    h("span", { dir: "auto" }, seen(text.slice(0, LONGEST))),
    h("span", { class: "ca-hidden-text" }, t(`plan.${state}`)),
  );
