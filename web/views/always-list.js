// @ts-check
/** "Always true": the rules in their order and the preferences, which every request carries. */

import { t } from "../strings.js";
import { number } from "../text/format.js";
import { nameOf, seen } from "../text/plain.js";
import { button, h, iconButton, place, setText, show } from "./dom.js";
import { createEditBox } from "./edit-box.js";
import { isComposing } from "./isolation.js";

/** @typedef {import("../types.js").Preference} Preference */
/** @typedef {import("../types.js").Rule} Rule */
/** @typedef {(button: HTMLElement, items: import("./menu.js").MenuItem[]) => void} OpenMenu */

/**
 * @typedef {object} AlwaysActions
 * @property {(text: string) => Promise<boolean>} addRule
 * @property {(id: string, text: string) => Promise<boolean>} changeRule
 * @property {(id: string, step: -1 | 1) => Promise<unknown>} moveRule
 * @property {(id: string) => Promise<unknown>} deleteRule
 * @property {(key: string, value: string) => Promise<boolean>} setPreference
 * @property {(key: string) => Promise<unknown>} deletePreference
 * @property {OpenMenu} menu
 */

/** Most characters of a rule or a value; the server has the same limit. */
const MOST = 2000;
/** A preference's name; the server has the same rule. */
const NAME = /^[\p{L}\p{N}_.-](?:[\p{L}\p{N}_ .-]{0,62}[\p{L}\p{N}_.-])?$/u;

/** @param {AlwaysActions} actions */
export function createAlwaysList(actions) {
  const empty = h("p", { class: "ca-quiet" }, t("always.empty"));
  const rules = h("ol", { class: "ca-statements", "aria-label": t("rule.list") });
  const preferences = h("ul", { class: "ca-statements", "aria-label": t("preference.list") });
  const said = h("p", { class: "ca-hidden-text", role: "status" });
  const rule = createRuleField(actions.addRule);
  const preference = createPreferenceForm(actions.setPreference);
  const element = h(
    "section",
    { class: "ca-always", "aria-label": t("always.title") },
    h("h3", { class: "ca-caption" }, t("always.title")),
    h("p", { class: "ca-quiet" }, t("always.about")),
    empty,
    rules,
    rule.element,
    preferences,
    preference.element,
    said,
  );
  /** @type {Map<string, ReturnType<typeof createRow>>} by the rule's id, or the preference's key */
  const rows = new Map();
  /** @type {readonly Rule[]} */
  let listed = [];

  /** @param {string} id @param {-1 | 1} step */
  const move = async (id, step) => {
    const before = listed.findIndex((one) => one.id === id);
    await actions.moveRule(id, step);
    const values = { place: number(before + step + 1), count: number(listed.length) };
    setText(said, t("rule.moved", values));
  };

  /** Deletes a row; the focus moves to the next or previous one. @param {HTMLElement} row
   * @param {() => unknown} run */
  const remove = (row, run) => {
    const all = [...element.querySelectorAll(".ca-statement")];
    const at = all.indexOf(row);
    const next = all[at + 1] ?? all[at - 1];
    /** @type {HTMLElement} */ (next?.querySelector("button") ?? rule.field).focus();
    run();
  };

  /** @param {Rule} each @param {number} at */
  const ruleRow = (each, at) => {
    const key = `rule ${each.id}`;
    const row = rows.get(key) ?? createRow(actions.menu);
    rows.set(key, row);
    row.update({
      name: "",
      text: each.text,
      label: t("rule.options", { text: nameOf(each.text, 60) }),
      edit: t("rule.edit"),
      save: (text) => actions.changeRule(each.id, text),
      items: [
        ...(at > 0 ? [{ label: t("rule.up"), run: () => void move(each.id, -1) }] : []),
        ...(at < listed.length - 1
          ? [{ label: t("rule.down"), run: () => void move(each.id, 1) }]
          : []),
      ],
      remove: () => remove(row.element, () => actions.deleteRule(each.id)),
    });
    return row.element;
  };

  /** @param {Preference} each */
  const preferenceRow = ({ key, value }) => {
    const row = rows.get(`key ${key}`) ?? createRow(actions.menu);
    rows.set(`key ${key}`, row);
    row.update({
      name: key,
      text: value,
      label: t("preference.options", { key: nameOf(key) }),
      edit: t("preference.edit", { key: nameOf(key) }),
      save: (text) => actions.setPreference(key, text),
      items: [],
      remove: () => remove(row.element, () => actions.deletePreference(key)),
    });
    return row.element;
  };

  return {
    element,
    /** @param {Pick<import("../types.js").MemoryState, "rules" | "preferences">} memory */
    update({ rules: given, preferences: set }) {
      listed = given ?? [];
      const keys = new Set([
        ...listed.map(({ id }) => `rule ${id}`),
        ...(set ?? []).map(({ key }) => `key ${key}`),
      ]);
      for (const key of [...rows.keys()]) if (!keys.has(key)) rows.delete(key);
      place(rules, listed.map(ruleRow));
      const sorted = (set ?? []).toSorted((one, other) => one.key.localeCompare(other.key));
      place(preferences, sorted.map(preferenceRow));
      show(rules, listed.length > 0);
      show(preferences, sorted.length > 0);
      show(empty, given !== null && !listed.length && !sorted.length);
    },
  };
}

