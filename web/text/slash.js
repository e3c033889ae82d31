// @ts-check
/**
 * The `/` list: which commands and skills fit what was typed, and what choosing one means. Pure;
 * the list itself is `views/slash-list.js`, what a command does is the panel's.
 */

import { t } from "../strings.js";

/** @typedef {import("../types.js").SkillEntry} SkillEntry */
/** @typedef {"new" | "skills" | "model" | "settings"} Command one that the panel carries out */

/**
 * @typedef {object} SlashOption
 * @property {string} text what stands in the message when it is chosen
 * @property {string} detail
 * @property {boolean} yours
 * @property {Command | "send" | null} command what choosing it does; null: the text is only put in
 */

/**
 * "send": the server answers it in the chat.
 * @type {[string, Command | "send" | null, Parameters<typeof t>[0]][]}
 */
const COMMANDS = [
  ["/new", "new", "slash.new"],
  ["/skill", null, "slash.skill"],
  ["/skills", "skills", "slash.skills"],
  ["/context", "send", "slash.context"],
  ["/tokens", "send", "slash.tokens"],
  ["/compact", "send", "slash.compact"],
  ["/model", "model", "slash.model"],
  ["/settings", "settings", "slash.settings"],
  ["/help", "send", "slash.help"],
];

/** The server's other names for `/compact`; offered only to who begins to type them. */
const SAME = ["/summarize", "/summarise"];

/** How many rows the list shows at most: it stays above the text box. */
const MOST = 40;

/**
 * @param {string} typed the whole message so far
 * @returns {Command | null} the panel's own command that it is, word for word
 */
export function commandOf(typed) {
  const found = COMMANDS.find(([text]) => text === typed.trim().toLowerCase())?.[1] ?? null;
  return found === "send" ? null : found;
}

/** @param {string} said a message of the user @returns {boolean} whether the server answers it */
export function isAnswered(said) {
  const name = /^\s*(\/[a-z]+)(?:[ \t][^\n]*)?\s*$/.exec(said)?.[1];
  return (
    name !== undefined &&
    (SAME.includes(name) || COMMANDS.some(([text, kind]) => text === name && kind === "send"))
  );
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
  const same = SAME.filter((text) => word.length > 2 && text.startsWith(word)).slice(0, 1);
  const others = same.map((text) => ({
    text,
    detail: t("slash.compact"),
    yours: false,
    command: /** @type {const} */ ("send"),
  }));
  return [...commands, ...others, ...skillOptions(word.slice(1), skills)].slice(0, MOST);
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
