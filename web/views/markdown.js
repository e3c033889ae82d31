// @ts-check
/**
 * Renders streaming Markdown: the text is split into blocks, and only the last ones are rendered
 * again when text arrives. The host's renderer makes the HTML and `sanitise.js` filters it; without
 * the host's renderer the source is shown. No block costs more than the budget of `text/cost.js`,
 * and blocks are drawn in slices (`drawing.js`): no answer makes a task of over 100 ms in the page.
 */

import { finalBlocks, joined, nextBlock } from "../text/blocks.js";
import { labelsIn } from "../text/cost.js";
import { closed } from "../text/unfinished.js";
import { t } from "../strings.js";
import { createCodeBlock } from "./code-block.js";
import { h } from "./dom.js";
import { sanitise } from "./sanitise.js";

/** @typedef {import("../text/blocks.js").Block} Block */
/** @typedef {import("../text/blocks.js").Context} Context */
/** @typedef {(markdown: string) => string | null} Render */
/**
 * @typedef {object} BlockView
 * @property {string} kind
 * @property {HTMLElement} element
 * @property {(block: Block, grows?: boolean) => void} update `grows`: more text may come at its end
 * @property {() => void} [refresh] draws it again with other link definitions
 * @property {import("./code-block.js").CodeBlock} [code] the code block that its parts belong to
 */

/** Blocks of a growing text that are not joined, because more text may change them. */
const APART = 2;
/** Blocks that are drawn before the user asks for more; a long answer has hundreds. */
const MOST = 2000;
/** Blocks from which on those outside of the view are not laid out. */
const LONG = 24;
/** Most link definitions of an answer. */
const DEFINITIONS = 1000;
/** Characters that are rendered at once of a text that is too costly to be rendered whole. */
const PLAIN_PIECE = 400;

/**
 * @param {Render} render
 * @param {import("./drawing.js").Draw} draw
 */
export function createMarkdownView(render, draw) {
  const element = h("div", { class: "ca-markdown" });
  /** The drawn blocks, and a view for each. @type {Block[]} */
  let blocks = [];
  /** @type {BlockView[]} */
  let views = [];
  /** Blocks that are parsed and not drawn. @type {Block[]} */
  let ahead = [];
  /** Where the text after the parsed blocks begins, and what they leave open. */
  let from = 0;
  /** @type {Context | null} */
  let context = null;
  let shown = "";
  let live = false;
  let most = MOST;
  const more = h(
    "button",
    { type: "button", class: "ca-link", onclick: () => goOn() },
    t("text.more"),
  );
  const links = createLinks(draw);

  /** @param {Block} block @param {number} index */
  const show = (block, index) => {
    const kind = block.kind === "code" && block.continues ? "part" : block.kind;
    if (views[index]?.kind !== kind) {
      for (const view of views.splice(index)) view.element.remove();
      views[index] = make(kind, block, index);
    }
    blocks[index] = block;
    if (blocks.length === LONG) element.classList.add("ca-markdown--long");
    links.learn(block, index);
    views[index].update(block, live && block.end === shown.length);
  };

  /** @param {string} kind @param {Block} block @param {number} index @returns {BlockView} */
  const make = (kind, block, index) => {
    if (kind === "part") {
      const code = views[index - 1]?.code ?? createCodeBlock(block.language);
      const part = code.addPart();
      if (!code.element.isConnected && !element.contains(code.element)) element.append(code.element);
      return { kind, code, element: part.element, update: ({ source }) => part.update(source) };
    }
    const view =
      kind === "code"
        ? createCodeView(block)
        : kind === "plain"
          ? createPlainView(render, draw, blocks[index - 1]?.kind !== "plain" || index === 0)
          : createTextView(render, links);
    element.append(view.element);
    return view;
  };

  /** @returns {boolean} whether there is a block to draw, which is then in `ahead` */
  const read = () => {
    const wanted = live ? APART + 1 : 2;
    while (ahead.length < wanted) {
      const next = nextBlock(shown, from, context);
      if (!next) break;
      ahead.push(next.block);
      from = next.block.end;
      context = next.context;
    }
    return ahead.length > 0;
  };

  const slice = () => {
    if (!read()) return finish();
    if (blocks.length >= most) {
      element.append(more);
      return false;
    }
    let block = /** @type {Block} */ (ahead.shift());
    while (read() && (!live || ahead.length > APART)) {
      const both = joined(block, ahead[0]);
      if (!both) break;
      block = both;
      ahead.shift();
    }
    show(block, blocks.length);
    return read() || finish();
  };

  /** Removes the views of a longer text. @returns {false} */
  const finish = () => {
    for (const view of views.splice(blocks.length)) view.element.remove();
    element.classList.toggle("ca-markdown--long", blocks.length >= LONG);
    return false;
  };

  const goOn = () => {
    more.remove();
    most += MOST;
    draw(slice);
  };

  return {
    element,
    /** @param {string} text @param {boolean} grows whether the text may grow */
    update(text, grows) {
      element.classList.toggle("ca-markdown--live", grows);
      if (text === shown && grows === live) return;
      const kept = text.startsWith(shown) ? finalBlocks(shown, blocks) : 0;
      if (text === shown) {
        live = grows;
        // The end of the text is drawn as it is, with the marks that stayed open.
        const last = blocks.length - 1;
        if (!grows && last >= 0) views[last]?.update(blocks[last], false);
        return;
      }
      shown = text;
      live = grows;
      if (more.parentNode && kept > 0) return;
      more.remove();
      ahead = [];
      from = blocks[kept]?.start ?? 0;
      context = blocks[kept]?.context ?? null;
      blocks = blocks.slice(0, kept);
      draw(slice);
    },
  };
}

