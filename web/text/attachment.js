// @ts-check
/**
 * Which files can be attached to a message: images and text, within the server's limits. Pure;
 * files are read in `services/files.js`.
 */

import { fileSize, number } from "./format.js";
import { t } from "../strings.js";

/** @typedef {import("../types.js").Attachment} Attachment */

const MEGABYTE = 1_000_000;
/** Most bytes of one file. */
export const FILE_LIMIT = 20 * MEGABYTE;
/** Most characters of a message's data URLs; the server accepts bodies up to 32 MB. */
const TOTAL_LIMIT = 28 * MEGABYTE;

/** Image types that providers accept. */
const IMAGES = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|toml|javascript|x-sh|x-python)$/;
const TEXT_NAME = new RegExp(
  "\\.(?:txt|md|markdown|log|csv|tsv|json|jsonl|ya?ml|toml|ini|cfg|conf|xml|html?|css|js|mjs|ts|" +
    "py|sh|bat|ps1|srt|vtt|rst|tex|sql|rs|go|c|h|cpp|java)$",
  "i",
);

/**
 * @param {{name: string, type: string}} file
 * @returns {string | null} the media type to send; null if the file cannot be attached
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
const encodedLength = (bytes) => Math.ceil(bytes / 3) * 4;

/**
 * @param {{name: string, type: string, size: number}} file
 * @param {readonly Attachment[]} others attached before
 * @returns {string | null} why the file cannot be attached; null if it can
 */
export function refusal(file, others) {
  if (mediaTypeOf(file) === null) return t("attach.type", { name: file.name });
  if (file.size > FILE_LIMIT) {
    const values = { size: fileSize(file.size), limit: fileSize(FILE_LIMIT) };
    return t("attach.size", { name: file.name, ...values });
  }
  const total = [file, ...others].reduce((sum, { size }) => sum + encodedLength(size), 0);
  if (total > TOTAL_LIMIT) {
    return t("attach.total", { name: file.name, limit: fileSize(TOTAL_LIMIT) });
  }
  return null;
}

/** Bytes of a token of ASCII text, and tokens of any other character; the server's estimate is finer. */
const BYTES_PER_TOKEN = 4;
const TOKENS_PER_CHARACTER = 0.8;

/** @param {Uint8Array} bytes of UTF-8 text @returns {number} about how many tokens a model reads */
export function textTokens(bytes) {
  let ascii = 0;
  let others = 0;
  for (const byte of bytes) {
    if (byte < 0x80) ascii += 1;
    else if (byte >= 0xc0) others += 1;
  }
  return Math.ceil(ascii / BYTES_PER_TOKEN + others * TOKENS_PER_CHARACTER);
}

/**
 * @param {Attachment} file
 * @param {readonly Attachment[]} others attached before
 * @param {{tokens: number, model: string} | null} window of the model; null: not known yet
 * @returns {string | null} why the model cannot read the file; null if it can
 */
export function tooLong(file, others, window) {
  if (!window || !file.tokens) return null;
  const total = [file, ...others].reduce((sum, { tokens = 0 }) => sum + tokens, 0);
  if (total <= window.tokens) return null;
  return t(others.some(({ tokens }) => tokens) ? "attach.long.total" : "attach.long", {
    name: file.filename,
    tokens: number(total),
    model: window.model,
    window: number(window.tokens),
  });
}
