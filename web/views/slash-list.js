// @ts-check
/**
 * The list of commands and skills above the text box. The focus stays in the text box, whose
 * `aria-activedescendant` names the active option.
 */

import { t } from "../strings.js";
import { slashOptions } from "../text/slash.js";
import { h, icon, show } from "./dom.js";
import { isComposing } from "./isolation.js";

/** @typedef {import("../text/slash.js").SlashOption} SlashOption */
/** @typedef {import("../types.js").CommandEntry} CommandEntry */
/** @typedef {import("../types.js").SkillEntry} SkillEntry */

let lists = 0;

/**
 * @param {HTMLTextAreaElement} textBox
 * @param {(option: SlashOption, run: boolean) => void} onChoose `run`: run the option, not
 *   only complete the text
 */
export function createSlashList(textBox, onChoose) {
  lists += 1;
  const id = `ca-slash-${lists}`;
  const element = h("div", {
    class: "ca-slash",
    id,
    role: "listbox",
    "aria-label": t("slash.label"),
    tabindex: "0",
    hidden: true,
  });
  /** @type {SlashOption[]} */
  let options = [];
  let active = 0;

  textBox.setAttribute("aria-autocomplete", "list");
  textBox.setAttribute("aria-haspopup", "listbox");
  textBox.setAttribute("aria-controls", id);

  const isOpen = () => !element.hidden;

  /** @param {number} index */
  const point = (index) => {
    active = (index + options.length) % options.length;
    [...element.children].forEach((row, at) =>
      row.setAttribute("aria-selected", String(at === active)),
    );
    const row = element.children[active];
    textBox.setAttribute("aria-activedescendant", row.id);
    row.scrollIntoView({ block: "nearest" });
  };

  const close = () => {
    options = [];
    show(element, false);
    textBox.removeAttribute("aria-activedescendant");
  };

  /** @param {boolean} run */
  const choose = (run) => {
    const option = options[active];
    close();
    onChoose(option, run);
  };

  /** @param {SlashOption} option @param {number} index */
  const row = (option, index) =>
    h(
      "div",
      {
        class: "ca-slash__row",
        id: `${id}-${index}`,
        role: "option",
        "aria-selected": "false",
        // Keeps the focus in the text box.
        onmousedown: (/** @type {Event} */ event) => event.preventDefault(),
        onmousemove: () => index !== active && point(index),
        onclick: () => {
          active = index;
          choose(true);
        },
      },
      icon(/^\/skill ./.test(option.text) ? "book" : "slash"),
      h(
        "span",
        { class: "ca-slash__text" },
        option.text.trim(),
        h("span", { class: "ca-quiet" }, ` ${option.detail}`),
      ),
      option.yours && h("span", { class: "ca-quiet" }, t("slash.yours")),
    );

  return {
    element,
    close,
    /**
     * @param {string} typed
     * @param {readonly SkillEntry[]} skills
     * @param {readonly CommandEntry[] | null} commands
     */
    update(typed, skills, commands) {
      options = slashOptions(typed, skills, commands);
      if (!options.length) {
        close();
        return;
      }
      element.replaceChildren(...options.map(row));
      show(element, true);
      point(0);
    },
    /** @param {KeyboardEvent} event @returns {boolean} whether the list used the key */
    key(event) {
      if (!isOpen() || isComposing(event)) return false;
      if (event.key === "ArrowDown") point(active + 1);
      else if (event.key === "ArrowUp") point(active - 1);
      else if (event.key === "Enter" && !event.shiftKey) choose(true);
      else if (event.key === "Tab" && !event.shiftKey) choose(false);
      else if (event.key === "Escape") close();
      else return false;
      event.preventDefault();
      return true;
    },
  };
}
