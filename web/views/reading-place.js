// @ts-check
/**
 * The scroll position of the log, which nothing else sets: at the end the log follows new text;
 * elsewhere the text on the screen stands still while heights above it change. The browser's own
 * scroll anchoring is off (`.ca-log`): browsers differ in it, and two owners move the text twice.
 */

import { t } from "../strings.js";
import { h, icon, show } from "./dom.js";
import { anchorIn, layOut, leave, topOf } from "./anchor.js";

/** Pixels from the end within which the log counts as scrolled to the end. */
const NEAR = 40;
/** Pixels from an edge of the drawn messages at which more messages are requested. */
const EDGE = 300;
/** Milliseconds for laying out what comes into view; after them the next frames do the rest. */
const TIME = 50;

/** The text box of a question that is edited. */
const EDITOR = ".ca-edit__text";

/** How often the heights may change again before a frame is painted. */
const STEPS = 8;

/**
 * Elements inside each other, each as high as the messages. A new position brings other messages
 * into view, which get their real height before the same frame is painted; a `ResizeObserver` is
 * called again in one frame only for elements that lie deeper than those before.
 * @returns {HTMLElement[]} the outermost first
 */
export function createSteps() {
  const steps = Array.from({ length: STEPS }, () =>
    h("div", { class: "ca-column__step", "aria-hidden": "true" }),
  );
  steps.reduce((outer, inner) => {
    outer.append(inner);
    return inner;
  });
  return steps;
}

/**
 * @param {HTMLElement} log the scrolling element
 * @param {HTMLElement} messages contains the messages
 * @param {readonly HTMLElement[]} steps of `createSteps`, beside the messages
 * @param {object} range
 * @param {() => boolean} range.reachesEnd whether the last message is in the document
 * @param {() => void} range.earlier draws earlier messages
 * @param {() => void} range.later draws later messages
 * @param {() => void} range.last draws the last messages
 */
