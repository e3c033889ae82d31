// @ts-check
/** Reads files that the user attached into data URLs, the form in which they travel. */

import { mediaTypeOf } from "../text/attachment.js";
import { newId } from "./storage.js";

/**
 * @param {File} file one that `refusal` let pass
 * @returns {Promise<import("../types.js").Attachment>}
 * @throws {DOMException} when the browser cannot read it (moved, a folder, no permission)
 */
export async function readAttachment(file) {
  const mediaType = mediaTypeOf(file) ?? "text/plain";
  const bytes = new Blob([await file.arrayBuffer()], { type: mediaType });
  return {
    id: newId(),
    filename: file.name,
    mediaType,
    size: file.size,
    url: await dataUrl(bytes),
  };
}

/** @param {Blob} blob @returns {Promise<string>} */
function dataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}
