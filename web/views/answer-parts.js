// @ts-check
/**
 * The views of the parts of an answer: text, reasoning, steps, cards, notices, pictures. Which view a
 * part has follows from its kind; a part that changes its kind gets a new view.
 */

import { isEdit } from "../state/edits.js";
import { isToldAsKept } from "../state/kept.js";
import { isTool } from "../state/fold-tool.js";
import { durationKey, questionOf, toolName } from "../state/messages.js";
import { isPlan } from "../state/plan.js";
import { ASK_TOOL, questionIn } from "../state/waiting.js";
import { t } from "../strings.js";
import { clip } from "../text/plain.js";
import { linkTarget } from "../text/policy.js";
import { createApproval } from "./approval.js";
import { h, icon, setText, show } from "./dom.js";
import { createEditCard } from "./edit-card.js";
import { filePart, isPicture } from "./file-parts.js";
import { enlargeable } from "./lightbox.js";
import { createMarkdownView } from "./markdown.js";
import { createQuestionCard } from "./question-card.js";
import { createReasoningView } from "./reasoning.js";
import { createServerBlock } from "./server-block.js";
import { createToolStep } from "./tool-step.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {{kind: string, element: HTMLElement, update(part: any, facts: PartFacts): void}}
 *   PartView
 */
/**
 * `works`: whether the turn of the answer goes on, also between its streams. `decision`: what a call
 * that asks will do, in the server's words. `undone`: whether the changes of the answer were taken
 * back.
 * @typedef {{live: boolean, works: boolean, last: boolean, took: number | undefined, undone: boolean,
 *   decision: import("../state/waiting.js").Decision | null}} PartFacts
 */

/** Most characters of a notice. */
const NOTICE = 1000;

/**
 * @param {Part} part
 * @param {readonly Part[]} parts of the answer
 * @returns {string} the kind of its view; "" if it is not shown
 */
export function kindOf(part, parts) {
  if (isTool(part)) return toolKind(part, parts);
  if (part.type === "text" || part.type === "reasoning" || part.type === "file") return part.type;
  if (part.type === "data-server-block") return "block";
  return part.type === "data-notice" ? "notice" : "";
}

/** @param {import("../types.js").ToolPart} part @param {readonly Part[]} parts @returns {string} */
function toolKind(part, parts) {
  if (part.state === "approval-requested") return `approval ${questionOf(part)}`;
  // The plan has one card for all calls, above the parts; what was remembered has one below them.
  if (isPlan(part) || isToldAsKept(part, parts)) return "";
  if (isEdit(part)) return "edit";
  const isOpen = part.state === "input-available" || part.state === "output-available";
  return toolName(part) === ASK_TOOL && isOpen && questionIn(parts, part) ? "question" : "tool";
}

/**
 * @param {string} kind
 * @param {any} part
 * @param {readonly Part[]} parts of the answer
 * @param {import("./answer.js").AnswerActions} actions
 * @returns {PartView}
 */
export function createPartView(kind, part, parts, actions) {
  if (kind === "text") {
    const view = createMarkdownView(actions.markdown, actions.draw);
    return {
      kind,
      element: view.element,
      update: (next, facts) => view.update(next.text, facts.live && next.state === "streaming"),
    };
  }
  if (kind === "reasoning") return { kind, ...createReasoningView(actions.markdown, actions.draw) };
  if (kind === "tool") return { kind, ...createToolStep(actions.draw) };
  if (kind === "notice") return { kind, ...createNotice(part) };
  if (kind.startsWith("approval ")) return { kind, ...createApproval(part, actions) };
  if (kind === "edit") return { kind, ...createEditCard(part, actions.showNode) };
  const question = kind === "question" && questionIn(parts, part);
  if (question) return { kind, ...createQuestionCard(question, actions.answer) };
  if (kind === "block") return { kind, ...createServerBlock(actions.draw) };
  return { kind, element: answerFile(part), update: () => undefined };
}

/**
 * @param {UIMessage} message
 * @param {any} part
 * @param {number} index
 * @param {Record<string, number>} durations as this panel measured them, while the answer goes on
 * @returns {number | undefined} milliseconds
 */
export function tookOf({ id, metadata }, part, index, durations) {
  const name = part.toolCallId ?? index;
  const counted = metadata?.timing?.parts?.[name];
  return typeof counted === "number" ? counted : durations[durationKey(id, name)];
}

/** @typedef {{data?: {code?: string, message?: string, seconds?: number}}} NoticePart */

/** @param {NoticePart} part */
function createNotice(part) {
  const element = quietLine("info", clip(String(part.data?.message ?? ""), NOTICE));
  const text = /** @type {HTMLElement} */ (element.lastElementChild);
  let counted = "";
  let timer = 0;

  /** Counts the seconds of a wait down. @param {string} message @param {number} seconds */
  const count = (message, seconds) => {
    clearInterval(timer);
    counted = message;
    const end = Date.now() + seconds * 1000;
    timer = window.setInterval(() => {
      const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      setText(text, message.replace(`${seconds} s`, `${left} s`));
      // What was waited for has begun.
      if (!left) show(element, false);
      if (!left || !element.isConnected || element.hidden) clearInterval(timer);
    }, 250);
  };

  return {
    element,
    /** A later notice of the same code replaces the text. A notice about waiting is hidden when the
     * wait is over. */
    update(/** @type {NoticePart} */ { data }, /** @type {PartFacts} */ { live, last }) {
      const message = clip(String(data?.message ?? ""), NOTICE);
      const waits = live && last && data?.code === "waiting";
      if (message !== counted) setText(text, message);
      if (waits && data?.seconds && message !== counted) count(message, data.seconds);
      show(element, data?.code !== "waiting" || waits);
    },
  };
}

/** @param {string} mark @param {string} text @param {...import("./dom.js").Child} more */
export const quietLine = (mark, text, ...more) =>
  h("div", { class: "ca-notice" }, icon(mark), h("span", {}, text), ...more);

/**
 * A picture that the model made. One at a web address is a link: nothing is fetched.
 * @param {import("../types.js").FilePart} part
 */
function answerFile(part) {
  if (isPicture(part)) {
    const look = { class: "ca-thumb ca-thumb--answer", decoding: "async" };
    return enlargeable(h("img", { ...look, src: part.url, alt: t("answer.picture") }));
  }
  const url = linkTarget(part.url, document.baseURI);
  if (!url || !/^https?:/.test(url)) return filePart(part);
  const words = t("answer.picture.at", { host: new URL(url).host });
  const link = h("a", { href: url, title: url, target: "_blank", rel: "noopener noreferrer" }, words);
  return h("div", { class: "ca-notice" }, icon("file"), h("span", {}, link));
}
