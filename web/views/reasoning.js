// @ts-check
/**
 * A reasoning part: one line that counts the seconds while the model thinks, and unfolds to the
 * text, also while it grows. The text is Markdown as that of an answer, within the same budget.
 */

import { t } from "../strings.js";
import { duration } from "../text/format.js";
import { h, icon, setText } from "./dom.js";
import { createElapsed } from "./elapsed.js";
import { createMarkdownView } from "./markdown.js";

/** @typedef {import("../types.js").ReasoningPart} ReasoningPart */

/**
 * @param {import("./markdown.js").Render} render
 * @param {import("./drawing.js").Draw} later
 */
export function createReasoningView(render, later) {
  const label = h("span", { class: "ca-step__title" });
  const elapsed = createElapsed();
  const shown = createMarkdownView(render, later);
  const body = h("div", { class: "ca-reasoning", tabindex: "0" }, shown.element);
  const element = h(
    "details",
    { class: "ca-step ca-step--reasoning", ontoggle: () => draw() },
    h("summary", {}, icon("chevron", "ca-fold"), label, elapsed.element),
    body,
  );
  let text = "";
  let grows = false;

  // A folded text is not updated: reasoning can be very long.
  const draw = () => {
    if (element.open) shown.update(text, grows);
  };

  return {
    element,
    /** @param {ReasoningPart} part @param {{live: boolean, took: number | undefined}} facts */
    update(part, { live, took }) {
      text = part.text.trim();
      const thinking = live && part.state === "streaming";
      grows = thinking;
      element.classList.toggle("ca-step--live", thinking);
      elapsed.update(thinking);
      const done =
        took === undefined ? t("reasoning.done") : t("reasoning.time", { time: duration(took) });
      setText(label, thinking ? t("reasoning.live") : done);
      draw();
    },
  };
}
