// @ts-check
/**
 * Recalls earlier questions into an empty text box, as a shell does: each step goes one question
 * back or forth, and a step past the newest empties the box again. Pure.
 */

/** @typedef {{back: number, text: string}} Recalled `back`: 1 for the newest question */

/** @type {Recalled} */
export const NOTHING_RECALLED = { back: 0, text: "" };

/**
 * @param {readonly string[]} asked the questions, the oldest first
 * @param {Recalled} before result of the previous step
 * @param {string} typed what the text box holds
 * @param {1 | -1} step 1: further back
 * @returns {Recalled | null} null: the box holds a text of the user's own, or there is no such
 *   question
 */
export function recall(asked, before, typed, step) {
  if (typed !== before.text) return null;
  const texts = asked.filter((text, at) => text !== "" && text !== asked[at + 1]);
  const back = before.back + step;
  if (back < 0 || back > texts.length) return null;
  return { back, text: back ? texts[texts.length - back] : "" };
}
