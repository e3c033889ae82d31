// @ts-check
/**
 * The width of a scrollbar, which differs between systems (0 where scrollbars lie over the content).
 * Pages that scroll take it from the room at their side, so that the right edge is that of all
 * other pages.
 */

import { h } from "./dom.js";

/** Sets `--ca-gutter` of the panel, which is in the document. @param {HTMLElement} panel */
export function measureGutter(panel) {
  const probe = h("div", { class: "ca-probe" });
  panel.append(probe);
  panel.style.setProperty("--ca-gutter", `${probe.offsetWidth - probe.clientWidth}px`);
  probe.remove();
}
