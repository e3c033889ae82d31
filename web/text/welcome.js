// @ts-check
/** Texts of an empty chat: which model answers, what the assistant sees, first prompts. Pure. */

import { number } from "./format.js";
import { hostOf, plainName } from "./provider.js";
import { t, tn } from "../strings.js";

/** @typedef {import("../types.js").HealthProvider} HealthProvider */
/** @typedef {import("../types.js").WorkflowSummary} WorkflowSummary */

/** @param {HealthProvider} provider @returns {string} the model, and where messages are sent */
export function whoAnswers({ name: full, model, local, demo, base_url: url }) {
  const name = plainName(full);
  if (demo) return t("first.demo", { model });
  return local
    ? t("first.local", { model, name })
    : t("first.remote", { model, name, host: hostOf(url) || name });
}

/**
 * @param {WorkflowSummary | null} workflow
 * @param {boolean} demo
 * @param {string} sentence what the workflow makes; "" where that is not known
 * @returns {string}
 */
export function whatISee(workflow, demo, sentence) {
  if (demo) return t("empty.blind");
  if (!workflow || workflow.nodes === 0) return t("empty.canvas");
  const nodes = tn("empty.nodes", workflow.nodes, { count: number(workflow.nodes) });
  const name = workflow.name || t("empty.unnamed");
  const missing = [
    workflow.missingNodes > 0 && tn("empty.missingNodes", workflow.missingNodes),
    workflow.missingModels > 0 && tn("empty.missingModels", workflow.missingModels),
  ].filter(Boolean);
  const sees = missing.length
    ? t("empty.seesMissing", { name, nodes, missing: missing.join(", ") })
    : t("empty.sees", { name, nodes });
  return sentence ? `${sees} ${sentence}` : sees;
}

/**
 * @param {WorkflowSummary | null} workflow
 * @param {boolean} demo whether the demo model is in use, which cannot read workflows
 * @returns {{mark: string, text: string}[]} three first prompts
 */
export function firstPrompts(workflow, demo) {
  if (demo || !workflow || workflow.nodes === 0) {
    return [
      { mark: "spark", text: t(demo ? "ask.prompt" : "ask.begin") },
      { mark: "question", text: t("ask.words") },
      { mark: "graph", text: t(demo ? "ask.begin" : "ask.choose") },
    ];
  }
  const prompts = [{ mark: "graph", text: t("ask.explain") }];
  if (workflow.missingModels > 0) prompts.unshift({ mark: "warn", text: t("ask.missingModels") });
  else if (workflow.missingNodes > 0)
    prompts.unshift({ mark: "warn", text: t("ask.missingNodes") });
  prompts.push({ mark: "spark", text: t(workflow.generates ? "ask.quality" : "ask.check") });
  if (prompts.length < 3) prompts.push({ mark: "clock", text: t("ask.faster") });
  return prompts;
}
