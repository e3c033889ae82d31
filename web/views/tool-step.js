// @ts-check
/**
 * A tool call: one line that unfolds to arguments and result. A call that waits for approval is
 * shown by `approval.js` instead.
 */

import { toolName } from "../state/messages.js";
import { t, textFor } from "../strings.js";
import { duration, pretty } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h, icon, present, setText } from "./dom.js";
import { createLongText } from "./long-text.js";

/** @typedef {import("../types.js").ToolPart} ToolPart */
/** @typedef {{handle: string, role?: string, text: string}} Passage of the chat, in a
 *   tool's result */

/** Characters of arguments or result shown before "Show all". */
const SHOWN = 6000;
/** Most passages of a result that are shown. */
const PASSAGES = 50;
/** Most characters of the subject beside the title. */
const SUBJECT = 40;

/**
 * @typedef {object} StepState
 * @property {string} mark a key of `ICONS`
 * @property {Key} words
 * @property {string} look
 * @property {Key} [why] shown in the details; the words of such a step stand beside its name
 */

/** @typedef {import("../strings.js").Key} Key */

/** @type {Record<string, StepState>} */
const STATES = {
  running: { mark: "arc", words: "tool.running", look: "running" },
  done: { mark: "check", words: "tool.done", look: "done" },
  failed: { mark: "cross", words: "tool.failed", look: "failed" },
  denied: { mark: "hand", words: "tool.denied", look: "denied", why: "tool.denied.why" },
  overtaken: { mark: "hand", words: "tool.overtaken", look: "denied", why: "tool.overtaken.why" },
  stopped: { mark: "hand", words: "tool.stopped", look: "denied", why: "tool.stopped.why" },
};

/**
 * @param {ToolPart} part
 * @param {boolean} works whether the turn of the call goes on
 * @returns {StepState} a step that the user declined is told from one that nobody decided about
 */
export function stateOf({ state, approval }, works) {
  if (state === "output-available") return STATES.done;
  if (state === "output-error") return STATES.failed;
  const declined = approval?.approved === false;
  if (state === "output-denied") return declined ? STATES.denied : STATES.overtaken;
  if (state === "approval-responded") return declined ? STATES.denied : STATES.running;
  return works ? STATES.running : STATES.stopped;
}

/** @param {import("./drawing.js").Draw} later */
export function createToolStep(later) {
  const mark = h("span", { class: "ca-step__mark" });
  const title = h("span", { class: "ca-step__title" });
  const subject = h("span", { class: "ca-step__subject" });
  const words = h("span", { class: "ca-hidden-text" });
  const ended = h("span", { class: "ca-step__ended" });
  const time = h("span", { class: "ca-step__time" });
  const body = h("div", { class: "ca-step__body" });
  const element = h(
    "details",
    { class: "ca-step", ontoggle: () => draw() },
    h("summary", {}, mark, title, subject, words, ended, time),
    body,
  );
  /** @type {ToolPart | null} */
  let part = null;
  /** @type {ToolPart | null} */
  let drawn = null;
  /** @type {StepState | null} */
  let known = null;

  const draw = () => {
    if (!element.open || !part || drawn === part) return;
    drawn = part;
    const why = known?.why && h("p", { class: "ca-quiet" }, t(known.why));
    body.replaceChildren(...present([why, ...details(part, later)]));
  };

  return {
    element,
    /** @param {ToolPart} next @param {{works: boolean, took: number | undefined}} facts */
    update(next, { works, took }) {
      part = next;
      const state = stateOf(next, works);
      if (known !== state) {
        element.classList.remove(`ca-step--${known?.look}`);
        element.classList.add(`ca-step--${state.look}`);
        mark.replaceChildren(icon(state.mark), icon("chevron", "ca-fold"));
        known = state;
        drawn = null;
      }
      setText(words, state.why ? "" : ` (${t(state.words)})`);
      setText(ended, state.why ? t(state.words) : "");
      setText(title, nameOf(next.title) || humanName(nameOf(toolName(next))));
      setText(subject, subjectOf(next.input));
      setText(time, took === undefined ? "" : duration(took));
      draw();
    },
  };
}

/** @param {string} name @returns {string} "getNodeInfo" as "Get node info" */
function humanName(name) {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Arguments that can be the subject of a call, the preferred one first. */
const SUBJECTS = ["name", "slug", "query", "type", "topic", "title", "id"];

/** @param {unknown} input @returns {string} a short argument that names its subject; else "" */
function subjectOf(input) {
  // Handles mean nothing to the user; they are listed in the details.
  if (typeof input !== "object" || input === null || "handle" in input) return "";
  const values = /** @type {Record<string, unknown>} */ (input);
  const named = SUBJECTS.map((key) => values[key]);
  const first = [...named, ...Object.values(values)].find(
    (value) => typeof value === "string" && value.trim(),
  );
  const text = String(first ?? "");
  return text.length <= SUBJECT && !text.includes("\n") ? nameOf(text) : "";
}

/** @typedef {import("./drawing.js").Draw} Draw */

/** @param {ToolPart} part @param {Draw} draw */
function details(part, draw) {
  const input = pretty(part.input ?? part.rawInput);
  const section = sectionFor(draw);
  return [
    section(t("tool.arguments"), input === "" || input === "{}" ? t("tool.none") : input),
    ...(part.output === undefined ? [] : results(part.output, section)),
    part.errorText !== undefined && section(t("tool.error"), String(part.errorText)),
    h("p", { class: "ca-quiet" }, t("tool.name", { name: nameOf(toolName(part)) })),
  ];
}

/** @param {unknown} output @param {Section} section @returns {HTMLElement[]} */
function results(output, section) {
  const passages = passagesOf(output);
  if (!passages) return [section(t("tool.result"), resultText(output))];
  if (!passages.length) return [section(t("tool.result"), t("tool.passages.none"))];
  return passages.slice(0, PASSAGES).map(({ handle, role, text }) => {
    const who = textFor(`tool.role.${role}`, "tool.result");
    return section(t("tool.passage", { role: who, handle: nameOf(handle) }), pretty(text));
  });
}

/**
 * @param {unknown} output
 * @returns {Passage[] | null} passages of a search or recall; null for other
 *   results
 */
function passagesOf(output) {
  const { passages, ...one } = /** @type {{passages?: unknown}} */ (Object(output));
  const found = Array.isArray(passages) ? passages : [one];
  return found.every(isPassage) ? found : null;
}

/** @param {any} value @returns {value is Passage} */
const isPassage = (value) => typeof value?.handle === "string" && typeof value.text === "string";

/** @param {unknown} output */
const resultText = (output) => pretty(output) || t("tool.none");

/** @typedef {(title: string, text: string) => HTMLElement} Section */

/** @param {Draw} draw @returns {Section} */
const sectionFor = (draw) => (title, text) => {
  const content = h("pre", { tabindex: "0" });
  const shown = createLongText(draw, content);
  shown.update(text.slice(0, SHOWN));
  const element = h(
    "section",
    { class: "ca-step__section" },
    h("div", { class: "ca-step__label" }, title),
    content,
  );
  if (text.length > SHOWN) {
    const more = h("button", { type: "button", class: "ca-link" }, t("tool.more"));
    more.addEventListener("click", () => {
      shown.update(text);
      more.remove();
    });
    element.append(more);
  }
  return element;
};
