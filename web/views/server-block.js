// @ts-check
/** A block of the provider's own, such as a search that it ran: one line that unfolds to its data. */

import { t } from "../strings.js";
import { pretty } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { h, icon, setText } from "./dom.js";
import { createLongText } from "./long-text.js";

/** @typedef {{data?: {kind?: unknown, content?: unknown}}} ServerBlockPart */

/** Most characters of a block's kind. */
const KIND = 60;

/** @param {import("./drawing.js").Draw} later */
export function createServerBlock(later) {
  const label = h("span", { class: "ca-step__title" });
  const body = h("div", { class: "ca-reasoning", tabindex: "0" });
  const element = h(
    "details",
    { class: "ca-step ca-step--reasoning", ontoggle: () => draw() },
    h("summary", {}, icon("chevron", "ca-fold"), label),
    body,
  );
  const shown = createLongText(later, body);
  /** @type {ServerBlockPart} */
  let part = {};

  // The data of a folded block are not formatted.
  const draw = () => {
    if (element.open) shown.update(pretty(part.data?.content));
  };

  return {
    element,
    /** @param {ServerBlockPart} next */
    update(next) {
      part = next;
      const kind = nameOf(part.data?.kind, KIND).replace(/_+/g, " ");
      setText(label, t("block.title", { kind }));
      draw();
    },
  };
}
