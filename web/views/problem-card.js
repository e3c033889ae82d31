// @ts-check
/** The card of problems with the installation, in the server's words. */

import { t } from "../strings.js";
import { createCard } from "./card.js";
import { h } from "./dom.js";

/** @typedef {import("../types.js").PanelState} PanelState */

/** @param {PanelState["health"]} health @returns {HTMLElement[]} empty without problems */
export function problemCards(health) {
  if (!health) return [];
  const lines = health.problems.map((problem) => problem.message);
  if (!health.saving.ok) {
    lines.push([t("problems.saving"), health.saving.message].filter(Boolean).join(": "));
  }
  if (!lines.length) return [];
  const body = lines.map((text) => h("p", {}, text));
  return [createCard({ tone: "warn", mark: "warn", title: t("problems.title"), body })];
}
