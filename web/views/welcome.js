// @ts-check
/**
 * The content of an empty chat: at the first visit the provider that was found and what to do next,
 * later what the assistant sees and three prompts.
 */

import { t } from "../strings.js";
import { plainName } from "../text/provider.js";
import { firstPrompts, whatISee, whoAnswers } from "../text/welcome.js";
import { createCard } from "./card.js";
import { button, h, icon, present } from "./dom.js";
import { problemCards } from "./problem-card.js";

/** @typedef {import("../types.js").HealthProvider} HealthProvider */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {object} WelcomeActions
 * @property {(text: string) => unknown} ask
 * @property {() => void} start
 * @property {() => unknown} look looks for providers again
 * @property {() => void} setUp
 * @property {() => void} chooseModel
 */

/** @param {WelcomeActions} actions */
export function createWelcome(actions) {
  const element = h("div", { class: "ca-welcome" });
  let drawn = "";

  return {
    element,
    /** @param {PanelState} state */
    update({ health, workflow, sentence, welcomed }) {
      const next = JSON.stringify([health, workflow, sentence, welcomed]);
      if (next === drawn) return;
      drawn = next;
      if (!health) {
        element.replaceChildren(h("p", { class: "ca-quiet" }, t("panel.loading")));
        return;
      }
      const { provider } = health;
      const missing = health.problems.find(({ code }) => code === "no_provider");
      const others = health.problems.filter((problem) => problem !== missing);
      const content = !provider
        ? noProvider(actions, missing?.message ?? t("first.none"))
        : welcomed
          ? prompts(provider, workflow, sentence, actions)
          : found(provider, actions);
      element.replaceChildren(
        ...present([
          ...problemCards({ ...health, problems: others }),
          ...content,
          health.preview && h("p", { class: "ca-quiet" }, t("empty.preview")),
        ]),
      );
    },
  };
}

/** @param {HealthProvider} provider @param {WelcomeActions} actions */
function found(provider, actions) {
  const { demo, local, name, source } = provider;
  const title = demo
    ? t("first.demo.title")
    : t(local && source !== "settings" ? "first.found" : "first.ready", {
        name: plainName(name),
      });
  return [
    h("h3", { class: "ca-welcome__hello" }, t("first.title")),
    createCard({
      tone: "plain",
      mark: demo ? "info" : "check",
      title,
      body: [h("p", {}, whoAnswers(provider)), demo && h("p", {}, t("first.better"))],
      actions: [
        button(t("first.start"), "primary", actions.start),
        demo
          ? button(t("first.setup"), "plain", actions.setUp)
          : button(t("first.other"), "plain", actions.chooseModel),
        demo && button(t("first.look"), "quiet", actions.look),
      ],
    }),
  ];
}

/** @param {WelcomeActions} actions @param {string} reason in the server's words */
const noProvider = (actions, reason) => [
  h("h3", { class: "ca-welcome__hello" }, t("first.title")),
  createCard({
    tone: "plain",
    mark: "info",
    title: t("first.none.title"),
    body: [
      h("p", {}, reason),
      h("p", {}, t("first.none.ways")),
      h(
        "ol",
        { class: "ca-ways" },
        h("li", {}, t("first.none.ollama")),
        h("li", {}, t("first.none.studio")),
        h("li", {}, t("first.none.key")),
      ),
    ],
    actions: [
      button(t("first.setup"), "primary", actions.setUp),
      button(t("first.look"), "plain", actions.look),
    ],
  }),
];

/**
 * @param {HealthProvider} provider
 * @param {PanelState["workflow"]} workflow
 * @param {string} sentence
 * @param {WelcomeActions} actions
 */
function prompts(provider, workflow, sentence, actions) {
  return [
    h("h3", { class: "ca-welcome__title" }, t("empty.title")),
    h("p", { class: "ca-quiet" }, whatISee(workflow, provider.demo, sentence)),
    h(
      "div",
      { class: "ca-prompts" },
      ...firstPrompts(workflow, provider.demo).map(({ mark, text }) =>
        h(
          "button",
          { type: "button", class: "ca-prompt", onclick: () => actions.ask(text) },
          icon(mark),
          h("span", {}, text),
        ),
      ),
    ),
    h("p", { class: "ca-quiet" }, whoAnswers(provider)),
  ];
}
