// @ts-check
/**
 * The `/` list: which commands and skills fit what was typed, and what choosing one means. Pure;
 * the list itself is `views/slash-list.js`, what a command does is the panel's.
 */

import { t } from "../strings.js";

/** @typedef {import("../types.js").SkillEntry} SkillEntry */
/** @typedef {"new" | "skills" | "context" | "model" | "settings" | "help"} Command */

/**
 * @typedef {object} SlashOption
 * @property {string} text what stands in the message when it is chosen
 * @property {string} detail
 * @property {boolean} yours
 * @property {Command | null} command run at once when chosen; null: the text is only put in
 */

/** @type {[string, Command | null, Parameters<typeof t>[0]][]} */
const COMMANDS = [
  ["/new", "new", "slash.new"],
  ["/skill", null, "slash.skill"],
  ["/skills", "skills", "slash.skills"],
  ["/context", "context", "slash.context"],
  ["/model", "model", "slash.model"],
  ["/settings", "settings", "slash.settings"],
  ["/help", "help", "slash.help"],
];

/** How many rows the list shows at most: it stays above the text box. */
const MOST = 40;

/** @returns {{text: string, detail: string}[]} for the help page */
export const commandList = () => COMMANDS.map(([text, , detail]) => ({ text, detail: t(detail) }));

/**
 * @param {string} typed the whole message so far
 * @returns {Command | null} the panel's own command that it is, word for word
 */
export function commandOf(typed) {
  return COMMANDS.find(([text]) => text === typed.trim().toLowerCase())?.[1] ?? null;
}

/**
 * @param {string} typed the whole message so far
 * @param {readonly SkillEntry[]} skills
 * @returns {SlashOption[]} best first; empty when the message is no command or needs no completion
 */
export function slashOptions(typed, skills) {
  if (!typed.startsWith("/") || typed.includes("\n")) return [];
  const named = /^\/skill\s+(.*)$/i.exec(typed);
  if (named) return skillOptions(named[1], skills);
  if (/\s/.test(typed)) return [];
  const word = typed.toLowerCase();
  const commands = COMMANDS.filter(([text]) => text.startsWith(word)).map(
    ([text, command, detail]) => ({
      text: command ? text : `${text} `,
      detail: t(detail),
      yours: false,
      command,
    }),
  );
  return [...commands, ...skillOptions(word.slice(1), skills)].slice(0, MOST);
}

/** @param {string} typed @param {readonly SkillEntry[]} skills @returns {SlashOption[]} */
function skillOptions(typed, skills) {
  const wanted = typed.trim().toLowerCase();
  if (skills.some((skill) => skill.slug === wanted)) return [];
  return skills
    .map((skill) => ({ skill, rank: rank(skill, wanted) }))
    .filter(({ rank: value }) => value >= 0)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST)
    .map(({ skill }) => ({
      text: `/skill ${skill.slug}`,
      detail: skill.name,
      yours: skill.yours,
      command: null,
    }));
}

/**
 * @param {SkillEntry} skill
 * @param {string} wanted
 * @returns {number} lower is better, -1: no fit
 */
function rank(skill, wanted) {
  const names = [skill.slug.toLowerCase(), skill.name.toLowerCase()];
  if (names.some((name) => name.startsWith(wanted))) return 0;
  if (names.some((name) => name.includes(wanted))) return 1;
  return wanted.length > 2 && skill.description.toLowerCase().includes(wanted) ? 2 : -1;
}
