// @ts-check
/**
 * The settings page: problems, and the providers, each with source, test and form.
 */

import { t } from "../strings.js";
import { plainName, sourceName } from "../text/provider.js";
import { button, h, icon, present } from "./dom.js";
import { problemCards } from "./problem-card.js";
import { createProviderForm } from "./provider-form.js";
import { failedLine, outcomeOf } from "./test-outcome.js";

/** @typedef {import("../types.js").PanelState} PanelState */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../state/panel.js").Panel} Panel */

/** @param {Panel} panel */
export function createSettingsPage(panel) {
  const element = h("div", { class: "ca-page" });
  /** @type {PanelState["settings"] | undefined} */
  let settings;
  /** @type {PanelState["health"]} */
  let health = null;
  /** @type {string | null} */
  let editing = null;
  /** @type {Pick<PanelState, "field" | "prefill">} */
  let wanted = { field: "name", prefill: null };

  /** @type {Map<string, HTMLElement>} drawn elements by the JSON of their data */
  let kept = new Map();
  /** @type {Map<string, HTMLElement>} */
  let next = new Map();

  /**
   * Reuses the element with the same data, so that a new state of the server keeps the text that
   * the user is typing and the result of a test.
   * @param {unknown} shown
   * @param {() => HTMLElement} build
   * @returns {HTMLElement}
   */
  const keep = (shown, build) => {
    const key = JSON.stringify(shown);
    const part = kept.get(key) ?? build();
    next.set(key, part);
    return part;
  };

  /** @param {Provider | null} provider */
  const form = (provider) =>
    keep([editing, wanted.field, wanted.prefill], () =>
      createProviderForm(provider, panel, wanted),
    );

  const draw = () => {
    const known = settings?.providers ?? [];
    const focused = document.activeElement;
    next = new Map();
    element.replaceChildren(
      ...present([
        ...problemCards(settings && !known.length ? withoutMissingModel(health) : health),
        h("h3", { class: "ca-caption" }, t("settings.providers")),
        settings === null && h("p", { class: "ca-quiet" }, t("panel.loading")),
        settings && !known.length && editing !== "" && h("p", { class: "ca-quiet" }, t("settings.none")),
        h("div", { class: "ca-providers" }, ...known.map((each) => row(each))),
        editing === "" && form(null),
        editing !== "" &&
          button(t("settings.add"), "plain", () => panel.editProvider(""), {
            class: "ca-button ca-button--plain ca-add",
          }),
        h("p", { class: "ca-quiet" }, t("settings.privacy")),
        h("h3", { class: "ca-caption" }, t("panel.data")),
        h("p", { class: "ca-quiet" }, t("data.about")),
        button(t("data.open"), "plain", () => panel.showPage("data"), {
          class: "ca-button ca-button--plain ca-add",
        }),
      ]),
    );
    kept = next;
    if (focused instanceof HTMLElement && element.contains(focused)) focused.focus();
  };

  /** @param {Provider} provider */
  const row = (provider) => {
    if (editing === provider.name) return form(provider);
    const active = settings?.active === provider.name;
    return keep([provider, active], () => createRow(provider, active));
  };

  /** @param {Provider} provider @param {boolean} active */
  const createRow = (provider, active) => {
    const outcome = h("div", { class: "ca-test", role: "status" });
    const test = button(t("settings.test"), "plain", async () => {
      test.disabled = true;
      outcome.replaceChildren(h("p", { class: "ca-quiet" }, t("settings.testing")));
      outcome.replaceChildren(
        ...(await outcomeOf(() => panel.testProvider({ name: provider.name }))),
      );
      test.disabled = false;
    });
    return h(
      "section",
      { class: `ca-provider${active ? " ca-provider--active" : ""}`, "aria-label": provider.name },
      h(
        "div",
        { class: "ca-provider__head" },
        h("strong", {}, plainName(provider.name)),
        h("span", { class: "ca-quiet" }, sourceName(provider.source)),
        active && h("span", { class: "ca-provider__active" }, icon("check"), t("settings.active")),
      ),
      h("div", { class: "ca-provider__model" }, provider.model || "–"),
      h("div", { class: "ca-quiet ca-ellipsis", title: provider.base_url }, provider.base_url),
      h(
        "div",
        { class: "ca-actions" },
        !active &&
          button(t("settings.use"), "plain", (event) =>
            guard(event, outcome, () => panel.useProvider(provider.name)),
          ),
        test,
        provider.source === "settings" &&
          button(t("settings.edit"), "quiet", () => panel.editProvider(provider.name)),
      ),
      outcome,
    );
  };

  return {
    element,
    /** @param {PanelState} state */
    update(state) {
      if (state.settings === settings && state.editing === editing && state.health === health)
        return;
      settings = state.settings;
      wanted = state;
      editing = state.editing;
      health = state.health;
      draw();
    },
  };
}

/**
 * The problems but for the missing model, which the page itself says and mends.
 * @param {PanelState["health"]} health
 */
const withoutMissingModel = (health) =>
  health && { ...health, problems: health.problems.filter(({ code }) => code !== "no_provider") };

/** @param {Event} event @param {HTMLElement} place @param {() => Promise<unknown>} work */
async function guard(event, place, work) {
  const source = /** @type {HTMLButtonElement} */ (event.currentTarget);
  source.disabled = true;
  try {
    await work();
  } catch (error) {
    place.replaceChildren(failedLine(error));
  }
  source.disabled = false;
}
