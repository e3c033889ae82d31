// @ts-check
/** Formats numbers, times, sizes and errors for people, in the language of `strings.js`. Pure. */

import { language, t, tn } from "../strings.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const KILOBYTE = 1000;
const MEGABYTE = 1000 * KILOBYTE;

/** @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function number(value, options) {
  return new Intl.NumberFormat(language(), options).format(value);
}

/** @param {number} share 0 to 1 @returns {string} "38 %" */
export function percent(share) {
  return t("format.percent", { value: number(Math.round(share * 100)) });
}

/** @param {number} milliseconds @returns {string} "0.1 s", "6 s", "2 min 5 s" */
export function duration(milliseconds) {
  if (milliseconds < 10 * SECOND) {
    const seconds = Math.max(0.1, milliseconds / SECOND);
    return t("format.seconds", { value: number(seconds, { maximumFractionDigits: 1 }) });
  }
  if (milliseconds < MINUTE) {
    return t("format.seconds", { value: number(Math.round(milliseconds / SECOND)) });
  }
  const minutes = Math.floor(milliseconds / MINUTE);
  const seconds = Math.round((milliseconds % MINUTE) / SECOND);
  return t("format.minutes", { minutes: number(minutes), seconds: number(seconds) });
}

/** @param {number} bytes @returns {string} "320 kB", "1.4 MB" */
export function fileSize(bytes) {
  if (bytes < MEGABYTE) {
    return t("format.kilobytes", { value: number(Math.max(1, Math.round(bytes / KILOBYTE))) });
  }
  const value = number(bytes / MEGABYTE, { maximumFractionDigits: 1 });
  return t("format.megabytes", { value });
}

/** @param {number} count */
export const tokens = (count) => tn("format.tokens", count, { value: number(count) });

const CLOCK = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** @param {string | undefined} iso @returns {Date | null} null without a time */
function dateOf(iso) {
  const date = iso ? new Date(iso) : null;
  return date && !Number.isNaN(date.getTime()) ? date : null;
}

/**
 * @param {string | undefined} iso
 * @param {Date} now
 * @returns {string} "14:02" of today, "Nov 3, 14:02" of this year, "Feb 3, 2025, 14:02" of others;
 *   "" without a time
 */
export function clockTime(iso, now) {
  const date = dateOf(iso);
  if (!date) return "";
  const today = startOfDay(date) === startOfDay(now);
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  const day = today ? {} : /** @type {const} */ ({ day: "numeric", month: "short", year });
  return new Intl.DateTimeFormat(language(), { ...day, ...CLOCK }).format(date);
}

/** @param {string | undefined} iso @returns {string} "Saturday, November 21, 2026 at 14:02"; "" */
export function dateTime(iso) {
  const date = dateOf(iso);
  if (!date) return "";
  const day = new Intl.DateTimeFormat(language(), { dateStyle: "full" }).format(date);
  return t("format.at", { day, time: new Intl.DateTimeFormat(language(), CLOCK).format(date) });
}

/**
 * The time of a chat in the list: of today its clock time, else its date.
 * @param {string} iso
 * @param {Date} now
 */
export function shortDate(iso, now) {
  const date = dateOf(iso);
  if (!date || startOfDay(date) === startOfDay(now)) return clockTime(iso, now);
  const year = date.getFullYear() === now.getFullYear() ? undefined : "numeric";
  const form = /** @type {const} */ ({ day: "numeric", month: "short", year });
  return new Intl.DateTimeFormat(language(), form).format(date);
}

/**
 * The heading of a chat in the list.
 * @param {string} iso when the chat changed last
 * @param {Date} now
 */
export function dayName(iso, now) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return t("day.earlier");
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY);
  if (days <= 0) return t("day.today");
  if (days === 1) return t("day.yesterday");
  const sameYear = date.getFullYear() === now.getFullYear();
  return new Intl.DateTimeFormat(
    language(),
    days < 7
      ? { weekday: "long" }
      : { day: "numeric", month: "long", year: sameYear ? undefined : "numeric" },
  ).format(date);
}

/** @param {Date} date */
function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** @param {unknown} error what was thrown @returns {string} its message */
export const errorText = (error) => (error instanceof Error ? error.message : String(error));

/** Most characters of indented JSON, and most levels: each level indents all that is below it. */
const JSON_CHARS = 400_000;
const JSON_DEPTH = 60;

/**
 * @param {unknown} value
 * @returns {string} indented JSON, or the text itself; JSON over the limits ends with "…"
 */
export function pretty(value) {
  if (typeof value === "string") {
    if (value.length > JSON_CHARS || !/^\s*[[{]/.test(value)) return value;
    try {
      return indented(JSON.parse(value));
    } catch {
      // The text is no JSON and is shown unchanged.
      return value;
    }
  }
  return value === undefined ? "" : indented(value);
}

/** @param {unknown} root @returns {string} as `JSON.stringify` with an indent of 2, within the limits */
function indented(root) {
  /** @type {string[]} */
  const out = [];
  let room = JSON_CHARS;
  /** @param {string} text */
  const write = (text) => {
    room -= text.length;
    out.push(text);
  };

  /** @param {unknown} value @param {string} indent */
  const put = (value, indent) => {
    if (typeof value !== "object" || value === null) {
      const scalar = typeof value === "string" ? value.slice(0, room + 1) : value;
      write(JSON.stringify(scalar) ?? "null");
      return;
    }
    const list = Array.isArray(value);
    const keys = list ? null : Object.keys(value);
    const count = keys ? keys.length : /** @type {unknown[]} */ (value).length;
    if (count === 0) return write(list ? "[]" : "{}");
    if (indent.length >= 2 * JSON_DEPTH) return write("…");
    const inner = `${indent}  `;
    write(list ? "[" : "{");
    for (let index = 0; index < count && room > 0; index += 1) {
      const key = keys ? keys[index] : index;
      write(`${index ? "," : ""}\n${inner}${keys ? `${JSON.stringify(key)}: ` : ""}`);
      put(/** @type {any} */ (value)[key], inner);
    }
    write(`\n${indent}${list ? "]" : "}"}`);
  };

  put(root, "");
  const text = out.join("");
  return room > 0 ? text : `${text.slice(0, JSON_CHARS)}…`;
}
