// @ts-check
/**
 * The form to add or change a provider. A saved key is never shown. When address and key are there,
 * the models of the server are listed below the field; what is wrong is said at its field.
 */

import { ApiError } from "../services/api.js";
import { t } from "../strings.js";
import { errorText } from "../text/format.js";
import { abilitiesOf, namedAfter, PRESETS, providerProblem, usableAddress } from "../text/provider.js";
import { button, h, present, show } from "./dom.js";
import { isComposing } from "./isolation.js";
import { failedLine, outcomeOf } from "./test-outcome.js";

/** @typedef {import("../types.js").ModelEntry} ModelEntry */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderField} ProviderField */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */
/** @typedef {import("../state/panel.js").Panel} Panel */

/** Milliseconds after the last key before the models are looked for with it. */
const PAUSE = 500;
/** Most models of the list; more are found by typing. */
const MOST = 60;
/** The field that an error of the server is about. */
const FIELD_OF = /** @type {Record<string, ProviderField>} */ ({
  key_refused: "key",
  unreachable: "address",
  timeout: "address",
  garbage: "address",
});

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
  const plain = { autocomplete: "off", spellcheck: "false" };
  const fields = {
    address: h("input", { id: `${id}-address`, type: "url", ...plain }),
    key: h("input", { id: `${id}-key`, type: "password", autocomplete: "new-password" }),
    model: h("input", { id: `${id}-model`, ...plain }),
    name: h("input", { id: `${id}-name`, autocomplete: "off", readonly: provider !== null }),
    window: h("input", { id: `${id}-window`, inputmode: "numeric", placeholder: "32768" }),
  };
  const vision = h(
    "select",
    { id: `${id}-vision` },
    h("option", { value: "" }, t("settings.vision.unknown")),
    h("option", { value: "true" }, t("settings.vision.yes")),
    h("option", { value: "false" }, t("settings.vision.no")),
  );
  const keyHint = h("p", { class: "ca-field__hint" });
  const outcome = h("div", { class: "ca-test", role: "status" });
  const rows = /** @type {Record<ProviderField, ReturnType<typeof createField>>} */ ({
    address: createField(t("settings.address"), fields.address, t("settings.address.hint")),
    key: createField(t("settings.key"), fields.key, keyHint),
    model: createField(t("settings.model"), fields.model),
    name: createField(t("settings.name"), fields.name),
    window: createField(t("settings.window"), fields.window, t("settings.window.hint")),
  });
  const models = createModelList(fields.model, () => rows.model.complain(""));
  rows.model.element.append(models.element);

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
    ...(vision.value ? { vision: vision.value === "true" } : {}),
    ...(fields.key.value ? { api_key: fields.key.value } : {}),
  });

  /** @param {string} text @param {ProviderField | undefined} at */
  const complain = (text, at) => {
    // What is wrong with another field, such as a key that was refused, stays until it is changed.
    if (at) rows[at].complain(text);
    outcome.replaceChildren(...(at ? [] : [failedLine(text)]));
    if (at) fields[at].focus();
  };

  /** @param {(name: string, input: ProviderInput) => Promise<unknown>} work */
  const withInput = async (work) => {
    const name = fields.name.value.trim();
    const problem = providerProblem({ name, ...input() });
    if (problem) {
      complain(problem.text, problem.field);
      return;
    }
    complainAboutNothing();
    try {
      await work(name, input());
    } catch (error) {
      complain(errorText(error), undefined);
    }
  };

  const complainAboutNothing = () => {
    for (const row of Object.values(rows)) row.complain("");
    outcome.replaceChildren();
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

  /** What was asked last, so that nothing is asked twice. */
  let asked = "";
  let timer = 0;

  /** Lists the models of the server, if there is an address. A key is sent to a whole address only. */
  const look = async () => {
    clearTimeout(timer);
    const address = fields.address.value.trim();
    const key = fields.key.value;
    const wanted = JSON.stringify([address, key]);
    if (wanted === asked || !usableAddress(address)) return;
    asked = wanted;
    models.say(t("settings.models.looking"));
    try {
      const found =
        provider && keyIsKept() && !key
          ? await panel.models(provider.name)
          : await panel.modelsOf({ base_url: address, ...(key ? { api_key: key } : {}) });
      if (wanted !== asked) return;
      for (const at of /** @type {const} */ (["address", "key"])) rows[at].complain("");
      models.list(found);
    } catch (error) {
      if (wanted !== asked) return;
      models.list([]);
      models.say(t("settings.models.later"));
      const at = error instanceof ApiError ? FIELD_OF[error.code] : undefined;
      // Before a key is entered, a server that wants one is nothing to complain about.
      if (at === "key" && !key) return;
      rows[at ?? "model"].complain(errorText(error));
    }
  };

  /** The name is the server's, until the user writes another one. */
  let named = Boolean(provider ?? prefill);
  const nameIt = () => {
    if (!named) fields.name.value = namedAfter(fields.address.value, panel.get().settings);
  };
  fields.name.addEventListener("input", () => (named = fields.name.value !== ""));

  const presets = PRESETS.map((preset) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-chip",
        onclick: () => {
          fields.name.value = preset.name;
          named = true;
          fields.address.value = preset.url;
          complainAboutNothing();
          hint();
          (preset.key ? fields.key : fields.model).focus();
          if (!preset.key) void look();
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
  vision.value = String(provider?.vision ?? "");
  fields.address.addEventListener("input", hint);
  fields.address.addEventListener("change", () => {
    nameIt();
    void look();
  });
  fields.key.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(look, PAUSE);
  });
  fields.key.addEventListener("change", () => void look());
  hint();
  if (provider) void look();

  const title = provider ? t("settings.change", { name: provider.name }) : t("settings.new");
  const remove =
    provider &&
    button(t("settings.remove"), "quiet", () => withInput(() => panel.removeProvider(provider.name)), {
      class: "ca-button ca-button--quiet ca-button--danger",
    });
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
    ...Object.values(rows).map((row) => row.element),
    h(
      "div",
      { class: "ca-field" },
      h("label", { for: vision.id }, t("settings.vision")),
      vision,
      h("p", { class: "ca-field__hint" }, t("settings.vision.hint")),
    ),
    h(
      "div",
      { class: "ca-form__foot" },
      outcome,
      h(
        "div",
        { class: "ca-actions" },
        h("button", { type: "submit", class: "ca-button ca-button--primary" }, t("settings.save")),
        button(t("settings.test"), "plain", test),
        button(t("settings.cancel"), "quiet", () => panel.editProvider(null)),
        remove,
      ),
    ),
  );
  requestAnimationFrame(() => (first === "key" ? fields.key : fields.address).focus());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    nameIt();
    void withInput((name, entered) => panel.saveProvider(name, entered));
  });
  return form;
}

