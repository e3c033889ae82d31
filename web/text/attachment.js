// @ts-check
/**
 * Which files a message may carry: images and text, within the server's limits. Pure rules; reading
 * a file is `services/files.js`.
 */

import { fileSize } from "./format.js";
import { t } from "../strings.js";

/** @typedef {import("../types.js").Attachment} Attachment */

const MEGABYTE = 1_000_000;
/** Bytes of one file. */
export const FILE_LIMIT = 20 * MEGABYTE;
/** Characters of all files of a message, as they travel; the server takes bodies up to 32 MB. */
const TOTAL_LIMIT = 28 * MEGABYTE;

/** What models take as pictures; others would be refused by the provider. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|toml|javascript|x-sh|x-python)$/;
const TEXT_NAME = new RegExp(
  "\\.(?:txt|md|markdown|log|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|xml|html?|css|js|mjs|ts|" +
    "py|sh|bat|ps1|srt|vtt|rst|tex|sql|rs|go|c|h|cpp|java)$",
  "i",
);

/**
 * @param {{name: string, type: string}} file
 * @returns {string | null} the media type to send; null for what cannot be attached
 */
export function mediaTypeOf(file) {
  const type = file.type.split(";")[0].trim().toLowerCase();
  if (IMAGES.has(type)) return type;
  if (type.startsWith("image/")) return null;
  if (TEXT_TYPE.test(type)) return type;
  return TEXT_NAME.test(file.name) || (type === "" && !/\.\w+$/.test(file.name))
    ? "text/plain"
    : null;
}

/** @param {number} bytes @returns {number} characters of a base64 data URL of that many bytes */
const travels = (bytes) => Math.ceil(bytes / 3) * 4;

/**
 * @param {{name: string, type: string, size: number}} file
 * @param {readonly Attachment[]} others what the message carries already
 * @returns {string | null} why it cannot be attached, in words
 */
export function refusal(file, others) {
  if (mediaTypeOf(file) === null) return t("attach.type", { name: file.name });
  if (file.size > FILE_LIMIT) {
    const values = { size: fileSize(file.size), limit: fileSize(FILE_LIMIT) };
    return t("attach.size", { name: file.name, ...values });
  }
  const total = others.reduce((sum, other) => sum + travels(other.size), travels(file.size));
  if (total > TOTAL_LIMIT) {
    return t("attach.total", { name: file.name, limit: fileSize(TOTAL_LIMIT) });
  }
  return null;
}
