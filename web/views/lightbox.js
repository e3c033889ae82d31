// @ts-check
/**
 * Shows a picture of the chat large, over the whole page. A click, Enter or Space on the picture
 * opens it; a click or Escape closes it, and the focus returns to the picture.
 */

import { t } from "../strings.js";
import { h } from "./dom.js";

/** @param {HTMLImageElement} picture opens large from now on */
export function enlargeable(picture) {
  picture.classList.add("ca-enlarge");
  picture.tabIndex = 0;
  picture.setAttribute("role", "button");
  picture.setAttribute("aria-label", t("picture.enlarge", { name: picture.alt }));
  return picture;
}

/** @param {HTMLElement} panel whose pictures open */
export function followPictures(panel) {
  /** @param {Event} event */
  const asked = (event) => {
    const { target } = event;
    const isPicture = target instanceof HTMLImageElement && target.matches(".ca-enlarge");
    return isPicture && !target.closest("a") ? target : null;
  };
  panel.addEventListener("click", (event) => {
    const picture = asked(event);
    if (picture) open(panel, picture);
  });
  panel.addEventListener("keydown", (event) => {
    const picture = event.key === "Enter" || event.key === " " ? asked(event) : null;
    if (!picture) return;
    event.preventDefault();
    open(panel, picture);
  });
}

/** @param {HTMLElement} panel @param {HTMLImageElement} picture */
function open(panel, picture) {
  const large = h("img", {
    alt: picture.alt,
    // Like the picture itself: the browser may fetch it again.
    referrerpolicy: "no-referrer",
    src: picture.currentSrc || picture.src,
  });
  const dialog = h(
    "dialog",
    { class: "ca-lightbox", "aria-label": picture.alt || t("picture.large") },
    h("button", { type: "button", class: "ca-lightbox__close", title: t("picture.close") }, large),
  );
  dialog.addEventListener("click", () => dialog.close());
  // Escape closes the picture, and nothing else.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => {
    dialog.remove();
    picture.focus({ preventScroll: true });
  });
  panel.append(dialog);
  dialog.showModal();
}
