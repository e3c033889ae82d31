// @ts-check
/** The skills page, the user's own skills first. Choosing a skill inserts it into the message. */

import { t } from "../strings.js";
import { h, present } from "./dom.js";

/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").SkillEntry} SkillEntry */

/** @param {(skill: SkillEntry) => void} onUse */
export function createSkillsPage(onUse) {
  const element = h("div", { class: "ca-page" });
  /** @type {SkillEntry[] | null} */
  let drawn = null;

  /** @param {string} title @param {SkillEntry[]} skills */
  const group = (title, skills) =>
    skills.length
      ? [h("h3", { class: "ca-caption" }, title), ...skills.map((skill) => row(skill))]
      : [];

  /** @param {SkillEntry} skill */
  const row = (skill) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-row ca-row--tall",
        title: t("skills.use"),
        onclick: () => onUse(skill),
      },
      h("span", { class: "ca-row__name" }, skill.name),
      h("span", { class: "ca-quiet" }, skill.description),
    );

  return {
    element,
    /** @param {PanelState} state */
    update({ skills }) {
      if (skills === drawn) return;
      drawn = skills;
      element.replaceChildren(
        ...present([
          h("p", { class: "ca-quiet" }, t(skills.length ? "skills.intro" : "skills.empty")),
          ...group(
            t("skills.yours"),
            skills.filter((skill) => skill.yours),
          ),
          ...group(
            t("skills.shipped"),
            skills.filter((skill) => !skill.yours),
          ),
        ]),
      );
    },
  };
}
