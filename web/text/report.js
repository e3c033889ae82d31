// @ts-check
/**
 * Texts of a context report: one line per part of the request, notes on what was left out, how far
 * each limit is that asks for the next summary, and the raw numbers. Pure.
 */

import { number, percent } from "./format.js";
import { t, textFor, tn } from "../strings.js";

/** @typedef {import("../types.js").ContextReport} ContextReport */

/**
 * @typedef {object} ReportLine
 * @property {"rules" | "tools" | "summary" | "events" | "recalled" | "memories" | "reminders" |
 *   "history" | "current"} kind
 * @property {string} label
 * @property {number} tokens
 */

/** Matches handles of log rows ("r12", "r3-40"), not the names of sections that were left out. */
const HANDLE = /^r\d+(-\d+)?$/;
/** Most handles listed in the details; a long chat has hundreds. */
const NAMED = 12;

/** @param {ContextReport} report @returns {number} most tokens of a request */
export const usable = (report) => Math.max(1, report.window - report.reserve);

/** @param {ContextReport} report @returns {number} used share of the usable window, 0 to 1 */
export const share = (report) => Math.min(1, report.total.tokens / usable(report));

/** @param {ContextReport} report @returns {ReportLine[]} the parts that are not empty */
export function reportLines(report) {
  const { parts, summarised } = report;
  // `messages_sent` counts the summary and the current message too.
  const recent = Math.max(1, report.messages_sent - 1 - Number(parts.summary.tokens > 0));
  /** @type {ReportLine[]} */
  const lines = [
    {
      kind: "rules",
      label: t("report.rules"),
      tokens: parts.system.tokens + parts.user_context.tokens,
    },
    { kind: "tools", label: t("report.tools"), tokens: parts.tool_schemas.tokens },
    {
      kind: "summary",
      label: tn("report.summary", summarised, { count: number(summarised) }),
      tokens: parts.summary.tokens,
    },
    { kind: "events", label: t("report.events"), tokens: parts.events?.tokens ?? 0 },
    {
      kind: "recalled",
      label: t("report.recalled"),
      tokens: parts.recalled?.tokens ?? 0,
    },
    { kind: "memories", label: t("report.memories"), tokens: parts.memories?.tokens ?? 0 },
    {
      kind: "reminders",
      label: t("report.reminders"),
      tokens: [parts.workflow, parts.taken_back, parts.reminder].reduce(
        (sum, part) => sum + (part?.tokens ?? 0),
        0,
      ),
    },
    {
      kind: "history",
      label: tn("report.history", recent, { count: number(recent) }),
      tokens: parts.history.tokens + parts.tool_results.tokens,
    },
    { kind: "current", label: t("report.current"), tokens: parts.current.tokens },
  ];
  return lines.filter((line) => line.tokens > 0);
}

/** @param {ContextReport} report @returns {string[]} whole sentences */
export function reportNotes(report) {
  const named = report.left_out.filter((name) => !HANDLE.test(name));
  const cached = report.usage?.cached_share ?? 0;
  const notes = [keptNote(report)];
  if (named.length) notes.push(t("report.left", { names: named.join(", ") }));
  if (report.emergency) notes.push(t("report.emergency"));
  if (cached > 0) notes.push(t("report.cached", { percent: percent(cached) }));
  if (report.cost) notes.push(costNote(report.cost));
  return notes.filter(Boolean);
}

/** @param {ContextReport} report @returns {string} what was not sent in full */
function keptNote(report) {
  // After a cut, the first handle is the range of rows that was cut; the others are tool results.
  const shortened = report.left_out.filter((name) => HANDLE.test(name)).slice(report.cuts ? 1 : 0);
  const results = shortened.filter((name) => !name.includes("-")).length;
  const counts = [
    [report.messages_trimmed, "report.kept.messages"],
    [results, "report.kept.results"],
  ];
  const things = counts
    .filter(([count]) => Number(count) > 0)
    .map(([count, key]) =>
      tn(/** @type {"report.kept.messages"} */ (key), Number(count), {
        count: number(Number(count)),
      }),
    );
  if (!things.length) return report.left_out.length ? "" : t("report.complete");
  // A model without tools cannot look anything up.
  const way = report.parts.tool_schemas.tokens > 0 ? "report.kept" : "report.stored";
  return tn(way, report.messages_trimmed + results, { things: things.join(t("report.and")) });
}

/**
 * How far each limit is that asks for the next summary, in the words of `/context`
 * (assistant/context/report_words.py).
 * @param {ContextReport} report
 * @returns {{heading: string, lines: string[], due: string} | null} null for a report that names no
 *   limit, such as one that an older version made
 */
export function reportTriggers({ triggers, due, next_trigger: next }) {
  if (!triggers?.length) return null;
  return {
    heading: t(next ? "report.next" : "report.next.off"),
    lines: triggers.map(({ what, setting, now, at, share: part }) =>
      t("report.next.line", {
        now: number(now),
        at: number(at),
        what,
        percent: percent(part),
        setting,
      }),
    ),
    due: t(due ? "report.next.due" : "report.next.none"),
  };
}

/** Decimal places of prices: a request often costs less than a cent. */
const MONEY_DIGITS = 4;

/** @param {NonNullable<ContextReport["cost"]>} cost @returns {string} what the provider charges */
function costNote({ currency, request, chat }) {
  const money = (/** @type {number} */ value) =>
    number(value, { style: "currency", currency, maximumFractionDigits: MONEY_DIGITS });
  return t("report.cost", { request: money(request), chat: money(chat) });
}

/**
 * @param {ContextReport} report
 * @returns {[string, string][]} the raw numbers, as label and value
 */
export function reportDetails(report) {
  const none = t("report.raw.none");
  const { usage, left_out: left } = report;
  /** @type {[string, string][]} */
  const rows = [
    [t("report.raw.system"), report.system_kind],
    [t("report.raw.messages"), number(report.messages_sent)],
    [t("report.raw.strength"), textFor(`report.strength.${report.strength}`, "report.raw.none")],
    [t("report.raw.limits"), report.limits_applied.join(", ") || none],
    [t("report.raw.left"), listed(left) || none],
  ];
  if (report.request > 0) rows.unshift([t("report.raw.request"), number(report.request)]);
  for (const [name, amount] of Object.entries(report.parts)) {
    const values = { tokens: number(amount.tokens), chars: number(amount.chars) };
    rows.push([textFor(`report.part.${name}`, "report.part.other"), t("report.raw.part", values)]);
  }
  rows.push([
    t("report.raw.window"),
    t("report.raw.room", { window: number(report.window), reserve: number(report.reserve) }),
  ]);
  const counted = Object.entries(usage ?? {}).filter(([, value]) => typeof value === "number");
  const used = counted.map(
    ([name, value]) => `${name} ${number(Number(value), { maximumFractionDigits: 2 })}`,
  );
  rows.push([t("report.raw.usage"), used.join(", ") || none]);
  return rows;
}

/** @param {string[]} names @returns {string} the first names, and the number of the others */
function listed(names) {
  const first = names.slice(0, NAMED).join(", ");
  const more = names.length - NAMED;
  return more > 0 ? t("report.raw.more", { names: first, count: number(more) }) : first;
}
