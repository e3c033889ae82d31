// @ts-check
/**
 * A code block: language, copy button, and the code, which can grow without a new element.
 */

import { t } from "../strings.js";
import { copyButton, h, setText } from "./dom.js";

/**
 * @param {string} language "" if the fence has none
 * @returns {{element: HTMLElement, update(code: string, language: string): void}}
 */
export function createCodeBlock(language) {
  const name = h("span", {}, language || t("markdown.code"));
  const text = document.createTextNode("");
  const element = h(
    "div",
    { class: "ca-code" },
    h(
      "div",
      { class: "ca-code__head" },
      name,
      copyButton(t("markdown.copy"), t("markdown.copied"), () => text.data, { words: true }),
    ),
    h("pre", { tabindex: "0" }, h("code", {}, text)),
  );
  return {
    element,
    update(code, now) {
      setText(name, now || t("markdown.code"));
      if (code === text.data) return;
      if (code.startsWith(text.data)) text.appendData(code.slice(text.data.length));
      else text.data = code;
    },
  };
}
