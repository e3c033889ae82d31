// @ts-check
/**
 * The messages of a chat: one view per message, kept while the message changes. Of a long chat only
 * a range of messages is in the document; scrolling to an edge moves the range. A line at the end
 * says what the chat waits for.
 */

import * as ranges from "../state/message-range.js";
import { factsOf, shownOf, stateOf } from "../state/shown.js";
import { t } from "../strings.js";
import { createAnswer } from "./answer.js";
import { createDrawing, createPartDrawing } from "./drawing.js";
import { h, place, show } from "./dom.js";
import { createErrorCard } from "./error-card.js";
import { createReadingPlace, createSteps } from "./reading-place.js";
import { createUserMessage } from "./user-message.js";
import { createWaitingLine } from "./waiting-line.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} ConversationActions
 * @property {Omit<import("./answer.js").AnswerActions, "draw">} answer
 * @property {Omit<import("./user-message.js").UserActions, "draw">} user
 * @property {() => Promise<unknown>} loadOlder
 * @property {() => Promise<unknown>} loadLater after the messages around the target
 * @property {() => void} toLatest shows the messages at the end instead
 */

/** @typedef {import("../state/shown.js").Remembered} Remembered */
/** @typedef {import("../state/shown.js").Shown} Shown */
/** @typedef {ReturnType<typeof createAnswer> | ReturnType<typeof createUserMessage>} View */

/** Messages drawn at once when a long chat opens; the others are drawn frame by frame. */
const FIRST_BATCH = 8;
/** Milliseconds of a frame for messages that are drawn for the first time. */
const FILLING = 6;

