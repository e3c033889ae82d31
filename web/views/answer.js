// @ts-check
/**
 * An assistant message: its parts in order and the buttons below. Each part has its own view, which
 * is kept while the part grows.
 */

import { isTool } from "../state/fold-tool.js";
import { durationKey, questionOf, textOf } from "../state/messages.js";
import { t, textFor, tn } from "../strings.js";
import { clockTime, duration, number, tokens } from "../text/format.js";
import { clip, nameOf } from "../text/plain.js";
import { linkTarget } from "../text/policy.js";
import { createApproval } from "./approval.js";
import { button, copyButton, h, icon, iconButton, present, setText, show } from "./dom.js";
import { createErrorCard } from "./error-card.js";
import { createMarkdownView } from "./markdown.js";
import { createReasoningView } from "./reasoning.js";
import { createServerBlock } from "./server-block.js";
import { createSources } from "./sources.js";
import { createToolStep } from "./tool-step.js";
import { filePart, isPicture } from "./user-message.js";
import { createVersions } from "./versions.js";

/** @typedef {import("../types.js").Part} Part */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} AnswerActions
 * @property {(markdown: string) => string | null} markdown renders with the host's
 *   renderer
 * @property {import("./drawing.js").Draw} draw
 * @property {() => unknown} regenerate
 * @property {() => unknown} goOn asks the model to continue
 * @property {(action: string) => void} act called by the buttons of an error card
 * @property {import("./approval.js").Decisions["approve"]} approve
 * @property {import("./approval.js").Decisions["reject"]} reject
 * @property {(id: string) => unknown} branch
 * @property {(id: string) => unknown} showVersion
 */

/**
 * @typedef {object} AnswerFacts
 * @property {boolean} last
 * @property {boolean} live whether the message is streaming
 * @property {boolean} busy
 * @property {import("../types.js").Version | undefined} version
 * @property {Record<string, number>} durations
 */

/**
 * @typedef {{kind: string, element: HTMLElement, update(part: any, facts: PartFacts): void}}
 *   PartView
 */
/** @typedef {{live: boolean, last: boolean, took: number | undefined}} PartFacts */

/** Most parts of an answer that are drawn, from its end, and how many more the user can ask for. */
const MOST_PARTS = 300;
const STEP = 100;
/** Most characters of a notice. */
const NOTICE = 1000;

/** @param {AnswerActions} actions */
export function createAnswer(actions) {
  const parts = h("div", { class: "ca-parts" });
  const earlier = h("button", {
    type: "button",
    class: "ca-link",
    hidden: true,
    onclick: () => showEarlier(),
  });
  const sources = createSources();
  const after = h("div", { class: "ca-after" });
  const tools = h("div", { class: "ca-message__tools" });
  const element = h(
    "article",
    { class: "ca-message ca-message--answer", "aria-label": t("message.theirs") },
    earlier,
    parts,
    sources.element,
    after,
    tools,
  );
  /** The view of each part from the first drawn one on. @type {(PartView | null)[]} */
  let views = [];
  /** Index of the first drawn part. */
  let first = 0;
  let most = MOST_PARTS;
  /** @type {AnswerFacts | null} */
  let known = null;
  /** @type {UIMessage | null} */
  let message = null;
  let wasLive = false;
  let footing = "";

  /** @param {UIMessage} next @param {AnswerFacts} facts */
  const drawParts = (next, facts) => {
    moveFirst(next.parts.length);
    const shown = next.parts.slice(first);
    /** The view after the part that is drawn. @type {Element | null} */
    let following = null;
    for (const view of views.splice(shown.length)) view?.element.remove();
    for (let at = shown.length - 1; at >= 0; at -= 1) {
      const part = shown[at];
      const index = first + at;
      const kind = kindOf(part);
      let view = views[at] ?? null;
      const made = (view?.kind ?? "") !== kind;
      if (made) {
        view?.element.remove();
        view = kind ? createPartView(kind, part, actions) : null;
        if (view) parts.insertBefore(view.element, following);
        views[at] = view;
      }
      if (made || part !== message?.parts[index] || facts.live || wasLive) {
        const last = index === next.parts.length - 1;
        const took = tookOf(next.id, part, index, facts.durations);
        view?.update(part, { live: facts.live, last, took });
      }
      following = view?.element ?? following;
    }
  };

  /** Of a long answer only the last parts are drawn; the first one moves in steps. */
  const moveFirst = (/** @type {number} */ count) => {
    const from = Math.max(0, Math.ceil((count - most) / STEP) * STEP);
    if (from > first) {
      for (const view of views.splice(0, from - first)) view?.element.remove();
    } else if (from < first) {
      views = [...Array(first - from).fill(null), ...views];
    }
    first = from;
    show(earlier, first > 0);
    if (first > 0) setText(earlier, tn("parts.earlier", first, { count: number(first) }));
  };

  const showEarlier = () => {
    if (!message || !known) return;
    most += STEP;
    drawParts({ ...message }, known);
  };

  /** @param {UIMessage} next @param {AnswerFacts} facts */
  const drawFoot = (next, facts) => {
    const { cut, error } = next.metadata ?? {};
    const state = JSON.stringify([next.metadata, facts.last, facts.live, facts.busy, facts.version]);
    if (state === footing) return;
    footing = state;
    const open = facts.last && !facts.busy;
    after.replaceChildren(
      ...present([
        !facts.live && error && createErrorCard(error, open ? actions.act : null),
        !facts.live && !error && cut && cutLine(cut, open ? actions.goOn : null),
        !facts.live && tokensLine(next.metadata?.usage),
      ]),
    );
    tools.replaceChildren(
      ...(facts.live ? [] : present(answerTools(next, facts, actions))),
    );
  };

  return {
    element,
    /** @param {UIMessage} next @param {AnswerFacts} facts */
    update(next, facts) {
      element.setAttribute("aria-busy", String(facts.live));
      element.classList.toggle("ca-message--quiet", next.metadata?.command !== undefined);
      known = facts;
      drawParts(next, facts);
      sources.update(next.parts);
      message = next;
      wasLive = facts.live;
      drawFoot(next, facts);
    },
  };
}

