// @ts-check
/** Well-known providers to start from, and what makes an entered one unusable. Pure. */

import { t, textFor } from "../strings.js";

/** Their documented OpenAI-compatible addresses; the local ones on their usual ports. */
export const PRESETS = [
  { name: "Ollama", url: "http://127.0.0.1:11434/v1", key: false },
  { name: "LM Studio", url: "http://127.0.0.1:1234/v1", key: false },
  { name: "llama.cpp", url: "http://127.0.0.1:8080/v1", key: false },
  { name: "vLLM", url: "http://127.0.0.1:8000/v1", key: false },
  { name: "OpenAI", url: "https://api.openai.com/v1", key: true },
  { name: "OpenRouter", url: "https://openrouter.ai/api/v1", key: true },
];

/** Tokens; a smaller window holds no chat. */
const SMALLEST_WINDOW = 1024;

/**
 * @param {{name: string, base_url: string, model: string, context_window?: number}} provider
 * @returns {string | null} what is wrong, in words
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

/** @param {string} url @returns {string} the host, "" for no URL */
export function hostOf(url) {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** @param {string} source @returns {string} where a provider comes from, in words */
export const sourceName = (source) => textFor(`source.${source}`, "source.settings");
