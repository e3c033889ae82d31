// @ts-check
/**
 * All texts of the panel by key, screen reader texts included: a table for each area of the panel
 * in `strings/`. A translation is another table with the same keys. `{name}` is replaced by a value;
 * of a key with `.one` and `.other` the language's plural rule chooses one.
 */

import { CARDS } from "./strings/cards.js";
import { COMPOSER } from "./strings/composer.js";
import { CONVERSATION } from "./strings/conversation.js";
import { FAILURES } from "./strings/failures.js";
import { MEMORY } from "./strings/memory.js";
import { PAGES } from "./strings/pages.js";
import { STEPS } from "./strings/steps.js";
import { WELCOME } from "./strings/welcome.js";

export const ENGLISH = {
  ...CONVERSATION,
  ...STEPS,
  ...CARDS,
  ...FAILURES,
  ...COMPOSER,
  ...PAGES,
  ...MEMORY,
  ...WELCOME,
};

/** @typedef {keyof typeof ENGLISH} Key */
/** @typedef {Record<string, string | number>} Values */

/** @returns {string} BCP 47 tag of the language, also for numbers and dates */
export const language = () => "en";

/**
 * @param {Key} key
 * @param {Values} [values] for the `{names}` in the text
 * @returns {string}
 */
export function t(key, values = {}) {
  return ENGLISH[key].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * @typedef {Key extends infer K ? K extends `${infer Stem}.other` ? Stem : never : never} CountKey
 */

/**
 * The singular or plural text for a count.
 * @param {CountKey} stem a key without `.one` or `.other`
 * @param {number} count replaces `{count}`
 * @param {Values} [values]
 * @returns {string}
 */
export function tn(stem, count, values = {}) {
  const rule = new Intl.PluralRules(language()).select(count) === "one" ? "one" : "other";
  return t(/** @type {Key} */ (`${stem}.${rule}`), { count, ...values });
}

/**
 * The text of a key that contains a code of the server.
 * @param {string} key
 * @param {Key} otherwise key used if `key` does not exist
 * @returns {string}
 */
export function textFor(key, otherwise) {
  return t(Object.hasOwn(ENGLISH, key) ? /** @type {Key} */ (key) : otherwise);
}