/** @param {Part} part @returns {string} the kind of its view; "" if it is not shown */
function kindOf(part) {
  if (isTool(part))
    return part.state === "approval-requested" ? `approval ${questionOf(part)}` : "tool";
  if (part.type === "text" || part.type === "reasoning" || part.type === "file") return part.type;
  if (part.type === "data-server-block") return "block";
  return part.type === "data-notice" ? "notice" : "";
}

/** @param {string} kind @param {any} part @param {AnswerActions} actions @returns {PartView} */
function createPartView(kind, part, actions) {
  if (kind === "text") {
    const view = createMarkdownView(actions.markdown, actions.draw);
    return {
      kind,
      element: view.element,
      update: (next, facts) => view.update(next.text, facts.live && next.state === "streaming"),
    };
  }
  if (kind === "reasoning") return { kind, ...createReasoningView(actions.draw) };
  if (kind === "tool") return { kind, ...createToolStep(actions.draw) };
  if (kind === "notice") return { kind, ...createNotice(part) };
  if (kind.startsWith("approval ")) return { kind, ...createApproval(part, actions) };
  if (kind === "block") return { kind, ...createServerBlock(actions.draw) };
  return { kind, element: answerFile(part), update: () => undefined };
}

/**
 * @param {string} id
 * @param {any} part
 * @param {number} index
 * @param {Record<string, number>} durations
 */
function tookOf(id, part, index, durations) {
  const reported = (part.resultProviderMetadata ?? part.providerMetadata)?.assistant?.ms;
  if (typeof reported === "number") return reported;
  return durations[durationKey(id, part.toolCallId ?? index)];
}

/** @param {{data?: {code?: string, message?: string}}} part */
function createNotice(part) {
  const element = quietLine("info", clip(String(part.data?.message ?? ""), NOTICE));
  const text = /** @type {HTMLElement} */ (element.lastElementChild);
  return {
    element,
    /** A later notice of the same code replaces the text. A notice about waiting is hidden when the
     * wait is over. */
    update(/** @type {typeof part} */ { data }, /** @type {PartFacts} */ { live, last }) {
      const message = clip(String(data?.message ?? ""), NOTICE);
      if (text.textContent !== message) text.textContent = message;
      show(element, data?.code !== "waiting" || (live && last));
    },
  };
}

/** @param {string} mark @param {string} text @param {...import("./dom.js").Child} more */
const quietLine = (mark, text, ...more) =>
  h("div", { class: "ca-notice" }, icon(mark), h("span", {}, text), ...more);

/**
 * A picture that the model made. One at a web address is a link: nothing is fetched.
 * @param {import("../types.js").FilePart} part
 */
function answerFile(part) {
  if (isPicture(part)) {
    const look = { class: "ca-thumb ca-thumb--answer", decoding: "async" };
    return h("img", { ...look, src: part.url, alt: t("answer.picture") });
  }
  const url = linkTarget(part.url, document.baseURI);
  if (!url || !/^https?:/.test(url)) return filePart(part);
  const words = t("answer.picture.at", { host: new URL(url).host });
  const link = h("a", { href: url, title: url, target: "_blank", rel: "noopener noreferrer" }, words);
  return h("div", { class: "ca-notice" }, icon("file"), h("span", {}, link));
}

/** @param {string} cut @param {(() => unknown) | null} goOn */
const cutLine = (cut, goOn) =>
  quietLine(
    "hand",
    textFor(`cut.${cut}`, "cut.cut"),
    goOn &&
      button(t("cut.continue"), "plain", goOn, {
        class: "ca-button ca-button--plain ca-button--small",
      }),
  );

/**
 * What was read and written for this answer; shown after `/tokens on`.
 * @param {import("../types.js").Metadata["usage"]} usage
 */
const tokensLine = (usage) =>
  usage?.input_tokens !== undefined &&
  h(
    "p",
    { class: "ca-tokens" },
    t("message.tokens", {
      read: number(usage.input_tokens),
      written: number(usage.output_tokens ?? 0),
    }),
  );

/** @param {UIMessage} message @param {AnswerFacts} facts @param {AnswerActions} actions */
function answerTools(message, { last, busy, version }, actions) {
  const { model, created, timing, usage, command } = message.metadata ?? {};
  const facts = [
    nameOf(model),
    clockTime(created),
    !command && timing?.total_ms !== undefined && duration(timing.total_ms),
    usage?.output_tokens !== undefined && tokens(usage.output_tokens),
  ].filter(Boolean);
  const hasText = textOf(message) !== "";
  return [
    version && createVersions(version, busy ? null : actions.showVersion),
    hasText && copyButton(t("message.copy"), t("message.copied"), () => textOf(message)),
    last &&
      !busy &&
      !command &&
      iconButton("retry", t("message.retry"), {
        class: "ca-icon-button--small",
        onclick: actions.regenerate,
      }),
    iconButton("branch", t("message.branch"), {
      class: "ca-icon-button--small",
      disabled: busy,
      onclick: () => actions.branch(message.id),
    }),
    facts.length > 0 && h("span", { class: "ca-message__facts" }, facts.join(" · ")),
  ];
}
