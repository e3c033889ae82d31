// @ts-check
/**
 * A code block: language, copy button, and the code in parts, each of which can grow without a new
 * element. Long code is one part after the other, so that no part takes long to lay out.
 */

import { t } from "../strings.js";
import { copyButton, h, setText } from "./dom.js";

/** Parts from which on the lines of the code are wrapped, and laid out when they come into view. */
const LONG = 24;

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
  const name = h("span", {}, language || t("markdown.code"));
  const code = h("code");
  const copy = copyButton(
    t("markdown.copy"),
    t("markdown.copied"),
    () => Array.from(code.childNodes, (part) => part.textContent).join(""),
    { words: true },
  );
  const element = h(
    "div",
    { class: "ca-code" },
    h("div", { class: "ca-code__head" }, name, copy),
    h("pre", { tabindex: "0" }, code),
  );

  const addPart = () => {
    const text = document.createTextNode("");
    const part = h("span", { class: "ca-code__part" }, text);
    code.append(part);
    element.classList.toggle("ca-code--long", code.childElementCount >= LONG);
    return {
      element: part,
      /** @param {string} next */
      update(next) {
        if (next === text.data) return;
        if (next.startsWith(text.data)) text.appendData(next.slice(text.data.length));
        else text.data = next;
      },
    };
  };

  const first = addPart();
  return {
    element,
    addPart,
    update(next, now) {
      setText(name, now || t("markdown.code"));
      first.update(next);
    },
  };
}
