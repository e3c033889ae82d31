// @ts-check
/**
 * The content of an empty chat: at the first visit the provider that was found and what to do next,
 * later what the assistant sees and three prompts.
 */

import { t } from "../strings.js";
import { plainName } from "../text/provider.js";
import { firstPrompts, whatISee, whoAnswers } from "../text/welcome.js";
import { createCard } from "./card.js";
import { button, h, icon, present, setText } from "./dom.js";
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

/** Milliseconds that a look takes at least, so that it is seen. */
const LOOKING = 400;

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
      const others = health.problems.filter(({ code }) => code !== "no_provider");
      const content = !provider
        ? noProvider(actions)
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
        demo && lookButton("quiet", actions.look),
      ],
    }),
  ];
}

/**
 * Looks for servers again, and says when there is nothing new: else the screen stays as it was.
 * @param {"plain" | "quiet"} look
 * @param {() => unknown} run
 */
function lookButton(look, run) {
  const again = button(
    t("first.look"),
    look,
    async () => {
      again.disabled = true;
      setText(again, t("first.looking"));
      await Promise.all([run(), new Promise((done) => setTimeout(done, LOOKING))]);
      setText(again, t("first.nothing"));
      again.disabled = false;
    },
    { "aria-live": "polite" },
  );
  return again;
}

/**
 * The ways to a model. The server's own sentence says the same again, but for a server without
 * models, which is a problem of its own.
 * @param {WelcomeActions} actions
 */
const noProvider = (actions) => [
  h("h3", { class: "ca-welcome__hello" }, t("first.title")),
  createCard({
    tone: "plain",
    mark: "info",
    title: t("first.none.title"),
    body: [
      h("p", {}, t("first.none")),
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
      lookButton("plain", actions.look),
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
