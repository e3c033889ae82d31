// @ts-check
/**
 * The card shown while the server refuses the panel (docs/contracts/trust-boundary.md): the address
 * or the page is not allowed yet, the token is missing, or the backend did not start.
 */

import { t } from "../strings.js";
import { createCard } from "./card.js";
import { button, copyButton, h } from "./dom.js";

/** @typedef {import("../types.js").Gate} Gate */

/**
 * @param {Gate} gate
 * @param {{again: () => unknown, unlock: (token: string) => Promise<boolean>}} actions
 */
export function createGateCard(gate, actions) {
  return gate.kind === "token" ? tokenCard(actions.unlock) : variableCard(gate, actions.again);
}

const TITLES = /** @type {const} */ ({
  host: "gate.host.title",
  origin: "gate.origin.title",
  token: "gate.token.title",
  broken: "gate.broken.title",
});

/** @param {Gate} gate @param {() => unknown} again */
function variableCard(gate, again) {
  const setting = `${gate.variable ?? ""}=${gate.value ?? ""}`;
  return createCard({
    tone: "warn",
    mark: "warn",
    title: t(TITLES[gate.kind]),
    role: "group",
    body: [
      gate.kind === "broken" && h("p", {}, t("gate.broken.text")),
      h("p", { class: gate.kind === "broken" ? "ca-quiet" : "" }, gate.message),
      gate.variable && h("p", {}, t("gate.set")),
      gate.variable &&
        h(
          "div",
          { class: "ca-setting" },
          h("code", {}, setting),
          copyButton(t("gate.copy"), t("message.copied"), () => setting),
        ),
    ],
    actions: [button(t("gate.again"), "primary", again)],
  });
}

/** @param {(token: string) => Promise<boolean>} unlock */
function tokenCard(unlock) {
  const input = h("input", {
    type: "password",
    autocomplete: "off",
    "aria-label": t("gate.token.label"),
  });
  const problem = h("p", { class: "ca-problem", role: "alert", hidden: true });
  const form = h(
    "form",
    { class: "ca-unlock" },
    input,
    h("button", { type: "submit", class: "ca-button ca-button--primary" }, t("gate.token.enter")),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!input.value || (await unlock(input.value))) return;
    problem.textContent = t("gate.token.wrong");
    problem.hidden = false;
  });
  return createCard({
    tone: "warn",
    mark: "warn",
    title: t(TITLES.token),
    role: "group",
    body: [h("p", {}, t("gate.token.text")), form, problem],
  });
}
