// @ts-check
/** The sources of an answer: a quiet list below it, each with its title and its host. */

import { t, tn } from "../strings.js";
import { isSource, sourceOf } from "../text/sources.js";
import { h, setText, show } from "./dom.js";

/** @typedef {import("../types.js").SourcePart} SourcePart */

/** Sources shown at first, and how many more with each click. */
const FIRST = 6;
const STEP = 100;

export function createSources() {
  const list = h("ol", { class: "ca-sources__list" });
  const more = h("button", { type: "button", class: "ca-link", onclick: () => showMore() });
  const element = h(
    "section",
    { class: "ca-sources", "aria-label": t("sources.title"), hidden: true },
    h("div", { class: "ca-sources__title" }, t("sources.title")),
    list,
    more,
  );
  /** @type {SourcePart[]} */
  let sources = [];
  let most = FIRST;

  const draw = () => {
    const left = sources.slice(list.childElementCount, most);
    list.append(...left.map(sourceItem));
    const hidden = sources.length - list.childElementCount;
    show(more, hidden > 0);
    if (hidden > 0) setText(more, tn("sources.more", hidden));
  };

  const showMore = () => {
    most += STEP;
    draw();
  };

  return {
    element,
    /** @param {readonly import("../types.js").Part[]} parts of the message */
    update(parts) {
      const next = parts.filter(isSource);
      if (next.length === sources.length && next.every((part, at) => part === sources[at])) return;
      if (!sources.every((part, at) => part === next[at])) list.replaceChildren();
      sources = next;
      show(element, sources.length > 0);
      draw();
    },
  };
}

/** @param {SourcePart} part */
function sourceItem(part) {
  const { title, host, url } = sourceOf(part, document.baseURI);
  const name = h("bdi", {}, title);
  return h(
    "li",
    {},
    url
      ? h("a", { href: url, title: url, target: "_blank", rel: "noopener noreferrer" }, name)
      : name,
    host && h("span", { class: "ca-sources__host" }, ` ${host}`),
  );
}
