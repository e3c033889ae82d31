// @ts-check
/** Error cards: what happened, and buttons for the next step. */

import { t, textFor } from "../strings.js";
import { clip, seen } from "../text/plain.js";
import { createCard } from "./card.js";
import { button, h } from "./dom.js";

/** @typedef {import("../types.js").TurnError} TurnError */
/** @typedef {(action: string) => void} OnAction */

/** Most characters of a message, and of the provider's own words: an imported chat may hold any. */
const LONGEST = 2000;
/** Most buttons. */
const BUTTONS = 4;

/** Codes of refusals (400) and faults (500) that only the provider's own words explain. */
const UNEXPLAINED = new Set(["bad_request", "provider_error"]);

/**
 * @param {TurnError} error
 * @param {OnAction | null} onAction null: no buttons (an older message)
 * @param {boolean} [leads] whether its first button is the likely next step
 */
export function createErrorCard(error, onAction, leads = true) {
  const given = Array.isArray(error.actions) ? error.actions : [];
  const actions = onAction ? given.slice(0, BUTTONS) : [];
  return createCard({
    tone: "error",
    mark: "warn",
    title: textFor(`error.title.${error.code}`, "error.title.failed"),
    role: "group",
    body: [h("p", {}, h("bdi", {}, clip(seen(String(error.message ?? "")), LONGEST)))],
    actions: actions.map((action, index) =>
      button(
        textFor(`error.action.${action}`, "error.action.open-settings"),
        leads && index === 0 ? "primary" : "plain",
        () => onAction?.(action),
      ),
    ),
    details: detailsOf(error),
  });
}

/** @param {TurnError} error @returns {Parameters<typeof createCard>[0]["details"]} */
function detailsOf({ code, detail }) {
  const words = clip(seen(String(detail ?? "")), LONGEST).trim();
  if (!words) return undefined;
  return { label: t("error.words"), text: words, open: UNEXPLAINED.has(code) };
}

/** The card for an unreachable ComfyUI. @param {() => void} onTry @returns {HTMLElement} */
export const createServerCard = (onTry) =>
  createCard({
    tone: "error",
    mark: "warn",
    title: t("error.title.server"),
    role: "group",
    body: [h("p", {}, t("error.server"))],
    actions: [button(t("error.action.try-now"), "primary", onTry)],
  });
