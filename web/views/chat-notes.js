// @ts-check
/**
 * Notes above the composer, each shown while its condition holds: the connection is lost, earlier
 * messages are being summarised, the chat is not being saved, a tool call waits for another panel, another workflow is open, or the
 * installation has a problem, which an empty chat and the settings show in full.
 */

import { t } from "../strings.js";
import { clip, nameOf } from "../text/plain.js";
import { button, h, icon, iconButton, present } from "./dom.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").Health} Health */
/** @typedef {import("../types.js").WorkflowSummary} WorkflowSummary */

/** Most characters of a problem in a note; the settings page has all of them. */
const PROBLEM = 240;

/**
 * @typedef {object} NoteActions
 * @property {() => unknown} tryNow
 * @property {() => unknown} takeOver
 * @property {() => unknown} newChat
 * @property {() => unknown} bringCanvas
 * @property {() => unknown} hideOffer
 * @property {() => unknown} openSettings
 */

/** @param {NoteActions} actions */
export function createChatNotes(actions) {
  const element = h("div", { class: "ca-notes", role: "status" });
  /** The pair of chat and workflow whose note the user has hidden. */
  let hidden = "";
  /** The problem whose note the user has hidden. */
  let hiddenProblem = "";
  let drawn = "";

  /** @param {ChatState} chat @param {WorkflowSummary | null} open */
  const otherWorkflow = (chat, open) => {
    const name = chat.workflow?.name;
    if (!name || !open?.name || !chat.messages.length) return null;
    const same = name === open.name || (chat.workflow?.id && chat.workflow.id === open.id);
    const pair = `${chat.id} ${open.id}`;
    const shown = { name: nameOf(name), open: nameOf(open.name), pair };
    return same || pair === hidden ? null : shown;
  };

  /** @param {ChatState} chat @param {Health | null} health */
  const problemOf = (chat, health) => {
    if (!chat.messages.length) return "";
    const found = health?.problems.find(({ code }) => code !== "no_provider")?.message ?? "";
    return found === hiddenProblem ? "" : found;
  };

  /** @param {string} label @param {() => unknown} run */
  const act = (label, run) => button(label, "quiet", run, { class: "ca-link" });

  return {
    element,
    /** @param {ChatState} chat @param {WorkflowSummary | null} open @param {Health | null} health */
    update(chat, open, health) {
      const workflow = otherWorkflow(chat, open);
      const problem = problemOf(chat, health);
      // A cut is stored within milliseconds: only the writing of a summary is worth a note.
      const summarising = chat.compacting?.phase === "summarising";
      const next = JSON.stringify([
        chat.lost,
        summarising,
        chat.saving,
        chat.waitsFor,
        chat.offersCanvas,
        workflow,
        problem,
      ]);
      if (next === drawn) return;
      drawn = next;
      element.replaceChildren(
        ...present([
          chat.lost && line("ring", t("note.lost"), act(t("note.try"), actions.tryNow)),
          summarising && line("ring", t("note.summarising")),
          !chat.saving.ok &&
            line(
              "warn",
              chat.saving.message
                ? t("note.saving", { reason: chat.saving.message })
                : t("note.unsaved"),
            ),
          chat.waitsFor === "elsewhere" && line("info", t("note.elsewhere")),
          chat.waitsFor === "gone" &&
            line("info", t("note.gone"), act(t("note.take"), actions.takeOver)),
          chat.offersCanvas &&
            line(
              "graph",
              t("note.canvas"),
              act(t("note.canvas.bring"), actions.bringCanvas),
              iconButton("close", t("note.hide"), {
                class: "ca-icon-button--tiny",
                onclick: () => actions.hideOffer(),
              }),
            ),
          workflow &&
            line(
              "graph",
              t("note.workflow", workflow),
              act(t("note.workflow.new"), actions.newChat),
              iconButton("close", t("note.hide"), {
                class: "ca-icon-button--tiny",
                onclick: () => {
                  hidden = workflow.pair;
                  this.update(chat, open, health);
                },
              }),
            ),
          problem &&
            line(
              "warn",
              clip(problem, PROBLEM),
              act(t("error.action.open-settings"), actions.openSettings),
              iconButton("close", t("note.hide"), {
                class: "ca-icon-button--tiny",
                onclick: () => {
                  hiddenProblem = problem;
                  this.update(chat, open, health);
                },
              }),
            ),
        ]),
      );
    },
  };
}

/** @param {string} mark @param {string} text @param {...import("./dom.js").Child} more */
const line = (mark, text, ...more) =>
  h("div", { class: "ca-note" }, icon(mark), h("span", {}, text), ...more);
