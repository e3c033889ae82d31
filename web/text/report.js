// @ts-check
/** A context report in words: the five lines, what was left out, how full the window is. Pure. */

import { number, percent } from "./format.js";
import { t, tn } from "../strings.js";

/** @typedef {import("../types.js").ContextReport} ContextReport */

/**
 * @typedef {object} ReportLine
 * @property {"rules" | "tools" | "summary" | "history" | "current"} kind
 * @property {string} label
 * @property {number} tokens
 */

/** @param {ContextReport} report @returns {number} tokens that a request may have */
export const usable = (report) => Math.max(1, report.window - report.reserve);

/** @param {ContextReport} report @returns {number} the share of the usable window, 0 to 1 */
export const share = (report) => Math.min(1, report.total.tokens / usable(report));

/** @param {ContextReport} report @returns {ReportLine[]} those with something in them */
export function reportLines(report) {
  const { parts } = report;
  const older = Math.max(1, report.messages_sent - 1);
  /** @type {ReportLine[]} */
  const lines = [
    {
      kind: "rules",
      label: t("report.rules"),
      tokens: parts.system.tokens + parts.user_context.tokens,
    },
    { kind: "tools", label: t("report.tools"), tokens: parts.tool_schemas.tokens },
    { kind: "summary", label: t("report.summary"), tokens: parts.summary.tokens },
    {
      kind: "history",
      label: tn("report.history", older, { count: number(older) }),
      tokens: parts.history.tokens + parts.tool_results.tokens,
    },
    { kind: "current", label: t("report.current"), tokens: parts.current.tokens },
  ];
  return lines.filter((line) => line.tokens > 0);
}

/** @param {ContextReport} report @returns {string[]} whole sentences */
export function reportNotes(report) {
  const left = [
    [report.messages_trimmed, "report.kept"],
    [report.rounds_omitted, "report.rounds"],
    [report.results_clamped, "report.clamped"],
  ];
  const notes = left
    .filter(([count]) => Number(count) > 0)
    .map(([count, key]) =>
      tn(/** @type {"report.kept"} */ (key), Number(count), { count: number(Number(count)) }),
    );
  if (report.left_out.length) notes.push(t("report.left", { names: report.left_out.join(", ") }));
  if (!notes.length) notes.push(t("report.complete"));
  const cached = report.usage?.cached_share ?? 0;
  if (cached > 0) notes.push(t("report.cached", { percent: percent(cached) }));
  return notes;
}

/**
 * @param {ContextReport} report
 * @returns {[string, string][]} the raw numbers, as label and value
 */
export function reportDetails(report) {
  const none = t("report.raw.none");
  /** @type {[string, string][]} */
  const rows = [
    [t("report.raw.request"), number(report.request)],
    [t("report.raw.system"), report.system_kind],
    [t("report.raw.messages"), number(report.messages_sent)],
    [t("report.raw.limits"), report.limits_applied.join(", ") || none],
  ];
  for (const [name, amount] of Object.entries(report.parts)) {
    const values = { tokens: number(amount.tokens), chars: number(amount.chars) };
    rows.push([name, t("report.raw.part", values)]);
  }
  rows.push([
    t("report.raw.usage"),
    report.usage
      ? Object.entries(report.usage)
          .filter(([, value]) => typeof value === "number")
          .map(([name, value]) => `${name} ${number(Number(value), { maximumFractionDigits: 2 })}`)
          .join(", ") || none
      : none,
  ]);
  return rows;
}
