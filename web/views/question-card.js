// @ts-check
/**
 * A question of the model (`askUser`): options to choose by click or by key (1 to 8, arrows, Enter),
 * and a text box for another answer. When it is answered, the card says what was chosen.
 *
 * The law: no key answers by accident. A question takes the focus of the empty text box, where a person
 * may just begin "2 times larger": at first a digit goes into the text box, as all other keys do.
 */

import { answerIn } from "../state/waiting.js";
import { t } from "../strings.js";
import { number } from "../text/format.js";
import { seen } from "../text/plain.js";
import { createAnswerBox, takeFocus } from "./answer-box.js";
import { button, h, icon, present } from "./dom.js";
import { isComposing } from "./isolation.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {import("../state/waiting.js").Answer} Answer */
/** @typedef {import("../state/waiting.js").Question} Question */
/** @typedef {(part: ToolPart, answer: Answer) => unknown} AnswerTo */

/** Most characters of a question and of an option that are shown. */
const LONGEST = 2000;
/** Milliseconds after a question took the focus in which a digit is not meant for it. */
const UNREAD = 1000;
/** The class of a card in this time. */
const NEW = "ca-card--new";

/** @param {string} text */
const words = (text) => seen(text.slice(0, LONGEST));

/**
 * @param {Question} question
 * @param {AnswerTo} answer
 * @returns {{element: HTMLElement, update(part: ToolPart, facts: {live: boolean, works: boolean}): void}}
 */
export function createQuestionCard(question, answer) {
  const body = h("div", { class: "ca-card__body" });
  const element = h(
    "section",
    {
      class: "ca-card ca-card--question",
      role: "group",
      "aria-label": t("question.label", { question: words(question.question) }),
      tabindex: "-1",
    },
    h(
      "h3",
      { class: "ca-card__title" },
      icon("question"),
      h("span", { dir: "auto" }, words(question.question)),
    ),
    body,
  );
  /** @type {ToolPart | null} */
  let part = null;
  const form = createForm(question, (given) => part && answer(part, given));
  let drawn = "";
  let wasLive = true;

  element.addEventListener("keydown", (event) => {
    const isUnread = event.target === element && element.classList.contains(NEW);
    if (!(isUnread && /^\d$/.test(event.key))) form.key(event);
  });

  return {
    element,
    update(next, { live, works }) {
      part = next;
      const isOpen = next.state === "input-available";
      const state = isOpen ? "open" : JSON.stringify(next.output ?? null);
      if (state !== drawn) {
        drawn = state;
        element.classList.toggle("ca-card--ask", isOpen);
        body.replaceChildren(...(isOpen ? form.elements : answered(question, next)));
      }
      if (!isOpen) return;
      // Until the turn has paused, the server takes no answer.
      const waits = live || works;
      form.disable(waits);
      if (wasLive && !waits && form.mayFocus()) {
        element.classList.add(NEW);
        setTimeout(() => element.classList.remove(NEW), UNREAD);
        takeFocus(element);
      }
      wasLive = waits;
    },
  };
}

/** @param {Question} question @param {(answer: Answer) => unknown} send */
function createForm({ question, options, multiple, other }, send) {
  /** @type {Set<string>} */
  const chosen = new Set();
  let disabled = false;
  let wasDisabled = false;

  const rows = options.map((option, index) => choice(option, index, multiple, () => pick(index)));
  const box = createAnswerBox(
    t(options.length ? "question.other" : "question.text"),
    t("question.text.label", { question: words(question) }),
    (text) => give(text),
  );
  const done = button(t("question.send"), "primary", () => give(box.take()));
  const group = h(
    "div",
    {
      class: "ca-options",
      role: multiple ? "group" : "radiogroup",
      "aria-label": t("question.options"),
    },
    ...rows,
  );

  /** @param {string} text */
  const give = (text) => {
    const choices = options.map(({ label }) => label).filter((label) => chosen.has(label));
    if (disabled || !(choices.length || text)) return;
    void send({ ...(choices.length ? { choices } : {}), ...(text ? { text } : {}) });
  };

  /** @param {number} index */
  const pick = (index) => {
    const { label } = options[index];
    if (disabled) return;
    if (!multiple) {
      void send({ choices: [label] });
      return;
    }
    if (!chosen.delete(label)) chosen.add(label);
    rows[index].setAttribute("aria-checked", String(chosen.has(label)));
    setStop(index);
    drawDone();
  };

  const drawDone = () => {
    done.disabled = disabled || !(chosen.size || box.area.value.trim());
  };
  box.area.addEventListener("input", drawDone);

  /** One option is a tab stop. @param {number} index */
  const setStop = (index) => rows.forEach((row, at) => (row.tabIndex = at === index ? 0 : -1));
  setStop(0);
  group.addEventListener("focusin", ({ target }) => {
    const at = rows.indexOf(/** @type {HTMLButtonElement} */ (target));
    if (at >= 0) setStop(at);
  });

  /** @param {KeyboardEvent} event */
  const key = (event) => {
    if (isComposing(event) || event.ctrlKey || event.metaKey || event.altKey || disabled) return;
    if (event.target === box.area || !rows.length) return;
    const at = rows.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
    const moved = MOVES[event.key];
    const digit = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    if (moved) rows[(at < 0 && moved < 0 ? rows.length : at + moved + rows.length) % rows.length].focus();
    else if (digit && digit <= rows.length) {
      rows[digit - 1].focus();
      pick(digit - 1);
    } else if (event.key === "Enter" && multiple && at >= 0) give(box.take());
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return {
    elements: present([
      rows.length > 0 && group,
      other && box.element,
      multiple && h("div", { class: "ca-actions" }, done),
    ]),
    key,
    mayFocus: () => rows.length > 0,
    /** @param {boolean} value */
    disable(value) {
      disabled = value;
      drawDone();
      if (value === wasDisabled) return;
      wasDisabled = value;
      for (const row of rows) row.disabled = value;
      box.disable(value);
    },
  };
}

/** @type {Record<string, 1 | -1>} */
const MOVES = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/**
 * @param {import("../state/waiting.js").Option} option
 * @param {number} index
 * @param {boolean} multiple
 * @param {() => void} onclick
 */
const choice = ({ label, description }, index, multiple, onclick) =>
  h(
    "button",
    {
      type: "button",
      class: "ca-option",
      role: multiple ? "checkbox" : "radio",
      "aria-checked": "false",
      "aria-keyshortcuts": String(index + 1),
      onclick,
    },
    h("span", { class: "ca-option__key", "aria-hidden": "true" }, multiple && icon("check"), h("span", {}, number(index + 1))),
    h(
      "span",
      { class: "ca-option__words" },
      h("span", { dir: "auto" }, words(label)),
      description && h("span", { class: "ca-quiet", dir: "auto" }, words(description)),
    ),
  );

/**
 * @param {Question} question
 * @param {ToolPart} part
 * @returns {HTMLElement[]} what was chosen and said
 */
function answered({ options }, part) {
  const { choices, text } = answerIn(part.output);
  if (!choices.length && !text) return [h("p", { class: "ca-quiet" }, t("question.none"))];
  const known = options.filter(({ label }) => choices.includes(label));
  const lines = known.map(({ label }) => chosenLine(words(label)));
  return text ? [...lines, chosenLine(words(text))] : lines;
}

/** @param {string} text */
const chosenLine = (text) =>
  h(
    "p",
    { class: "ca-chosen" },
    icon("check"),
    h("span", { class: "ca-hidden-text" }, t("question.chosen")),
    h("span", { dir: "auto" }, text),
  );