/** @param {ConversationActions} actions */
export function createConversation(actions) {
  const earlier = h(
    "button",
    { type: "button", class: "ca-link ca-earlier", hidden: true, onclick: () => void goEarlier() },
    t("log.earlier"),
  );
  const messages = h("div", { class: "ca-messages" });
  const waiting = createWaitingLine(messages);
  const steps = createSteps();
  const failure = h("div", { class: "ca-after" });
  const log = h(
    "div",
    {
      class: "ca-log",
      role: "log",
      "aria-live": "off",
      "aria-label": t("log.label"),
      tabindex: "0",
    },
    earlier,
    h("div", { class: "ca-column" }, messages, steps[0]),
    failure,
  );

  /**
   * By message id; `message` is null until the view is filled.
   * @type {Map<string, {view: View, message: UIMessage | null, state: string,
   *   isDrawn: () => boolean}>}
   */
  const entries = new Map();
  /** @type {ChatState | null} the state that was drawn last */
  let given = null;
  /** @type {Remembered} */
  let remembered = { known: new Map(), told: true };
  /** @type {Shown | null} what of it is shown */
  let drawn = null;
  /** @type {ranges.MessageRange} the messages that are in the document */
  let range = { from: 0, to: 0 };
  /** Whether messages at the edges of the range are still drawn, and not in the document yet. */
  let comes = { above: false, below: false };
  let arranging = 0;
  let filling = 0;
  /** The page of the chat's messages that is on its way. @type {Promise<unknown> | null} */
  let fetching = null;
  /** Whether the reader has scrolled to the first loaded message. */
  let wanted = false;
  /** Id of the version that the user switched to: its arrows get the focus. */
  let switched = "";

  const known = () => drawn?.messages.length ?? 0;
  const reading = createReadingPlace(log, messages, steps, {
    reachesEnd: () => range.to === known() && !comes.below && !drawn?.hasLater,
    earlier: () => void goEarlier(),
    later: () => void goLater(),
    last: () => {
      if (drawn?.hasLater) actions.toLatest();
      move(ranges.atEnd(known()), "none");
    },
  });
  const element = h("div", { class: "ca-conversation" }, log, reading.latest);

  /** @param {string} id */
  const showVersion = (id) => {
    switched = id;
    // Until the version is there: its arrows replace those that have the focus now.
    log.focus({ preventScroll: true });
    actions.user.showVersion(id);
  };
  const draw = createDrawing(reading.keep);
  const user = { ...actions.user, showVersion };
  const answer = { ...actions.answer, showVersion };

  /** Shows earlier messages: loaded ones, or else the next page of the server. */
  async function goEarlier() {
    if (comes.above) return;
    if (range.from > 0) move(ranges.earlier(range), "both");
    else if (!fetching && drawn?.hasMore) {
      wanted = true;
      await fetched(actions.loadOlder());
    }
  }

  /** Shows later messages: loaded ones, or else the next page of the server. */
  async function goLater() {
    if (comes.below) return;
    if (range.to < known()) move(ranges.later(range, known()), "both");
    else if (!fetching && drawn?.hasLater) {
      await fetched(actions.loadLater());
    }
  }

  /** @param {Promise<unknown>} page of the open chat, which may be left meanwhile */
  async function fetched(page) {
    fetching = page;
    await page;
    if (fetching === page) fetching = null;
  }

  /**
   * Moves the range, without moving the text that is read.
   * @param {ranges.MessageRange} next
   * @param {"both" | "none"} waits which messages come into the document only when they are drawn
   */
  function move(next, waits) {
    const chat = drawn;
    if (!chat) return;
    const same = next.from === range.from && next.to === range.to;
    if (same && (waits === "both" || !comes.below)) return;
    reading.keep(() => {
      range = next;
      bring(chat, waits);
    });
  }

  /** @param {UIMessage} message */
  const entryOf = (message) => {
    let entry = entries.get(message.id);
    if (!entry) {
      const { draw: slices, isDrawn } = createPartDrawing(draw, arrangeSoon);
      const view =
        message.role === "user"
          ? createUserMessage({ ...user, draw: slices })
          : createAnswer({ ...answer, draw: slices });
      entry = { view, message: null, state: "", isDrawn };
      entries.set(message.id, entry);
    }
    return entry;
  };

  /**
   * Puts the filled views of the range into the document, and removes others. A message that would
   * grow while its slices are drawn moves what is read beside it: above those in the document, or
   * on both sides, it waits until it is drawn.
   * @param {Shown} chat
   * @param {"above" | "both" | "none"} waits
   * @param {number} [from] with "none": the first message of the range to show
   */
  function arrange(chat, waits, from = 0) {
    const list = chat.messages.slice(range.from, range.to);
    const listed = list.map(entryOf);
    const isThere = listed.map(({ view }) => view.element.parentNode === messages);
    const isReady = listed.map(({ message, isDrawn }) => message !== null && isDrawn());
    let first = isThere.indexOf(true);
    let last = isThere.lastIndexOf(true);
    if (waits === "none") first = from;
    else if (first < 0) first = listed.findIndex(({ message }) => message !== null);
    if (first < 0) first = listed.length;
    if (waits !== "both" || last < 0) last = listed.length - 1;
    while (isReady[first - 1]) first -= 1;
    while (isReady[last + 1]) last += 1;
    comes = { above: first > 0, below: last < listed.length - 1 };
    const shown = listed.slice(first, last + 1).map(({ view }) => view.element);
    place(messages, waiting.isPending() ? [...shown, waiting.pending] : shown);
    const ids = new Set(list.map((message) => message.id));
    for (const id of [...entries.keys()]) if (!ids.has(id)) entries.delete(id);
    drawEarlier(chat);
  }

  /**
   * The button goes when the first message comes: before, a reader at the top would see the text
   * jump, with nothing above it to scroll by.
   * @param {Shown} chat
   */
  function drawEarlier(chat) {
    const hidden = range.from === 0 && !comes.above && !chat.hasMore;
    if (earlier.hidden !== hidden) reading.keep(() => show(earlier, !hidden));
  }

  /**
   * Fills the range. What does not wait is in the document first, so that its layout counts as time
   * of its slices.
   * @param {Shown} chat
   * @param {"above" | "both" | "none"} waits
   */
  function bring(chat, waits) {
    arrange(chat, waits);
    fill(chat, range.from, range.to, waits === "none" ? Infinity : FILLING);
    arrange(chat, waits);
  }

  /** Puts messages that have been drawn into the document, once per frame. */
  function arrangeSoon() {
    if (arranging || (!comes.above && !comes.below)) return;
    arranging = requestAnimationFrame(() => {
      arranging = 0;
      const chat = drawn;
      if (chat) reading.keep(() => arrange(chat, "both"));
    });
  }

  /**
   * Draws what changed, and new messages for as long as there is time; the rest comes in the next
   * frames.
   * @param {Shown} chat
   * @param {number} from
   * @param {number} to
   * @param {number} time milliseconds for new messages
   */
  function fill(chat, from, to, time) {
    const end = performance.now() + time;
    let left = false;
    // The last message is drawn first: it is what the reader sees when a chat opens.
    for (let index = to - 1; index >= from; index -= 1) {
      const message = chat.messages[index];
      const facts = factsOf(chat, index, remembered);
      const state = stateOf(facts);
      const entry = entryOf(message);
      if (entry.message === message && entry.state === state) continue;
      if (entry.message === null && index < to - 2 && performance.now() > end) {
        left = true;
        continue;
      }
      entry.message = message;
      entry.state = state;
      entry.view.update(message, facts);
    }
    if (left) fillSoon();
  }

  /** Draws more of the messages of the range that are not drawn yet, once per frame. */
  function fillSoon() {
    filling ||= requestAnimationFrame(() => {
      filling = 0;
      const chat = drawn;
      if (!chat) return;
      reading.keep(() => {
        fill(chat, range.from, range.to, FILLING);
        arrange(chat, "both");
      });
    });
  }

  /** Scrolls to the target message and focuses it. @param {Shown} chat */
  function point(chat) {
    const index = chat.messages.findIndex((message) => message.id === chat.target?.id);
    if (index < 0) return;
    if (index < range.from || index >= range.to) {
      move(ranges.around(index, chat.messages.length), "none");
    } else if (comes.above || comes.below) {
      reading.keep(() => bring(chat, "none"));
    }
    const article = entryOf(chat.messages[index]).view.element;
    for (const marked of messages.querySelectorAll(".ca-message--found")) {
      marked.classList.remove("ca-message--found");
    }
    article.classList.add("ca-message--found");
    article.tabIndex = -1;
    article.focus({ preventScroll: true });
    reading.goTo(article);
  }

  /** Focuses the version arrows of the version that replaced another one. */
  function refocus() {
    const article = entries.get(switched)?.view.element;
    const arrows = [...(article?.querySelectorAll(".ca-versions button:enabled") ?? [])];
    if (!arrows.length) return;
    switched = "";
    const active = document.activeElement;
    // `focus.js` gives an empty text box the focus of the arrow that has gone.
    const fell = active instanceof HTMLTextAreaElement && !active.value;
    if (fell || active === document.body || active === log) {
      /** @type {HTMLElement} */ (arrows[0]).focus({ preventScroll: true });
    }
  }

  return {
    element,
    focus: () => log.focus(),
    toEnd: reading.toEnd,
    /** Opens the editor of the last question. @param {"text" | "files"} part that gets the focus */
    edit(part) {
      const asked = drawn?.messages.findLast(({ role }) => role === "user");
      const view = asked && entries.get(asked.id)?.view;
      if (view && "edit" in view) view.edit(part);
    },
    /** @param {ChatState} state @param {string} model its name @param {Remembered} memory */
    update(state, model, { known: found, told }) {
      if (state === given && found === remembered.known && told === remembered.told) return;
      given = state;
      remembered = { known: found, told };
      const chat = shownOf(state);
      const before = drawn;
      const last = chat.messages.at(-1);
      // Only a message that was sent from this panel scrolls to the end.
      const asked = chat.sent !== before?.sent;
      const opened =
        before?.id !== chat.id || (before.messages.length === 0 && chat.messages.length > 0);
      drawn = chat;
      if (opened) begin(chat);
      else if (ranges.isSame(range, before.messages, chat.messages)) {
        drawEarlier(chat);
        fill(chat, range.from, range.to, FILLING);
        if (comes.above || comes.below) arrangeSoon();
      } else follow(chat, before);
      const failed = drawFailure(chat, before);
      drawWait(chat, model);
      const grown = last !== before?.messages.at(-1) || chat.status !== before?.status;
      if (opened || asked) reading.toEnd();
      else if (grown || failed) reading.follow();
      if (switched) refocus();
      if (chat.target && chat.target !== before?.target) point(chat);
    },
  };

  /** Draws another chat, scrolled to its end. @param {Shown} chat */
  function begin(chat) {
    wanted = false;
    fetching = null;
    range = ranges.atEnd(chat.messages.length);
    const from = Math.max(range.from, range.to - FIRST_BATCH);
    arrange(chat, "none", from - range.from);
    fill(chat, from, range.to, Infinity);
    if (from > range.from) fillSoon();
  }

  /** Draws a changed list of messages. @param {Shown} chat @param {Shown} before */
  function follow(chat, before) {
    reading.keep(() => {
      range = ranges.moved(range, before.messages, chat.messages, reading.atEnd());
      if (wanted && range.from > 0) {
        range = ranges.earlier(range);
        wanted = false;
      }
      bring(chat, "above");
    });
  }

  /** @param {Shown} chat @param {Shown | null} before @returns {boolean} whether a new card is there */
  function drawFailure(chat, before) {
    if (JSON.stringify(chat.failure) === JSON.stringify(before?.failure ?? null)) return false;
    failure.replaceChildren(
      ...(chat.failure ? [createErrorCard(chat.failure, actions.answer.act)] : []),
    );
    return chat.failure !== null;
  }

  /** @param {Shown} chat @param {string} model */
  function drawWait(chat, model) {
    const last = chat.messages.at(-1);
    const isAnswering = chat.status !== "idle" && range.to === chat.messages.length;
    const view = isAnswering && last?.role === "assistant" ? entryOf(last).view : null;
    waiting.update(chat, model, view && "wait" in view ? view.wait : null);
  }
}
