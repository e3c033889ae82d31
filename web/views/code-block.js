// @ts-check
/**
 * A code block: language, buttons to wrap its lines, to put it into a prompt node and to copy it, and the code in parts, each of
 * which can grow without a new element. Long code is one part after the other, so that no part takes
 * long to colour and to lay out.
 */

import { t } from "../strings.js";
import { highlight } from "../text/highlight.js";
import { copyButton, h, setText } from "./dom.js";
import { createPutButton } from "./put-text.js";
import { createWrapButton } from "./wrapping.js";

/** Parts from which on the lines of the code are wrapped, and laid out when they come into view. */
const LONG = 24;

/** @typedef {import("../text/highlight.js").Run} Run */

/**
 * @typedef {object} CodePart
 * @property {HTMLElement} element
 * @property {(code: string) => void} update
 */

/**
 * @typedef {object} CodeBlock
 * @property {HTMLElement} element
 * @property {(code: string, language: string) => void} update changes the first part
 * @property {() => CodePart} addPart adds a part at the end
 */

/**
 * @param {string} language "" if the fence has none
 * @returns {CodeBlock}
 */
export function createCodeBlock(language) {
  const name = h("span", { class: "ca-code__language" }, language || t("markdown.code"));
  const code = h("code");
  const text = () => Array.from(code.childNodes, (part) => part.textContent).join("");
  const copy = copyButton(t("markdown.copy"), t("markdown.copied"), text, { words: true });
  const put = createPutButton(text, { words: true });
  const element = h(
    "div",
    { class: "ca-code" },
    h("div", { class: "ca-code__head" }, name, createWrapButton(), put, copy),
    h("pre", { tabindex: "0" }, code),
  );
  /** What each part leaves open for the next one. @type {string[]} */
  const left = [];

  const addPart = () => {
    const part = h("span", { class: "ca-code__part" });
    const index = code.childElementCount;
    let shown = "";
    let before = "";
    code.append(part);
    element.classList.toggle("ca-code--long", code.childElementCount >= LONG);
    return {
      element: part,
      /** @param {string} next */
      update(next) {
        const open = left[index - 1] ?? "";
        const key = `${language} ${open}`;
        if (next === shown && key === before) return;
        shown = next;
        before = key;
        const found = highlight(next, language, open);
        left[index] = found.open;
        drawRuns(part, found.runs);
      },
    };
  };

  const first = addPart();
  return {
    element,
    addPart,
    update(next, now) {
      setText(name, now || t("markdown.code"));
      language = now;
      first.update(next);
    },
  };
}

/**
 * Draws the runs; those at the beginning that are there already stay, with what is selected in them.
 * @param {HTMLElement} part
 * @param {readonly Run[]} runs
 */
function drawRuns(part, runs) {
  const nodes = part.childNodes;
  let same = 0;
  while (same < runs.length && same < nodes.length && isDrawn(nodes[same], runs[same])) same += 1;
  const last = nodes[same];
  if (same === nodes.length - 1 && same === runs.length - 1 && grows(last, runs[same])) return;
  while (nodes.length > same) part.lastChild?.remove();
  part.append(
    ...runs
      .slice(same)
      .map(({ kind, text }) =>
        kind ? h("span", { class: `ca-hl-${kind}` }, text) : document.createTextNode(text),
      ),
  );
}

/** @param {Node} node @param {Run} run */
const isDrawn = (node, { kind, text }) =>
  node.textContent === text &&
  (node instanceof Element ? node.className === `ca-hl-${kind}` : kind === "");

/** Adds to a plain text that grew. @param {Node} node @param {Run} run @returns {boolean} */
function grows(node, { kind, text }) {
  if (kind || !(node instanceof Text) || !text.startsWith(node.data)) return false;
  node.appendData(text.slice(node.data.length));
  return true;
}
