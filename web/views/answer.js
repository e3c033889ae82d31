// @ts-check
/**
 * An assistant message: its parts in order and the buttons below. Each part has its own view, which
 * is kept while the part grows.
 */

import { hasEdits, kindsOf } from "../state/edits.js";
import { isTool } from "../state/fold-tool.js";
import { pendingApprovals, textOf } from "../state/messages.js";
import { planOf } from "../state/plan.js";
import { decisionOn, openQuestion } from "../state/waiting.js";
import { t, textFor, tn } from "../strings.js";
import { clockTime, dateTime, duration, number, tokens } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { createPartView, kindOf, quietLine, tookOf } from "./answer-parts.js";
import { copyButton, h, iconButton, present, setText, show, smallButton } from "./dom.js";
import { createErrorCard } from "./error-card.js";
import { createMemoryNotes } from "./memory-notes.js";
import { createPlanCard } from "./plan-card.js";
import { createPutButton, passageOf } from "./put-text.js";
import { createSources } from "./sources.js";
import { createToolbar } from "./toolbar.js";
import { turnEdits } from "./turn-edits.js";
import { createVersions } from "./versions.js";

/** @typedef {import("./answer-parts.js").PartView} PartView */
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
 * @property {import("./question-card.js").AnswerTo} answer
 * @property {(id: string) => unknown} branch
 * @property {(id: string) => unknown} showVersion
 * @property {(id: string) => unknown} undoEdits takes back the changes of an answer
 * @property {(id: string) => unknown} redoEdits
 * @property {import("./node-chip.js").ShowNode} showNode
 * @property {import("./memory-notes.js").NoteActions} memories
 */

/**
 * @typedef {object} AnswerFacts
 * @property {boolean} last
 * @property {boolean} live whether the message is streaming
 * @property {boolean} busy
 * @property {boolean} leads whether the likely next step is in this answer
 * @property {import("../types.js").Version | undefined} version
 * @property {Record<string, number>} durations
 * @property {import("../types.js").TakenBack | undefined} taken
 * @property {import("../state/kept.js").AnswerMemories | null} memories
 */

/** Most parts of an answer that are drawn, from its end, and how many more the user can ask for. */
const MOST_PARTS = 300;
const STEP = 100;

/** @param {AnswerActions} actions */
export function createAnswer(actions) {
  /** Made with the first plan. @type {ReturnType<typeof createPlanCard> | null} */
  let plan = null;
  const parts = h("div", { class: "ca-parts" });
  const earlier = h("button", {
    type: "button",
    class: "ca-link",
    hidden: true,
    onclick: () => showEarlier(),
  });
  const sources = createSources();
  /** Made with the first memory. @type {ReturnType<typeof createMemoryNotes> | null} */
  let memories = null;
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
  let wasUndone = false;
  let footing = "";

  /** @param {UIMessage} next @param {boolean} works */
  const drawPlan = (next, works) => {
    const steps = planOf(next.parts);
    if (!plan && steps.length) {
      plan = createPlanCard();
      element.prepend(plan.element);
    }
    plan?.update(steps, works);
  };

  /** @param {UIMessage} next @param {AnswerFacts} facts */
  const drawParts = (next, facts) => {
    moveFirst(next.parts.length);
    const shown = next.parts.slice(first);
    const works = isAtWork(facts);
    const undone = facts.taken?.undone === true;
    const changed = facts.live || wasLive || works !== worked || undone !== wasUndone;
    /** The view after the part that is drawn. @type {Element | null} */
    let following = null;
    for (const view of views.splice(shown.length)) view?.element.remove();
    for (let at = shown.length - 1; at >= 0; at -= 1) {
      const part = shown[at];
      const index = first + at;
      const kind = kindOf(part, next.parts);
      let view = views[at] ?? null;
      const made = (view?.kind ?? "") !== kind;
      if (made) {
        view?.element.remove();
        view = kind ? createPartView(kind, part, next.parts, actions) : null;
        if (view) parts.insertBefore(view.element, following);
        views[at] = view;
      }
      if (made || changed || part !== message?.parts[index]) {
        const last = index === next.parts.length - 1;
        const took = tookOf(next, part, index, facts.durations);
        const decision = isTool(part) ? decisionOn(next.parts, part) : null;
        view?.update(part, { live: facts.live, works, last, took, undone, decision });
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
    const { last, live, busy, leads, version, taken } = facts;
    const edited = !live && hasEdits(next.parts);
    const state = JSON.stringify([next.metadata, last, live, busy, leads, version, edited, taken]);
    if (state === footing) return;
    footing = state;
    const open = facts.last && !facts.busy;
    after.replaceChildren(
      ...present([
        edited &&
          turnEdits(taken, {
            undo: () => actions.undoEdits(next.id),
            redo: () => actions.redoEdits(next.id),
            showNode: actions.showNode,
            kindOf: (id) => kindsOf(next.parts).get(id) ?? "",
            disabled: busy,
          }),
        !facts.live && error && createErrorCard(error, open ? actions.act : null, leads),
        !facts.live && !error && cut && cutLine(cut, open ? nextAfter(next, actions) : null, leads),
        !facts.live && tokensLine(next.metadata?.usage),
      ]),
    );
    const buttons = () => answerTools(next, facts, actions, () => passageOf(parts));
    tools.fill(isAtWork(facts) ? [wait] : present(buttons()));
  };

  return {
    element,
    wait,
    /** @param {UIMessage} next @param {AnswerFacts} facts */
    update(next, facts) {
      element.setAttribute("aria-busy", String(facts.live));
      element.classList.toggle("ca-message--quiet", next.metadata?.command !== undefined);
      known = facts;
      drawPlan(next, isAtWork(facts));
      drawParts(next, facts);
      sources.update(next.parts);
      if (!memories && facts.memories) {
        memories = createMemoryNotes(actions.memories);
        element.insertBefore(memories.element, after);
      }
      memories?.update(facts.memories);
      message = next;
      wasLive = facts.live;
      worked = isAtWork(facts);
      wasUndone = facts.taken?.undone === true;
      drawFoot(next, facts);
    },
  };
}

/** @param {AnswerFacts} facts */
const isAtWork = ({ live, last, busy }) => live || (last && busy);

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

/**
 * @param {string} cut
 * @param {{words: string, run: () => unknown} | null} next
 * @param {boolean} leads
 */
const cutLine = (cut, next, leads) =>
  quietLine(
    "hand",
    textFor(`cut.${cut}`, "cut.cut"),
    next && smallButton(next.words, leads, next.run),
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

/**
 * @param {UIMessage} message
 * @param {AnswerFacts} facts
 * @param {AnswerActions} actions
 * @param {() => string} passage the text that goes into a prompt node
 */
function answerTools(message, { last, busy, version }, actions, passage) {
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
      !openQuestion([message]) &&
      iconButton("retry", t("message.retry"), {
        class: "ca-icon-button--small",
        onclick: actions.regenerate,
      }),
    hasText && !command && createPutButton(passage),
    iconButton("branch", t("message.branch"), {
      class: "ca-icon-button--small",
      disabled: busy,
      onclick: () => actions.branch(message.id),
    }),
    more.length > 0 &&
      h("span", { class: "ca-message__facts", title: more.join(" · ") }, facts.join(" · ")),
  ];
}
