// @ts-check
/**
 * Renders streaming Markdown: the text is split into blocks, and only the last block is rendered
 * again when text arrives. The host's renderer makes the HTML and `sanitise.js` filters it; without
 * the host's renderer the source is shown.
 */

import { finalBlocks, linkDefinitions, mergeBlocks, splitBlocks } from "../text/blocks.js";
import { createCodeBlock } from "./code-block.js";
import { h } from "./dom.js";
import { sanitise } from "./sanitise.js";

/** @typedef {import("../text/blocks.js").Block} Block */
/**
 * @typedef {{kind: Block["kind"], element: HTMLElement, update(block: Block, definitions: string):
 *   void}} BlockView
 */

/** Last blocks of a growing text that are not merged, because more text may change them. */
const UNMERGED = 2;

/** @param {(markdown: string) => string | null} render */
export function createMarkdownView(render) {
  const element = h("div", { class: "ca-markdown" });
  /** @type {Block[]} */
  let blocks = [];
  /** @type {BlockView[]} */
  let views = [];
  let shown = "";
  let definitions = "";

  /** @param {Block} block @param {number} index */
  const draw = (block, index) => {
    let view = views[index];
    if (view?.kind !== block.kind) {
      const next = block.kind === "code" ? createCodeView(block) : createTextView(render);
      if (view) view.element.replaceWith(next.element);
      else element.append(next.element);
      views[index] = next;
      view = next;
    }
    view.update(block, definitions);
  };

  return {
    element,
    /** @param {string} text @param {boolean} live whether the text may grow */
    update(text, live) {
      element.classList.toggle("ca-markdown--live", live);
      if (text === shown) return;
      const known = linkDefinitions(text);
      const grows = text.startsWith(shown) && known === definitions;
      const kept = grows ? finalBlocks(shown, blocks) : 0;
      shown = text;
      definitions = known;
      const from = kept > 0 ? blocks[kept].start : 0;
      const fresh = splitBlocks(text, from);
      const final = live ? fresh.length - UNMERGED : fresh.length;
      blocks = [...blocks.slice(0, kept), ...mergeBlocks(text, fresh, final)];
      for (let index = kept; index < blocks.length; index += 1) draw(blocks[index], index);
      for (const view of views.splice(blocks.length)) view.element.remove();
    },
  };
}

/** @param {Block} first @returns {BlockView} */
function createCodeView(first) {
  const view = createCodeBlock(first.language);
  return {
    kind: "code",
    element: view.element,
    update: (block) => view.update(block.source, block.language),
  };
}

/** @param {(markdown: string) => string | null} render @returns {BlockView} */
function createTextView(render) {
  const element = h("div", { class: "ca-block" });
  let drawn = "";
  return {
    kind: "text",
    element,
    update(block, definitions) {
      const source = definitions ? `${block.source}\n\n${definitions}` : block.source;
      if (source === drawn) return;
      drawn = source;
      const html = render(source);
      if (html === null) element.replaceChildren(h("p", { class: "ca-plain" }, block.source));
      else element.replaceChildren(sanitise(html));
    },
  };
}
