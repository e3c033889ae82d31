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

/** @param {string | undefined} iso @returns {string} "14:02"; "" without a time */
export function clockTime(iso) {
  const date = iso ? new Date(iso) : null;
  if (!date || Number.isNaN(date.getTime())) return "";
  const form = /** @type {const} */ ({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
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

/** @param {unknown} value @returns {string} indented JSON, or the text itself */
export function pretty(value) {
  if (typeof value === "string") {
    try {
      const parsed = JSON.parse(value);
      if (typeof parsed === "object" && parsed !== null) return JSON.stringify(parsed, null, 2);
    } catch {
      // The text is no JSON and is shown unchanged.
    }
    return value;
  }
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