/**
 * @typedef {object} RowFacts
 * @property {string} name of a preference; "" for a rule
 * @property {string} text
 * @property {string} label of the button that opens the menu
 * @property {string} edit label of the text box
 * @property {(text: string) => Promise<boolean>} save
 * @property {readonly import("./menu.js").MenuItem[]} items
 * @property {() => void} remove
 */

/** @param {OpenMenu} menu */
function createRow(menu) {
  const name = h("span", { class: "ca-statement__name", dir: "auto" });
  const text = h("span", { class: "ca-statement__text", dir: "auto" });
  const options = iconButton("more", "", {
    class: "ca-icon-button--small",
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    onclick: () => menu(options, items()),
  });
  const shown = h("div", { class: "ca-statement__shown" }, name, text, options);
  const element = h("li", { class: "ca-statement" }, shown);
  /** @type {RowFacts | null} */
  let facts = null;

  const items = () =>
    facts
      ? [
          { label: t("memory.change"), run: edit },
          ...facts.items,
          { label: t("memory.delete"), run: facts.remove, danger: true },
        ]
      : [];

  const edit = () => {
    if (!facts) return;
    const box = createEditBox({
      label: facts.edit,
      value: facts.text,
      most: MOST,
      save: facts.save,
      end() {
        if (!box.element.isConnected) return;
        box.element.replaceWith(shown);
        options.focus();
      },
    });
    shown.replaceWith(box.element);
    box.focus();
  };

  return {
    element,
    /** @param {RowFacts} next */
    update(next) {
      facts = next;
      setText(name, nameOf(next.name));
      show(name, next.name !== "");
      setText(text, seen(next.text));
      options.setAttribute("aria-label", next.label);
      options.title = next.label;
    },
  };
}

/** @param {(text: string) => Promise<boolean>} add */
function createRuleField(add) {
  const field = h("textarea", {
    class: "ca-edit__text",
    rows: "1",
    maxlength: MOST,
    placeholder: t("rule.new"),
    "aria-label": t("rule.new.label"),
    oninput: () => show(go, field.value.trim() !== ""),
  });
  const go = button(t("rule.add"), "primary", () => void submit(), {
    class: "ca-button ca-button--primary ca-button--small",
    hidden: true,
  });
  const submit = async () => {
    const text = field.value.trim();
    if (!text || go.disabled) return;
    go.disabled = true;
    if (await add(text)) field.value = "";
    go.disabled = false;
    field.focus();
    show(go, field.value !== "");
  };
  field.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    } else if (event.key === "Escape" && field.value) {
      event.stopPropagation();
      field.value = "";
      show(go, false);
    }
  });
  return { element: h("div", { class: "ca-add-box" }, field, go), field };
}

/** @param {(key: string, value: string) => Promise<boolean>} set */
function createPreferenceForm(set) {
  const plain = { autocomplete: "off", spellcheck: "false" };
  const key = h("input", { ...plain, placeholder: t("preference.key.example") });
  const value = h("input", { ...plain, maxlength: MOST, placeholder: t("preference.value.example") });
  const problem = h("p", { class: "ca-problem", role: "alert", hidden: true }, t("preference.wrong"));
  const open = h(
    "button",
    { type: "button", class: "ca-link", onclick: () => toggle(true) },
    t("preference.new"),
  );
  const form = h(
    "div",
    { class: "ca-pair", role: "group", "aria-label": t("preference.new"), hidden: true },
    h("label", {}, h("span", {}, t("preference.key")), key),
    h("label", {}, h("span", {}, t("preference.value")), value),
    button(t("rule.add"), "primary", () => void submit()),
    button(t("memory.cancel"), "quiet", () => toggle(false)),
    problem,
  );
  /** @param {boolean} wanted */
  const toggle = (wanted) => {
    show(form, wanted);
    show(open, !wanted);
    show(problem, false);
    key.value = value.value = "";
    (wanted ? key : open).focus();
  };
  const submit = async () => {
    const named = key.value.trim();
    const right = NAME.test(named);
    show(problem, !right);
    key.setAttribute("aria-invalid", String(!right));
    if (!right) key.focus();
    else if (!value.value.trim()) value.focus();
    else if (await set(named, value.value.trim())) toggle(false);
  };
  form.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) {
      event.preventDefault();
      void submit();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      toggle(false);
    }
  });
  return { element: h("div", { class: "ca-new-preference" }, open, form) };
}
