// @ts-check
/** Reads attached files into data URLs, the form in which messages carry them; saves downloads. */

import { mediaTypeOf, textTokens } from "../text/attachment.js";
import { newId } from "./storage.js";

/**
 * @param {File} file accepted by `refusal`
 * @returns {Promise<import("../types.js").Attachment>}
 * @throws {DOMException} when the browser cannot read it (moved, a folder, no permission)
 */
export async function readAttachment(file) {
  const mediaType = mediaTypeOf(file) ?? "text/plain";
  const content = await file.arrayBuffer();
  const bytes = new Blob([content], { type: mediaType });
  const isText = !mediaType.startsWith("image/");
  return {
    id: newId(),
    filename: file.name,
    mediaType,
    size: file.size,
    ...(isText ? { tokens: textTokens(new Uint8Array(content)) } : {}),
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

/** Milliseconds after which the browser has started the download and the URL can be revoked. */
const URL_LIFETIME = 60_000;

/**
 * Saves the body of a response as a file.
 * @param {Response} response
 * @param {string} fallback file name, used if the server sends none
 * @param {string} [wanted] the file name that the user chose
 */
export async function download(response, fallback, wanted) {
  const disposition = response.headers.get("Content-Disposition") ?? "";
  const name = wanted ?? /filename="([^"]+)"/.exec(disposition)?.[1] ?? fallback;
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), URL_LIFETIME);
}
