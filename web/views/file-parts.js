// @ts-check
/** Attached files: as a part of a message, and as a chip with a button that removes the file. */

import { t } from "../strings.js";
import { fileSize, number } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { mediaFate } from "../text/policy.js";
import { h, icon, iconButton } from "./dom.js";
import { enlargeable } from "./lightbox.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").FilePart} FilePart */

/**
 * @param {{mediaType: string, url: string}} file
 * @returns {boolean} whether it can be shown: a picture of pixels, with the type that it claims
 */
export const isPicture = ({ mediaType, url }) =>
  /^image\//i.test(mediaType) && mediaFate(url, document.baseURI).fate === "show";

/** @param {FilePart} part @returns {HTMLElement} */
export function filePart(part) {
  const name = nameOf(part.filename) || t("message.unnamed");
  // Pictures in data URLs and of ComfyUI's /view are shown; other addresses would be fetched.
  if (isPicture(part)) {
    const look = { class: "ca-thumb", title: name, decoding: "async" };
    return enlargeable(h("img", { ...look, src: part.url, alt: t("message.image", { name }) }));
  }
  return h("span", { class: "ca-file", title: name }, icon("file"), h("span", {}, name));
}

/**
 * @param {Attachment} file `size` 0: not known
 * @param {() => void} remove called by the button of the chip
 * @returns {HTMLElement}
 */
export function fileChip(file, remove) {
  const name = nameOf(file.filename) || t("message.unnamed");
  const estimate = file.tokens ? t("attach.tokens", { value: number(file.tokens) }) : "";
  const facts = [name, file.size ? fileSize(file.size) : "", estimate].filter(Boolean).join(", ");
  return h(
    "span",
    { class: "ca-file", title: facts },
    isPicture(file) ? h("img", { class: "ca-file__thumb", src: file.url, alt: "" }) : icon("file"),
    h("span", { class: "ca-file__name" }, name),
    estimate && h("span", { class: "ca-file__size" }, estimate),
    iconButton("close", t("composer.remove", { name }), {
      class: "ca-icon-button--tiny",
      onclick: remove,
    }),
  );
}
