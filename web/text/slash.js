// @ts-check
/**
 * Completion of slash commands: the commands and skills that match the typed text, and what
 * choosing an option does. Pure; the list is drawn in `views/slash-list.js`.
 */

import { t } from "../strings.js";

/** @typedef {import("../types.js").SkillEntry} SkillEntry */
/** @typedef {import("../types.js").CommandEntry} CommandEntry */
/** @typedef {"new" | "chats" | "skills" | "memory" | "model" | "settings"} PanelCommand run by the
 *   panel */

/**
 * @typedef {object} SlashOption
 * @property {string} text the message after choosing the option
 * @property {string} detail
 * @property {boolean} yours
 * @property {PanelCommand | "send" | null} command run when the option is chosen; "send": the
 *   text is sent; null: the text is only inserted
 */

/** Commands that the panel runs itself if they have no argument. */
const PANEL_COMMANDS = /** @type {Readonly<Record<string, PanelCommand>>} */ ({
  new: "new",
  chats: "chats",
  skills: "skills",
  memory: "memory",
  model: "model",
  settings: "settings",
});
/** Other names of such commands. */
const ALIASES = /** @type {Readonly<Record<string, string>>} */ ({ sessions: "chats" });

/** Commands listed until the server's list is loaded. @type {readonly CommandEntry[]} */
const BUILT_IN = [
  { name: "new", line: t("slash.new") },
  { name: "skill", line: t("slash.skill"), argument: "<name>" },
  { name: "skills", line: t("slash.skills") },
  { name: "memory", line: t("slash.memory") },
  { name: "context", line: t("slash.context") },
  { name: "tokens", line: t("slash.tokens") },
  { name: "compact", line: t("slash.compact"), aliases: ["summarize", "summarise"] },
  { name: "model", line: t("slash.model") },
  { name: "settings", line: t("slash.settings") },
  { name: "help", line: t("slash.help") },
];

/** Commands that the server answers without a model (R41). */
const SERVER_COMMANDS = new Set(
  ("chats sessions open session delete cleanup rename export history search context tokens " +
    "compact summarize summarise skills memory remember forget model new help")
    .split(" "),
);

/** Most characters of a command with its argument. */
const COMMAND = 4000;

/** Most rows of the list, which must fit above the text box. */
const MOST = 40;

/**
 * @param {string} typed the whole message so far
 * @returns {PanelCommand | null} null if the message is no command of the panel
 */
export function panelCommandOf(typed) {
  const typedName = /^\/([a-z]+)$/.exec(typed.trim().toLowerCase())?.[1] ?? "";
  const name = Object.hasOwn(ALIASES, typedName) ? ALIASES[typedName] : typedName;
  return Object.hasOwn(PANEL_COMMANDS, name) ? PANEL_COMMANDS[name] : null;
}

/** @param {string} text of a user message @returns {boolean} */
export function isServerCommand(text) {
  const command = text.length > COMMAND ? "" : text.trim();
  const name = /^\/([a-z]+)(?:[ \t][^\n]*)?$/i.exec(command)?.[1].toLowerCase();
  return name !== undefined && SERVER_COMMANDS.has(name);
}

/**
 * @param {string} typed the whole message so far
 * @param {readonly SkillEntry[]} skills
 * @param {readonly CommandEntry[] | null} [commands] of the server; null: not loaded
 * @returns {SlashOption[]} best first; empty if the message is no command or is complete
 */
export function slashOptions(typed, skills, commands = null) {
  if (!typed.startsWith("/") || typed.includes("\n")) return [];
  const named = /^\/skill\s+(.*)$/i.exec(typed);
  if (named) return isComplete(named[1], skills) ? [] : skillOptions(named[1], skills);
  if (/\s/.test(typed)) return [];
  const word = typed.slice(1).toLowerCase();
  const all = commands ? withPanelCommands(commands) : BUILT_IN;
  const found = all.flatMap((entry) => {
    // Aliases are listed only when their beginning is typed.
    const other = word.length > 1 && entry.aliases?.find((alias) => alias.startsWith(word));
    const name = entry.name.startsWith(word) ? entry.name : other;
    return name ? [commandOption(entry, name)] : [];
  });
  return [...found, ...skillOptions(word, skills)].slice(0, MOST);
}

/** @param {readonly CommandEntry[]} commands @returns {readonly CommandEntry[]} */
function withPanelCommands(commands) {
  const known = new Set(commands.map((entry) => entry.name));
  const own = BUILT_IN.filter(({ name }) => Object.hasOwn(PANEL_COMMANDS, name));
  return [...commands, ...own.filter(({ name }) => !known.has(name))];
}

/** @param {CommandEntry} entry @param {string} name the name or an alias @returns {SlashOption} */
function commandOption({ name: first, line, argument }, name) {
  // The line is Markdown, and an option is plain text.
  const detail = { detail: line.replaceAll("`", ""), yours: false };
  if (Object.hasOwn(PANEL_COMMANDS, first)) {
    return { text: `/${name}`, ...detail, command: PANEL_COMMANDS[first] };
  }
  if (argument?.startsWith("<")) return { text: `/${name} `, ...detail, command: null };
  return { text: `/${name}`, ...detail, command: "send" };
}

/** @param {string} typed @param {readonly SkillEntry[]} skills @returns {SlashOption[]} */
function skillOptions(typed, skills) {
  const wanted = typed.trim().toLowerCase();
  const handles = handlesOf(skills);
  return skills
    .map((skill) => ({ skill, rank: rank(skill, wanted) }))
    .filter(({ rank: value }) => value >= 0)
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST)
    .map(({ skill }) => ({
      text: `/skill ${handles.get(skill.slug) ?? skill.slug}`,
      detail: skill.name,
      yours: skill.yours,
      command: null,
    }));
}

/**
 * @param {string} typed after "/skill"
 * @param {readonly SkillEntry[]} skills
 * @returns {boolean} whether it is all that names a skill
 */
function isComplete(typed, skills) {
  const wanted = typed.trim().toLowerCase();
  const handles = handlesOf(skills);
  return skills.some(({ slug }) => slug === wanted || handles.get(slug) === wanted);
}

/**
 * What a person types for a skill: the slug without the number that orders shipped skills ("sdxl" of
 * "20_model_sdxl"), as the server reads it. A handle of several skills means none of them.
 * @param {readonly SkillEntry[]} skills
 * @returns {Map<string, string>} by slug
 */
function handlesOf(skills) {
  const handles = skills.map(({ slug }) => slug.replace(/^\d+_(?:model_)?/, "") || slug);
  const names = [...handles, ...skills.map(({ slug }) => slug)];
  const once = (/** @type {string} */ handle, /** @type {string} */ slug) =>
    handle === slug || names.filter((name) => name === handle).length === 1;
  return new Map(
    skills.map(({ slug }, at) => [slug, once(handles[at], slug) ? handles[at] : slug]),
  );
}

/** @param {SkillEntry} skill @param {readonly SkillEntry[]} skills @returns {string} */
export const handleOf = (skill, skills) => handlesOf(skills).get(skill.slug) ?? skill.slug;

/**
 * @param {SkillEntry} skill
 * @param {string} wanted
 * @returns {number} lower is better; -1: no match
 */
function rank(skill, wanted) {
  const names = [skill.slug.toLowerCase(), skill.name.toLowerCase()];
  if (names.some((name) => name.startsWith(wanted))) return 0;
  if (names.some((name) => name.includes(wanted))) return 1;
  return wanted.length > 2 && skill.description.toLowerCase().includes(wanted) ? 2 : -1;
}
