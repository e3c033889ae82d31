// @ts-check
/**
 * The scroll position of the log: at the end the log follows new text; elsewhere the text that is
 * being read must not move.
 */

import { t } from "../strings.js";
import { h, icon, show } from "./dom.js";

/** Pixels from the end within which the log counts as scrolled to the end. */
const NEAR = 40;
/** Pixels from an edge of the drawn messages at which more messages are requested. */
const EDGE = 300;

/**
 * @param {HTMLElement} log the scrolling element
 * @param {HTMLElement} messages its child that contains the messages
 * @param {object} range
 * @param {() => boolean} range.reachesEnd whether the last message is in the document
 * @param {() => void} range.earlier draws earlier messages
 * @param {() => void} range.later draws later messages
 * @param {() => void} range.last draws the last messages
 */
export function createReadingPlace(log, messages, range) {
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
  /** Scroll position and height of the log when it was last scrolled to the end. */
  let put = { top: 0, height: 0 };

  const pin = () => {
    log.scrollTop = log.scrollHeight;
    put = { top: log.scrollTop, height: log.scrollHeight };
  };

  const toEnd = () => {
    range.last();
    atEnd = true;
    pin();
    show(latest, false);
  };

  const read = () => {
    // Elements get their real height when they come into view; the log must stay at its end then.
    if (atEnd && log.scrollHeight !== put.height && log.scrollTop >= put.top - 1) pin();
    const below = log.scrollHeight - log.scrollTop - log.clientHeight;
    atEnd = below < NEAR && range.reachesEnd();
    show(latest, !atEnd);
    if (log.scrollTop < EDGE) range.earlier();
    else if (below < EDGE && !range.reachesEnd()) range.later();
  };

  log.addEventListener("scroll", read, { passive: true });
  // Loading pictures and returning to the tab change heights without a new state.
  const sizes = new ResizeObserver(() => {
    if (atEnd) pin();
  });
  sizes.observe(log);
  sizes.observe(messages);
  // Unfolded details grow downwards, also at the end.
  log.addEventListener("click", (event) => {
    if (!(/** @type {Element} */ (event.target).closest("summary"))) return;
    atEnd = false;
    requestAnimationFrame(read);
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
      const centre = () => element.scrollIntoView({ block: "center" });
      centre();
      requestAnimationFrame(() => {
        // The element has its real height only now.
        centre();
        read();
      });
    },
    /** Keeps the visible text in place during a change above it. @param {() => void} change */
    keep(change) {
      if (atEnd) {
        change();
        return;
      }
      const { top } = log.getBoundingClientRect();
      const seen = firstBelow(messages, top);
      const before = seen?.getBoundingClientRect().top ?? 0;
      change();
      if (seen?.isConnected) log.scrollTop += seen.getBoundingClientRect().top - before;
    },
  };
}

/** Elements whose children stand below each other: messages, parts of an answer, blocks. */
const COLUMNS = ".ca-message, .ca-parts, .ca-markdown";

/**
 * @param {Element} column
 * @param {number} top in pixels of the window
 * @returns {Element | undefined} the innermost element that reaches below `top`, found by halving:
 *   a long answer has hundreds of blocks
 */
function firstBelow(column, top) {
  const { children } = column;
  let low = 0;
  let high = children.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (children[middle].getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  const seen = children[low];
  return (seen?.matches(COLUMNS) && firstBelow(seen, top)) || seen;
}
