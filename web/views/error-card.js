// @ts-check
/** Error cards: what happened, and buttons for the next step. */

import { t, textFor } from "../strings.js";
import { clip, seen } from "../text/plain.js";
import { createCard } from "./card.js";
import { button, h } from "./dom.js";

/** @typedef {import("../types.js").TurnError} TurnError */
/** @typedef {(action: string) => void} OnAction */

/** Most characters of a message: an imported chat may hold one of any length. */
const LONGEST = 2000;
/** Most characters of a code, and most buttons. */
const CODE = 100;
const BUTTONS = 4;

/** Codes of errors of the panel itself, which have no details. */
const LOCAL = new Set(["server", "turn_running"]);

/**
 * @param {TurnError} error
 * @param {OnAction | null} onAction null: no buttons (an older message)
 */
export function createErrorCard(error, onAction) {
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
        index === 0 ? "primary" : "plain",
        () => onAction?.(action),
      ),
    ),
    details: LOCAL.has(error.code) ? undefined : { label: t("error.details"), text: clip(String(error.code), CODE) },
  });
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