/** @param {Block} first @returns {BlockView} */
function createCodeView(first) {
  const code = createCodeBlock(first.language);
  return {
    kind: "code",
    code,
    element: code.element,
    update: (block) => code.update(block.source, block.language),
  };
}

/** @typedef {ReturnType<typeof createLinks>} Links */

/**
 * The link definitions (`[name]: url`) of a text, to which every block may refer. A block gets the
 * definitions that it uses and no others, and is drawn again when one of them comes.
 * @param {import("./drawing.js").Draw} draw
 */
function createLinks(draw) {
  /** @type {Map<string, {line: string, index: number}>} by label */
  const known = new Map();
  /** @type {Map<string, Set<() => void>>} views by the labels that they use */
  const users = new Map();
  /** @type {Set<() => void>} */
  const stale = new Set();

  const refresh = () => {
    const [view] = stale;
    if (!view) return false;
    stale.delete(view);
    view();
    return stale.size > 0;
  };

  return {
    /** Takes the definitions of a block. @param {Block} block @param {number} index */
    learn({ definitions }, index) {
      for (const [label, line] of definitions) {
        const before = known.get(label);
        // The first definition of a label counts.
        if (before && (before.index < index || before.line === line)) continue;
        if (!before && known.size >= DEFINITIONS) continue;
        known.set(label, { line, index });
        for (const view of users.get(label) ?? []) stale.add(view);
      }
      if (stale.size) draw(refresh);
    },
    /**
     * @param {string} source
     * @param {() => void} view draws the block again
     * @returns {string} the lines of the definitions that it uses
     */
    of(source, view) {
      const lines = [];
      for (const label of labelsIn(source)) {
        const before = users.get(label);
        if (before) before.add(view);
        else users.set(label, new Set([view]));
        const found = known.get(label);
        if (found) lines.push(found.line);
      }
      return lines.join("\n");
    },
  };
}

/** @param {Render} render @param {Links} links @returns {BlockView} */
function createTextView(render, links) {
  const element = h("div", { class: "ca-block" });
  let drawn = "";
  let source = "";
  let open = false;
  const refresh = () => {
    const definitions = links.of(source, refresh);
    const text = open ? closed(source) : source;
    const whole = definitions ? `${text}\n\n${definitions}` : text;
    if (whole === drawn) return;
    drawn = whole;
    element.replaceChildren(rendered(render, whole) ?? h("p", { class: "ca-plain" }, source));
  };
  return {
    kind: "text",
    element,
    refresh,
    update(block, grows = false) {
      if (block.source === source && grows === open) return;
      source = block.source;
      open = grows;
      refresh();
    },
  };
}

/** @param {Render} render @param {string} source @returns {DocumentFragment | null} */
function rendered(render, source) {
  try {
    const html = render(source);
    return html === null ? null : sanitise(html);
  } catch {
    // The host's renderer refuses some texts (its stack overflows): their source is shown.
    return null;
  }
}

/**
 * A block that costs too much to be rendered: its source, and, above the first of several such
 * blocks, a button that renders them in small pieces. Each piece takes a bounded time; what reaches
 * over the end of a piece is not rendered.
 * @param {Render} render
 * @param {import("./drawing.js").Draw} draw
 * @param {boolean} isFirst
 * @returns {BlockView}
 */
function createPlainView(render, draw, isFirst) {
  const text = h("div", { class: "ca-plain__text" });
  const element = h("div", { class: "ca-block ca-plain", "data-plain": "" });
  let source = "";

  const renderPieces = () => {
    const whole = source;
    let at = 0;
    text.replaceChildren();
    const slice = () => {
      if (at >= whole.length || source !== whole) return false;
      const piece = whole.slice(at, at + PLAIN_PIECE);
      at += PLAIN_PIECE;
      text.append(h("div", {}, rendered(render, piece) ?? h("p", { class: "ca-plain" }, piece)));
      return at < whole.length;
    };
    text.classList.add("ca-plain__text--rendered");
    draw(slice);
  };
  element.addEventListener("ca-render", renderPieces);

  if (isFirst) {
    const button = h(
      "button",
      { type: "button", class: "ca-link" },
      t("markdown.plain.render"),
    );
    button.addEventListener("click", () => {
      note.remove();
      /** @type {Element | null} */
      let each = element;
      while (each?.matches("[data-plain]")) {
        each.dispatchEvent(new Event("ca-render"));
        each = each.nextElementSibling;
      }
    });
    const note = h(
      "div",
      { class: "ca-plain__note" },
      h("span", {}, t("markdown.plain")),
      " ",
      button,
    );
    element.append(note);
  }
  element.append(text);
  return {
    kind: "plain",
    element,
    update(block) {
      if (block.source === source) return;
      source = block.source;
      text.classList.remove("ca-plain__text--rendered");
      text.textContent = source;
    },
  };
}