export function createReadingPlace(log, messages, steps, range) {
  const label = t("log.latest");
  const latest = h(
    "button",
    {
      type: "button",
      class: "ca-latest",
      hidden: true,
      "aria-label": label,
      title: label,
      onclick: () => toEnd(),
    },
    icon("down"),
  );
  let atEnd = true;
  /** Whether the reader has left the end by a scroll, however short, and has not come back. */
  let hasLeft = false;
  /** Of changes by `keep`, counted round in the smallest units that a layout has. */
  let changes = 0;
  /** `scrollTop` when the log was last scrolled to the end. */
  let end = 0;
  /** `scrollTop` when the place was last noted. */
  let top = 0;
  /**
   * What must not move, and its place below the log's upper edge, in pixels.
   * @type {{anchor: import("./anchor.js").Anchor, offset: number} | null}
   */
  let held = null;
  /** Whether the panel was closed: browsers may forget the position of what they do not show. */
  let isHidden = false;

  const furthest = () => log.scrollHeight - log.clientHeight;
  const place = (/** @type {import("./anchor.js").Anchor} */ anchor) =>
    topOf(anchor) - log.getBoundingClientRect().top;

  /** @param {number} [rest] pixels by which the position could not be set, less than 1 */
  const note = (rest = 0) => {
    top = log.scrollTop;
    const anchor = anchorIn(messages, log);
    held = anchor && { anchor, offset: place(anchor) - rest };
  };

  const pin = () => {
    const until = performance.now() + TIME;
    do log.scrollTop = log.scrollHeight;
    while (performance.now() < until && layOut(messages, log));
    end = log.scrollTop;
    note();
  };

  /** Pixels that the reader has scrolled since the place was noted. */
  const scrolled = () => {
    const most = furthest();
    // The browser moves the position back to the end of a log that became shorter.
    if (top > most) return Math.min(0, log.scrollTop - Math.floor(most));
    return log.scrollTop - top;
  };

  /** Brings what was noted back to its place after heights have changed, and notes it again. */
  const settle = () => {
    if (!log.clientHeight) {
      isHidden = true;
      return;
    }
    if (isHidden) log.scrollTop = top;
    isHidden = false;
    if (atEnd && log.scrollTop >= Math.min(end, Math.floor(furthest())) - 1) {
      pin();
      return;
    }
    let rest = 0;
    const known = held?.anchor.element.isConnected ? held : null;
    const expected = known ? known.offset - scrolled() : 0;
    const until = performance.now() + TIME;
    do {
      if (known) {
        const moved = place(known.anchor) - expected;
        if (Math.abs(moved) >= 1) log.scrollTop += moved;
        // Positions are whole pixels of the screen: what is left must not add up.
        rest = place(known.anchor) - expected;
      }
      // What comes into view gets its real height now, not after it was seen with another one. That
      // moves the text and may bring more into view.
    } while (performance.now() < until && layOut(messages, log));
    note(Math.abs(rest) < 1 ? rest : 0);
  };

  const toEnd = () => {
    range.last();
    atEnd = true;
    hasLeft = false;
    pin();
    show(latest, false);
  };

  const read = () => {
    const by = isHidden ? 0 : scrolled();
    settle();
    if (isHidden) return;
    const below = furthest() - log.scrollTop;
    // A wheel or a finger moves the log by a few pixels in a frame: text that comes in each frame
    // would bring a reader who scrolls up back to the end each time.
    if (below < 1 || by > 0) hasLeft = false;
    else if (by <= -1) hasLeft = true;
    // The editor of a question stays in its place: the log follows again when it is closed.
    atEnd = below < NEAR && !hasLeft && range.reachesEnd() && !log.querySelector(EDITOR);
    show(latest, below >= NEAR || !range.reachesEnd());
    if (log.scrollTop < EDGE) range.earlier();
    else if (below < EDGE && !range.reachesEnd()) range.later();
  };

  const scroll = () => {
    leave(messages, log);
    read();
  };
  log.addEventListener("scroll", scroll, { passive: true });
  // Elements get their real height when they come into view, pictures load, slices are drawn, the
  // window changes: the observer is called after the layout and before the frame is painted.
  const sizes = new ResizeObserver(settle);
  sizes.observe(log);
  for (const step of steps) sizes.observe(step);
  // Unfolded details, and the editor of a question, grow downwards, also at the end.
  const growDownwards = () => {
    atEnd = false;
    requestAnimationFrame(read);
  };
  log.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest("summary, .ca-unfold")) growDownwards();
  });
  log.addEventListener("focusin", (event) => {
    if (/** @type {Element} */ (event.target).matches(EDITOR)) growDownwards();
  });
  log.addEventListener("focusout", (event) => {
    if (/** @type {Element} */ (event.target).matches(EDITOR)) requestAnimationFrame(read);
  });

  return {
    latest,
    toEnd,
    atEnd: () => atEnd,
    /** Called when text was added at the end. */
    follow() {
      if (atEnd) pin();
      else show(latest, true);
    },
    /** Scrolls to an element. @param {Element} element */
    goTo(element) {
      atEnd = false;
      show(latest, true);
      const centre = () => {
        element.scrollIntoView({ block: "center" });
        const anchor = /** @type {const} */ ({ element, side: "top" });
        top = log.scrollTop;
        held = { anchor, offset: place(anchor) };
        settle();
      };
      centre();
      // The element has its real height only now.
      centre();
      requestAnimationFrame(() => {
        centre();
        read();
      });
    },
    /**
     * Keeps the text on the screen in its place during a change, also when the browser lays out
     * and paints only later.
     * @param {() => void} change
     */
    keep(change) {
      change();
      // The observer shall be called in this frame, also if the height is the same in the end.
      changes = (changes + 1) % 512;
      steps[0].style.bottom = `${changes / 64}px`;
    },
  };
}
