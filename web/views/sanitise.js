// @ts-check
/**
 * Rebuilds HTML with the elements and attributes that `text/policy.js` allows. The source is parsed
 * in an inert document, in which nothing runs or loads. Media of other servers and routes become
 * buttons.
 */

import { t } from "../strings.js";
import { nameOf } from "../text/plain.js";
import {
  attributeAllowed,
  elementFate,
  exportIn,
  linkTarget,
  mediaFate,
  ownAddress,
  spanAllowed,
} from "../text/policy.js";
import { createCodeBlock } from "./code-block.js";
import { h } from "./dom.js";
import { enlargeable } from "./lightbox.js";

/** Deepest nesting; deeper elements are left out. */
const DEPTH = 60;

/**
 * @param {string} html
 * @param {string} [base] the page's URL
 * @returns {DocumentFragment}
 */
export function sanitise(html, base = document.baseURI) {
  const inert = new DOMParser().parseFromString(html, "text/html");
  const fragment = document.createDocumentFragment();
  rebuild(inert.body, fragment, base, 0);
  return fragment;
}

/** @param {Node} source @param {Node} target @param {string} base @param {number} depth */
function rebuild(source, target, base, depth) {
  if (depth > DEPTH) return;
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE)
      target.appendChild(document.createTextNode(node.nodeValue ?? ""));
    else if (node.nodeType === Node.ELEMENT_NODE) {
      place(/** @type {Element} */ (node), target, base, depth);
    }
  }
}

/** @param {Element} source @param {Node} target @param {string} base @param {number} depth */
function place(source, target, base, depth) {
  const tag = source.localName;
  const fate = elementFate(tag);
  if (fate === "drop") return;
  const made = fate === "keep" ? special(source, tag, base) : null;
  if (made && "whole" in made) {
    if (made.whole) target.appendChild(made.whole);
    return;
  }
  if (fate === "unwrap" || made?.unwrap) {
    rebuild(source, target, base, depth + 1);
    if (made?.address) {
      target.appendChild(h("span", { class: "ca-quiet" }, ` (${nameOf(made.address)})`));
    }
    return;
  }
  const element = document.createElement(belowOurs(tag));
  for (const { name, value } of source.attributes) {
    if (!attributeAllowed(tag, name) || name === "href") continue;
    if (spanAllowed(name, value)) element.setAttribute(name, value);
  }
  for (const [name, value] of Object.entries(made?.attributes ?? {}))
    element.setAttribute(name, value);
  rebuild(source, element, base, depth + 1);
  target.appendChild(
    tag === "table" ? h("div", { class: "ca-table", tabindex: "0" }, element) : element,
  );
}

/**
 * The panel has two levels of headings, so that those of an answer begin with the third.
 * @param {string} tag
 */
function belowOurs(tag) {
  const level = /^h([1-6])$/.exec(tag);
  return level ? `h${Math.min(6, Number(level[1]) + 2)}` : tag;
}

/**
 * Elements that need more than a copy: `whole` replaces the element; `address` is shown after its
 * content.
 * @param {Element} source
 * @param {string} tag
 * @param {string} base
 * @returns {{whole: Node | null} | {attributes?: Record<string, string>, unwrap?: boolean,
 *   address?: string}}
 */
function special(source, tag, base) {
  if (tag === "a") {
    const url = linkTarget(source.getAttribute("href"), base);
    if (url) return { attributes: linkAttributes(source, url) };
    const file = exportIn(source.getAttribute("href"), source.textContent ?? "");
    if (file) return { whole: exportButton(source.textContent ?? "", file) };
    const own = ownAddress(source.getAttribute("href"), base);
    return { unwrap: true, address: own === source.textContent ? "" : own };
  }
  if (tag === "img" || tag === "video" || tag === "audio")
    return { whole: media(source, tag, base) };
  if (tag === "pre") {
    const code = source.querySelector("code");
    const language = /\blanguage-([\w+#.-]+)/.exec(code?.className ?? "")?.[1] ?? "";
    const block = createCodeBlock(language);
    block.update((source.textContent ?? "").replace(/\n$/, ""), language);
    return { whole: block.element };
  }
  if (tag === "input") {
    if (source.getAttribute("type") !== "checkbox") return { whole: null };
    return { attributes: { type: "checkbox", disabled: "" } };
  }
  return {};
}

/**
 * A button that saves a chat as a file: a link could not carry the token of the panel.
 * @param {string} words
 * @param {NonNullable<ReturnType<typeof exportIn>>} detail
 */
function exportButton(words, detail) {
  const save = h("button", { type: "button", class: "ca-link" }, nameOf(words));
  save.addEventListener("click", () =>
    save.dispatchEvent(new CustomEvent("ca-export", { bubbles: true, detail })),
  );
  return save;
}

/** @param {Element} source @param {string} url @returns {Record<string, string>} */
function linkAttributes(source, url) {
  const own = source.getAttribute("title");
  return {
    href: url,
    target: "_blank",
    rel: "noopener noreferrer",
    title: own && own !== url ? `${own} (${url})` : url,
  };
}

/** @param {Element} source @param {"img" | "video" | "audio"} tag @param {string} base */
function media(source, tag, base) {
  const address = source.getAttribute("src") ?? source.querySelector("source")?.getAttribute("src");
  const { fate, url, host } = mediaFate(address ?? null, base, tag);
  const words = source.getAttribute("alt") ?? "";
  if (fate === "drop") return document.createTextNode(words);
  const build = () => mediaElement(source, tag, url);
  if (fate === "show") return build();
  const key = /** @type {const} */ ({
    img: "markdown.image",
    video: "markdown.video",
    audio: "markdown.audio",
  })[tag];
  const ask = h(
    "button",
    { type: "button", class: "ca-load", title: url },
    t(key, { host }),
    words && h("span", { class: "ca-quiet" }, ` ${words}`),
  );
  ask.addEventListener("click", (event) => {
    event.preventDefault();
    ask.replaceWith(build());
  });
  return ask;
}

/** @param {Element} source @param {"img" | "video" | "audio"} tag @param {string} url */
function mediaElement(source, tag, url) {
  if (tag !== "img") return h(tag, { controls: true, preload: "metadata", src: url });
  const picture = h("img", {
    alt: source.getAttribute("alt") ?? "",
    title: source.getAttribute("title"),
    loading: "lazy",
    decoding: "async",
    referrerpolicy: "no-referrer",
    src: url,
  });
  // A picture in a link follows the link.
  return source.closest("a") ? picture : enlargeable(picture);
}
