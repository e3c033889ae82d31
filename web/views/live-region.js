// @ts-check
/**
 * Puts into the page what screen readers announce (`announcer.js`). The conversation itself is not
 * live, because a screen reader would read it token by token. What another chat or an earlier answer
 * had said is taken out of the page.
 */

import { createAnnouncer } from "./announcer.js";
import { h } from "./dom.js";

/** Most sentences kept in the page; older ones have been read aloud. */
const KEPT = 20;

export function createLiveRegion() {
  const calm = h("div", {
    "aria-live": "polite",
    "aria-relevant": "additions",
    "data-live": "",
  });
  const alert = h("div", { role: "alert" });
  const element = h("div", { class: "ca-hidden-text" }, calm, alert);
  const announcer = createAnnouncer();

  return {
    element,
    /** @param {import("../types.js").ChatState} chat */
    update(chat) {
      const said = announcer.update(chat);
      if (said.anew) {
        calm.replaceChildren();
        alert.replaceChildren();
      }
      calm.append(...said.sentences.slice(-KEPT).map((text) => h("p", {}, text)));
      while (calm.childElementCount > KEPT) calm.firstElementChild?.remove();
      if (said.alert) alert.replaceChildren(h("p", {}, said.alert));
    },
  };
}
