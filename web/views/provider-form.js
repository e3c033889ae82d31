// @ts-check
/** The form to add or change a provider. A saved key is never shown. */

import { t } from "../strings.js";
import { PRESETS, providerProblem } from "../text/provider.js";
import { button, h } from "./dom.js";
import { failedLine, outcomeOf } from "./test-outcome.js";

/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */
/** @typedef {import("../state/panel.js").Panel} Panel */

let forms = 0;

/**
 * @param {Provider | null} provider null for a new provider
 * @param {Panel} panel
 * @param {Pick<import("../types.js").PanelState, "field" | "prefill">} wanted the field that gets
 *   the focus, and values for a new provider
 */
export function createProviderForm(provider, panel, { field: first, prefill }) {
  forms += 1;
  const id = `ca-form-${forms}`;
  const fields = {
    name: h("input", { id: `${id}-name`, autocomplete: "off", readonly: provider !== null }),
    address: h("input", {
      id: `${id}-address`,
      type: "url",
      autocomplete: "off",
      spellcheck: "false",
    }),
    key: h("input", { id: `${id}-key`, type: "password", autocomplete: "new-password" }),
    model: h("input", {
      id: `${id}-model`,
      list: `${id}-models`,
      autocomplete: "off",
      spellcheck: "false",
    }),
    window: h("input", { id: `${id}-window`, inputmode: "numeric", placeholder: "32768" }),
  };
  const models = h("datalist", { id: `${id}-models` });
  const keyHint = h("p", { class: "ca-field__hint" });
  const outcome = h("div", { class: "ca-test", role: "status" });

  const keyIsKept = () =>
    Boolean(provider?.has_key && fields.address.value.trim() === provider.base_url);

  const hint = () => {
    const moved = provider?.has_key && !keyIsKept();
    keyHint.textContent = moved ? t("settings.key.moved") : "";
    fields.key.placeholder = keyIsKept() ? t("settings.key.saved") : "";
  };

  /** @returns {ProviderInput} */
  const input = () => ({
    base_url: fields.address.value.trim(),
    model: fields.model.value.trim(),
    ...(fields.window.value.trim() ? { context_window: Number(fields.window.value.trim()) } : {}),
    ...(fields.key.value ? { api_key: fields.key.value } : {}),
  });

  /** @param {(name: string, input: ProviderInput) => Promise<unknown>} work */
  const withInput = async (work) => {
    const name = fields.name.value.trim();
    const problem = providerProblem({ name, ...input() });
    if (problem) {
      outcome.replaceChildren(failedLine(problem));
      return;
    }
    try {
      await work(name, input());
    } catch (error) {
      outcome.replaceChildren(failedLine(error));
    }
  };

  const test = () =>
    withInput(async (name, entered) => {
      outcome.replaceChildren(h("p", { class: "ca-quiet" }, t("settings.testing")));
      // The saved key is not in the browser: an unchanged provider is tested by its name.
      const unchanged =
        provider && keyIsKept() && !entered.api_key && entered.model === provider.model;
      const subject = unchanged ? { name } : entered;
      outcome.replaceChildren(...(await outcomeOf(() => panel.testProvider(subject))));
    });

  const presets = PRESETS.map((preset) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-chip",
        onclick: () => {
          fields.name.value = preset.name;
          fields.address.value = preset.url;
          hint();
          (preset.key ? fields.key : fields.model).focus();
        },
      },
      preset.name,
    ),
  );

  const initial = provider ?? prefill;
  fields.name.value = initial?.name ?? "";
  fields.address.value = initial?.base_url ?? "";
  fields.model.value = initial?.model ?? "";
  fields.window.value = String(provider?.context_window ?? "");
  fields.address.addEventListener("input", hint);
  hint();
  if (provider) void fillModels(provider.name, models, panel);

  const title = provider ? t("settings.change", { name: provider.name }) : t("settings.new");
  const form = h(
    "form",
    { class: "ca-form", "aria-label": title, novalidate: true },
    h("h4", {}, title),
    provider === null &&
      h(
        "div",
        { class: "ca-presets", role: "group", "aria-label": t("settings.preset") },
        ...presets,
      ),
    field(t("settings.name"), fields.name),
    field(
      t("settings.address"),
      fields.address,
      h("p", { class: "ca-field__hint" }, t("settings.address.hint")),
    ),
    field(t("settings.key"), fields.key, keyHint),
    field(t("settings.model"), fields.model, models),
    field(
      t("settings.window"),
      fields.window,
      h("p", { class: "ca-field__hint" }, t("settings.window.hint")),
    ),
    h(
      "div",
      { class: "ca-actions" },
      h("button", { type: "submit", class: "ca-button ca-button--primary" }, t("settings.save")),
      button(t("settings.test"), "plain", test),
      button(t("settings.cancel"), "quiet", () => panel.editProvider(null)),
      provider &&
        button(
          t("settings.remove"),
          "quiet",
          () => withInput(() => panel.removeProvider(provider.name)),
          {
            class: "ca-button ca-button--quiet ca-button--danger",
          },
        ),
    ),
    outcome,
  );
  const start = first === "key" ? fields.key : provider ? fields.address : fields.name;
  requestAnimationFrame(() => start.focus());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void withInput((name, entered) => panel.saveProvider(name, entered));
  });
  return form;
}

/** @param {string} label @param {HTMLInputElement} input @param {...HTMLElement} more */
const field = (label, input, ...more) =>
  h("div", { class: "ca-field" }, h("label", { for: input.id }, label), input, ...more);

/** @param {string} name @param {HTMLDataListElement} list @param {Panel} panel */
async function fillModels(name, list, panel) {
  try {
    const models = await panel.models(name);
    list.replaceChildren(...models.map((model) => h("option", { value: model.id })));
  } catch {
    // Without the list the model can still be typed; Test shows the error.
  }
}