/**
 * A field with its label, a hint, and below it what is wrong with its value.
 * @param {string} label
 * @param {HTMLInputElement} input
 * @param {string | HTMLElement} [hint]
 */
function createField(label, input, hint) {
  const problem = h("p", { class: "ca-problem", id: `${input.id}-problem`, role: "alert" });
  const words = typeof hint === "string" ? h("p", { class: "ca-field__hint" }, hint) : hint;
  const element = h(
    "div",
    { class: "ca-field" },
    h("label", { for: input.id }, label),
    input,
    problem,
    words,
  );
  /** @param {string} text "": nothing is wrong */
  const complain = (text) => {
    problem.textContent = text;
    show(problem, text !== "");
    if (!text) input.removeAttribute("aria-invalid");
    else input.setAttribute("aria-invalid", "true");
    if (text) input.setAttribute("aria-describedby", problem.id);
    else input.removeAttribute("aria-describedby");
  };
  input.addEventListener("input", () => complain(""));
  complain("");
  return { element, complain };
}

/**
 * The models of the server below the field. Typing shows those with the typed words; an empty field
 * gets the first one.
 * @param {HTMLInputElement} field
 * @param {() => void} chosen
 */
function createModelList(field, chosen) {
  const said = h("p", { class: "ca-quiet", role: "status" }, t("settings.models.later"));
  const list = h("div", { class: "ca-models__list" });
  // Its height is fixed: the buttons below must not move away under a click.
  const element = h(
    "div",
    { class: "ca-models", role: "group", "aria-label": t("settings.models") },
    said,
    list,
  );
  /** @type {readonly ModelEntry[]} */
  let models = [];
  let typed = false;

  /** @param {ModelEntry} model */
  const row = (model) =>
    h(
      "button",
      {
        type: "button",
        class: "ca-choice",
        tabindex: model.id === field.value ? "0" : "-1",
        "aria-pressed": String(model.id === field.value),
        onclick: () => {
          field.value = model.id;
          typed = false;
          chosen();
          draw();
          field.focus();
        },
      },
      h("span", { class: "ca-choice__name" }, model.id),
      h("span", { class: "ca-quiet" }, abilitiesOf(model)),
    );

  const draw = () => {
    const words = typed ? field.value.trim().toLowerCase() : "";
    const shown = models.filter((model) => model.id.toLowerCase().includes(words)).slice(0, MOST);
    list.replaceChildren(...present(shown.map(row)));
    list.querySelector('[aria-pressed="true"]')?.scrollIntoView({ block: "nearest" });
  };

  field.addEventListener("input", () => {
    typed = true;
    draw();
  });
  const move = (/** @type {KeyboardEvent} */ event) => {
    const rows = /** @type {HTMLElement[]} */ ([...list.children]);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || isComposing(event) || !rows.length) return;
    event.preventDefault();
    const at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step;
    (rows[at] ?? field).focus();
  };
  field.addEventListener("keydown", (event) => event.key === "ArrowDown" && move(event));
  list.addEventListener("keydown", move);

  return {
    element,
    /** @param {string} text */
    say(text) {
      said.textContent = text;
      show(said, text !== "");
    },
    /** @param {readonly ModelEntry[]} found */
    list(found) {
      models = found;
      this.say(found.length ? "" : t("settings.models.none"));
      list.scrollTop = 0;
      if (!field.value.trim() && found.length) {
        field.value = found[0].id;
        chosen();
      }
      typed = false;
      draw();
    },
  };
}
