// @ts-check
/** What the page Memory says about a memory, and which memories it replaced. Pure. */

import { t, tn } from "../strings.js";
import { number, shortDate } from "./format.js";
import { nameOf, seen } from "./plain.js";

/** @typedef {import("../types.js").Memory} Memory */
/** @typedef {import("../types.js").MemoryKind} MemoryKind */

/** @type {readonly MemoryKind[]} in the order of the filters */
export const KINDS = ["preference", "fact", "entity", "relation", "session_summary"];
/** Kinds that a person can give a memory. @type {readonly MemoryKind[]} */
export const OWN_KINDS = ["preference", "fact", "entity", "relation"];
/** Most characters of a quote beside its memory. */
const QUOTE = 80;

/**
 * @param {readonly Memory[]} current
 * @param {readonly Memory[]} replaced
 * @returns {{of: ReadonlyMap<string, Memory[]>, lost: Memory[]}} `of`: what a current memory replaced
 *   at last, newest first, by its id; `lost`: those whose successor is not among the current ones
 */
export function historyOf(current, replaced) {
  const now = new Set(current.map(({ id }) => id));
  const next = new Map(replaced.map((one) => [one.id, one.superseded_by ?? ""]));
  /** @type {Map<string, Memory[]>} */
  const of = new Map();
  /** @type {Memory[]} */
  const lost = [];
  for (const memory of replaced.toSorted((one, other) => other.created.localeCompare(one.created))) {
    let at = memory.superseded_by ?? "";
    for (let steps = 0; next.has(at) && steps < replaced.length; steps += 1) at = next.get(at) ?? "";
    if (now.has(at)) of.set(at, [...(of.get(at) ?? []), memory]);
    else lost.push(memory);
  }
  return { of, lost };
}

/** @param {readonly Memory[]} memories @returns {Memory[]} pinned ones first, else as they were */
export const pinnedFirst = (memories) => [
  ...memories.filter(({ pinned }) => pinned),
  ...memories.filter(({ pinned }) => !pinned),
];

/** @param {Memory} memory @param {Date} now @returns {string[]} when it was made, and its use */
export const factsOf = ({ created, uses }, now) => [
  shortDate(created, now),
  ...(uses > 0 ? [tn("memory.used", uses, { count: number(uses) })] : []),
];

/** @param {string} text without what does not change what it says */
const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim();

/**
 * @param {Memory} memory
 * @returns {string} where it comes from, with the words that were said where it has others
 */
export function sourceText({ source, text, kind }) {
  if (!source) return t("memory.source.none");
  if (kind === "session_summary") return t("memory.source.summary");
  const quote = nameOf(source.quote, QUOTE);
  return bare(quote) === bare(text) || !quote
    ? t("memory.source.same")
    : t("memory.source", { quote });
}

/** @param {string} text of a memory @returns {string} safe beside our own words */
export const shownText = (text) => seen(text);
