// @ts-check
/**
 * Where the reader of the log is: at its end, where new words pull the log along, or elsewhere,
 * where nothing may move what is being read.
 */

import { t } from "../strings.js";
import { h, icon, show } from "./dom.js";

/** Pixels from the end within which the reader counts as being there. */
const NEAR = 40;
/** Pixels from an edge of what is in the document at which more is wanted. */
const EDGE = 300;

/**
 * @param {HTMLElement} log what scrolls
 * @param {HTMLElement} messages its part that is kept in place
 * @param {object} range
 * @param {() => boolean} range.reachesEnd whether the last message is in the document
 * @param {() => void} range.earlier more is wanted above
 * @param {() => void} range.later more is wanted below
 * @param {() => void} range.last the end is wanted
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
  /** Where the log was put last, and how high it was then. */
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
    // What comes into view gets its real height only then; that takes no reader from the end.
    if (atEnd && log.scrollHeight !== put.height && log.scrollTop >= put.top - 1) pin();
    const below = log.scrollHeight - log.scrollTop - log.clientHeight;
    atEnd = below < NEAR && range.reachesEnd();
    show(latest, !atEnd);
    if (log.scrollTop < EDGE) range.earlier();
    else if (below < EDGE && !range.reachesEnd()) range.later();
  };

  log.addEventListener("scroll", read, { passive: true });
  // Pictures that load, and a tab that comes back, change heights without a new state.
  const sizes = new ResizeObserver(() => {
    if (atEnd) pin();
  });
  sizes.observe(log);
  sizes.observe(messages);
  // What the reader unfolds grows downwards, also at the end.
  log.addEventListener("click", (event) => {
    if (!(/** @type {Element} */ (event.target).closest("summary"))) return;
    atEnd = false;
    requestAnimationFrame(read);
  });

  return {
    latest,
    toEnd,
    atEnd: () => atEnd,
    /** New words at the end. */
    follow() {
      if (atEnd) pin();
      else show(latest, true);
    },
    /** The reader goes elsewhere. @param {Element} element */
    goTo(element) {
      atEnd = false;
      show(latest, true);
      const centre = () => element.scrollIntoView({ block: "center" });
      centre();
      requestAnimationFrame(() => {
        // What comes into view gets its real height only now.
        centre();
        read();
      });
    },
    /** What is read stays where it is, whatever comes or goes above it. @param {() => void} change */
    keep(change) {
      if (atEnd) {
        change();
        return;
      }
      const { top } = log.getBoundingClientRect();
      const seen = [...messages.children].find(
        (child) => child.getBoundingClientRect().bottom > top,
      );
      const before = seen?.getBoundingClientRect().top ?? 0;
      change();
      if (seen?.isConnected) log.scrollTop += seen.getBoundingClientRect().top - before;
    },
  };
}
