// @ts-check
/**
 * An assistant message: its parts in order and the buttons below. Each part has its own view, which
 * is kept while the part grows.
 */

import { isTool } from "../state/fold-tool.js";
import { durationKey, pendingApprovals, questionOf, textOf } from "../state/messages.js";
import { t, textFor, tn } from "../strings.js";
import { clockTime, dateTime, duration, number, tokens } from "../text/format.js";
import { clip, nameOf } from "../text/plain.js";
import { linkTarget } from "../text/policy.js";
import { createApproval } from "./approval.js";
import { button, copyButton, h, icon, iconButton, present, setText, show } from "./dom.js";
import { createErrorCard } from "./error-card.js";
import { enlargeable } from "./lightbox.js";
import { createMarkdownView } from "./markdown.js";
import { createReasoningView } from "./reasoning.js";
import { createServerBlock } from "./server-block.js";
import { createSources } from "./sources.js";
import { createToolStep } from "./tool-step.js";
import { createToolbar } from "./toolbar.js";
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
/**
 * `works`: whether the turn of the answer goes on, also between its streams.
 * @typedef {{live: boolean, works: boolean, last: boolean, took: number | undefined}} PartFacts
 */

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
  const tools = createToolbar(t("message.tools"), { class: "ca-message__tools" });
  // Holds the waiting line, so that nothing moves when it comes and goes.
  const wait = h("div", { class: "ca-message__wait" });
  const element = h(
    "article",
    { class: "ca-message ca-message--answer", "aria-label": t("message.theirs") },
    earlier,
    parts,
    sources.element,
    after,
    tools.element,
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
  let worked = false;
  let footing = "";

  /** @param {UIMessage} next @param {AnswerFacts} facts */
  const drawParts = (next, facts) => {
    moveFirst(next.parts.length);
    const shown = next.parts.slice(first);
    const works = isAtWork(facts);
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
      if (made || part !== message?.parts[index] || facts.live || wasLive || works !== worked) {
        const last = index === next.parts.length - 1;
        const took = tookOf(next, part, index, facts.durations);
        view?.update(part, { live: facts.live, works, last, took });
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
        !facts.live && !error && cut && cutLine(cut, open ? nextAfter(next, actions) : null),
        !facts.live && tokensLine(next.metadata?.usage),
      ]),
    );
    tools.fill(isAtWork(facts) ? [wait] : present(answerTools(next, facts, actions)));
  };

  return {
    element,
    wait,
    /** @param {UIMessage} next @param {AnswerFacts} facts */
    update(next, facts) {
      element.setAttribute("aria-busy", String(facts.live));
      element.classList.toggle("ca-message--quiet", next.metadata?.command !== undefined);
      known = facts;
      drawParts(next, facts);
      sources.update(next.parts);
      message = next;
      wasLive = facts.live;
      worked = isAtWork(facts);
      drawFoot(next, facts);
    },
  };
}

/** @param {AnswerFacts} facts */
const isAtWork = ({ live, last, busy }) => live || (last && busy);

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
 * @param {UIMessage} message
 * @param {any} part
 * @param {number} index
 * @param {Record<string, number>} durations as this panel measured them, while the answer goes on
 * @returns {number | undefined} milliseconds
 */
function tookOf({ id, metadata }, part, index, durations) {
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
const quietLine = (mark, text, ...more) =>
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

/**
 * An answer that was stopped goes on; one that had not begun is asked for again.
 * @param {UIMessage} message
 * @param {AnswerActions} actions
 * @returns {{words: string, run: () => unknown}}
 */
function nextAfter({ parts }, { goOn, regenerate }) {
  const begun = parts.some((part) => isTool(part) || (part.type === "text" && "text" in part && part.text));
  return begun
    ? { words: t("cut.continue"), run: goOn }
    : { words: t("message.retry"), run: regenerate };
}

/** @param {string} cut @param {{words: string, run: () => unknown} | null} next */
const cutLine = (cut, next) =>
  quietLine(
    "hand",
    textFor(`cut.${cut}`, "cut.cut"),
    next &&
      button(next.words, "primary", next.run, {
        class: "ca-button ca-button--primary ca-button--small",
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
  const facts = [clockTime(created, new Date()), nameOf(model)].filter(Boolean);
  const more = [
    dateTime(created),
    nameOf(model),
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
      // A step that waits is decided about first.
      !pendingApprovals([message]).length &&
      iconButton("retry", t("message.retry"), {
        class: "ca-icon-button--small",
        onclick: actions.regenerate,
      }),
    iconButton("branch", t("message.branch"), {
      class: "ca-icon-button--small",
      disabled: busy,
      onclick: () => actions.branch(message.id),
    }),
    more.length > 0 &&
      h("span", { class: "ca-message__facts", title: more.join(" · ") }, facts.join(" · ")),
  ];
}
