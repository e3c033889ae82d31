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

/** @param {string} address @returns {boolean} whether it is that of a server */
export const usableAddress = (address) => /^https?:\/\/[^\s/]+/i.test(address);

/**
 * @param {{name: string, base_url: string, model: string, context_window?: number}} provider
 * @returns {{field: import("../types.js").ProviderField, text: string} | null} the first field that
 *   has a problem, and the problem as a sentence
 */
export function providerProblem({ name, base_url: address, model, context_window: window }) {
  /** @param {import("../types.js").ProviderField} field */
  const missing = (field) => ({
    field,
    text: t("settings.missing", { field: t(`settings.${field}`) }),
  });
  if (!address) return missing("address");
  if (!usableAddress(address)) return { field: "address", text: t("settings.url") };
  if (!model) return missing("model");
  if (!name) return missing("name");
  if (window !== undefined && !(Number.isInteger(window) && window >= SMALLEST_WINDOW)) {
    return { field: "window", text: t("settings.number") };
  }
  return null;
}

/** @param {import("../types.js").ModelEntry} model @returns {string} what is known of it */
export function abilitiesOf({ vision, tools }) {
  /** @type {(string | false)[]} */
  const known = [
    typeof vision === "boolean" && t(vision ? "model.vision" : "model.vision.no"),
    typeof tools === "boolean" && t(tools ? "model.tools" : "model.tools.no"),
  ];
  return known.filter(Boolean).join(" · ");
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
const NOT_IN_NAMES = /[^A-Za-z0-9 ._-]+/g;
const LONGEST_NAME = 60;

/**
 * The name of a new provider: that of the preset with its address, or its host.
 * @param {string} address
 * @param {import("../types.js").ProviderSettings | null} settings
 * @returns {string} "" without a host
 */
export function namedAfter(address, settings) {
  const preset = PRESETS.find(({ url }) => url === address.trim().replace(/\/+$/, ""));
  const host = hostOf(address.trim()).replace(/^(?:www|api)\./, "");
  const name = preset?.name ?? host.replace(NOT_IN_NAMES, " ").trim().slice(0, LONGEST_NAME);
  return name && freeName(name, settings?.providers ?? []);
}

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
  return freeName(wanted, known);
}

/** @param {string} wanted @param {readonly {name: string}[]} known @returns {string} */
function freeName(wanted, known) {
  const taken = new Set(known.map((each) => each.name));
  for (let number = 2, name = wanted; ; number += 1) {
    if (!taken.has(name)) return name;
    name = `${wanted} ${number}`;
  }
}
