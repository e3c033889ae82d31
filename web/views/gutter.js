// @ts-check
/**
 * The width of a scrollbar, which differs between systems (0 where scrollbars lie over the content).
 * Pages that scroll take it from the room at their side, so that the right edge is that of all
 * other pages.
 */

import { h } from "./dom.js";

/** Sets `--ca-gutter` of the panel, which is in the document. @param {HTMLElement} panel */
export function measureGutter(panel) {
  // Its style is its own: the style sheets may not be there yet.
  const probe = h("div");
  Object.assign(probe.style, {
    position: "absolute",
    visibility: "hidden",
    width: "40px",
    height: "40px",
    overflowY: "auto",
    scrollbarGutter: "stable",
    scrollbarWidth: "thin",
  });
  panel.append(probe);
  panel.style.setProperty("--ca-gutter", `${probe.offsetWidth - probe.clientWidth}px`);
  probe.remove();
}
