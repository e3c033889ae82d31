// @ts-check
/** Presets, names and validation of providers. Pure. */

import { t, textFor } from "../strings.js";

/** Documented OpenAI-compatible addresses; local servers with their default ports. */
export const PRESETS = [
  { name: "Ollama", url: "http://127.0.0.1:11434/v1", key: false },
  { name: "LM Studio", url: "http://127.0.0.1:1234/v1", key: false },
  { name: "llama.cpp", url: "http://127.0.0.1:8080/v1", key: false },
  { name: "vLLM", url: "http://127.0.0.1:8000/v1", key: false },
  { name: "OpenAI", url: "https://api.openai.com/v1", key: true },
  { name: "OpenRouter", url: "https://openrouter.ai/api/v1", key: true },
];

/** Tokens; the server refuses smaller windows. */
const SMALLEST_WINDOW = 1024;

/**
 * @param {{name: string, base_url: string, model: string, context_window?: number}} provider
 * @returns {string | null} the problem as a sentence; null if there is none
 */
export function providerProblem({ name, base_url: address, model, context_window: window }) {
  if (!name) return t("settings.missing", { field: t("settings.name") });
  if (!address) return t("settings.missing", { field: t("settings.address") });
  if (!/^https?:\/\/[^\s/]+/i.test(address)) return t("settings.url");
  if (!model) return t("settings.missing", { field: t("settings.model") });
  if (window !== undefined && !(Number.isInteger(window) && window >= SMALLEST_WINDOW)) {
    return t("settings.number");
  }
  return null;
}

/** @param {string} url @returns {string} the host; "" if `url` is no URL */
export function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** @param {string} source @returns {string} the source as text */
export const sourceName = (source) => textFor(`source.${source}`, "source.settings");

/**
 * @param {string} name
 * @returns {string} the name without its suffix: "Ollama (local)" as "Ollama"
 */
export const plainName = (name) => name.replace(/\s*\([^()]*\)$/, "") || name;

/** Characters that the server does not allow in names of providers. */
const NOT_IN_NAMES = /[^\p{L}\p{N} ._-]+/gu;
const LONGEST_NAME = 60;

/**
 * The name under which a provider that was found on this computer or in the environment is saved as
 * a provider of the user: the user's provider with the same address, or else an unused name.
 * @param {{name: string, base_url: string, source: string}} provider
 * @param {readonly {name: string, base_url: string, source: string}[]} known
 * @returns {string}
 */
export function savedName(provider, known) {
  if (provider.source === "settings") return provider.name;
  const own = known.filter((each) => each.source === "settings");
  const same = own.find((each) => each.base_url === provider.base_url);
  if (same) return same.name;
  const plain = plainName(provider.name).replace(NOT_IN_NAMES, " ").trim().slice(0, LONGEST_NAME);
  const wanted = plain || hostOf(provider.base_url).replace(NOT_IN_NAMES, " ");
  const taken = new Set(known.map((each) => each.name));
  for (let number = 2, name = wanted; ; number += 1) {
    if (!taken.has(name)) return name;
    name = `${wanted} ${number}`;
  }
}
