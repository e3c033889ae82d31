// @ts-check
/** The model picker: the models of the provider in use, and the other providers. */

import { t } from "../strings.js";
import { errorText } from "../text/format.js";
import { abilitiesOf, plainName, sourceName } from "../text/provider.js";
import { h, icon } from "./dom.js";

/** @typedef {import("../types.js").ModelEntry} ModelEntry */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderSettings} ProviderSettings */

/**
 * @typedef {object} PickerActions
 * @property {(provider: string) => Promise<ModelEntry[]>} models
 * @property {(provider: Provider, model: ModelEntry) => Promise<void>} chooseModel
 * @property {(provider: string) => Promise<void>} chooseProvider
 * @property {() => void} manage
 */

/**
 * @param {ProviderSettings} settings
 * @param {PickerActions} actions an error that one throws is shown
 * @returns {HTMLElement[]}
 */
export function modelPicker(settings, actions) {
  const active = settings.providers.find((provider) => provider.name === settings.active) ?? null;
  const others = settings.providers.filter((provider) => provider !== active);
  const problem = h("p", { class: "ca-problem", role: "alert", hidden: true });
  const models = h("div", { class: "ca-choices" });

  /** @param {() => Promise<void>} change */
  const attempt = async (change) => {
    try {
      await change();
    } catch (error) {
      problem.textContent = errorText(error);
      problem.hidden = false;
    }
  };

  if (active) {
    models.append(choice(active.model, "", true, () => undefined));
    void fillModels(active, models, problem, actions, attempt);
  }
  const content = [
    h("h3", {}, t("model.choose")),
    active && h("h4", { class: "ca-caption" }, t("model.of", { name: plainName(active.name) })),
    active && models,
    others.length > 0 && h("h4", { class: "ca-caption" }, t("model.other")),
    h(
      "div",
      { class: "ca-choices" },
      ...others.map((provider) =>
        choice(
          plainName(provider.name),
          `${provider.model} · ${sourceName(provider.source)}`,
          false,
          () => attempt(() => actions.chooseProvider(provider.name)),
        ),
      ),
    ),
    problem,
    h("button", { type: "button", class: "ca-link", onclick: actions.manage }, t("model.manage")),
  ];
  return content.flatMap((each) => (each ? [each] : []));
}

/**
 * @param {Provider} active
 * @param {HTMLElement} list
 * @param {HTMLElement} problem
 * @param {PickerActions} actions
 * @param {(change: () => Promise<void>) => Promise<void>} attempt
 */
async function fillModels(active, list, problem, actions, attempt) {
  try {
    const models = await actions.models(active.name);
    if (!models.length) {
      list.append(
        h("p", { class: "ca-choices__none" }, t("model.empty", { name: plainName(active.name) })),
      );
    }
    const others = models.filter((model) => model.id !== active.model);
    const current = models.find((model) => model.id === active.model);
    const known = current ? abilitiesOf(current) : "";
    if (known) list.firstElementChild?.append(h("span", { class: "ca-quiet" }, known));
    list.append(
      ...others.map((model) =>
        choice(model.id, abilitiesOf(model), false, () => attempt(() => actions.chooseModel(active, model))),
      ),
    );
  } catch (error) {
    problem.textContent = errorText(error);
    problem.hidden = false;
  }
}

/**
 * @param {string} name
 * @param {string} detail
 * @param {boolean} chosen
 * @param {() => unknown} onChoose
 */
const choice = (name, detail, chosen, onChoose) =>
  h(
    "button",
    { type: "button", class: "ca-choice", "aria-pressed": String(chosen), onclick: onChoose },
    h("span", { class: "ca-choice__mark" }, chosen && icon("check")),
    h("span", { class: "ca-choice__name" }, name),
    detail && h("span", { class: "ca-quiet" }, detail),
  );
