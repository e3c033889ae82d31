// @ts-check
/**
 * What a reader of a scrolled column has in view. An *anchor* is an edge of an element there: the
 * text is in its place again when that edge is, whatever has changed its height above it.
 *
 * Elements far from the view are skipped by the browser and have an estimated height
 * (`content-visibility: auto`). The browser notices a frame too late that they have come into view.
 */

/** @typedef {{element: Element, side: "top" | "bottom"}} Anchor */

/** Elements whose contents the browser may skip. */
const SKIPPING = ".ca-message, .ca-block, .ca-code, .ca-piece";
/** Elements that contain such elements. */
const COLUMNS = ".ca-message, .ca-parts, .ca-markdown--long, .ca-bubble, .ca-bubble__text";
/** Class of the elements that the browser may not skip, since they are in view. */
const SEEN = "ca-seen";

/** @param {Anchor} anchor @returns {number} pixels of the window */
export const topOf = ({ element, side }) => element.getBoundingClientRect()[side];

/**
 * @param {Element} column its children stand below each other
 * @param {Element} view the scrolling element
 * @returns {Anchor | null} at the first text in view, or just above it; null if there is none
 */
export function anchorIn(column, view) {
  const { top, bottom } = view.getBoundingClientRect();
  /** @type {Anchor | null} */
  let found = null;
  for (let inside = column; ; ) {
    const { first, before } = reaching(inside.children, top);
    // Text goes on after the last element, as after a picture in a line.
    if (!first) return before && found ? { element: before, side: "bottom" } : found;
    const box = first.getBoundingClientRect();
    if (box.top >= bottom) return found;
    if (box.top < top && !first.childElementCount) {
      return drawnAfter(first, bottom) ?? { element: first, side: "top" };
    }
    if (isSkipped(first)) return drawnAfter(first, bottom) ?? { element: first, side: "bottom" };
    found = { element: first, side: "top" };
    if (box.top >= top || scrolls(first)) return found;
    inside = first;
  }
}

/**
 * Lays out the elements in view that the browser skips, with their real heights.
 * @param {Element} column
 * @param {Element} view the scrolling element
 * @returns {boolean} whether there were any
 */
export function layOut(column, view) {
  const { top, bottom } = view.getBoundingClientRect();
  let found = false;
  for (const element of inView(column, top, bottom)) {
    if (element.classList.contains(SEEN)) continue;
    found ||= isSkipped(element);
    element.classList.add(SEEN);
  }
  return found;
}

/**
 * Lets the browser skip again what is no longer near the view. To be called when a frame has been
 * painted since `layOut`: only then the browser remembers the real height.
 * @param {Element} column
 * @param {Element} view
 */
export function leave(column, view) {
  const { top, bottom, height } = view.getBoundingClientRect();
  for (const element of column.querySelectorAll(`.${SEEN}`)) {
    const box = element.getBoundingClientRect();
    const isFar = box.bottom < top - height || box.top > bottom + height;
    if (isFar) element.classList.remove(SEEN);
  }
}

/**
 * @param {Element} column
 * @param {number} top
 * @param {number} bottom
 * @returns {Generator<Element>} the elements between the two that may be skipped, the outer ones
 *   first; those inside of a skipped element are left out
 */
function* inView(column, top, bottom) {
  let child = /** @type {Element | null} */ (reaching(column.children, top).first ?? null);
  for (; child; child = child.nextElementSibling) {
    if (!isLaidOut(child)) continue;
    if (child.getBoundingClientRect().top >= bottom) return;
    if (child.matches(SKIPPING)) yield child;
    if (child.matches(COLUMNS) && !isSkipped(child)) yield* inView(child, top, bottom);
  }
}

/**
 * @param {HTMLCollection} children
 * @param {number} top
 * @returns {{first?: Element, before?: Element}} the first child that reaches below `top`, and the
 *   last one that does not; found by halving, since a long answer has hundreds of blocks
 */
function reaching(children, top) {
  let low = 0;
  let high = children.length;
  let first;
  let before;
  while (low < high) {
    const middle = (low + high) >> 1;
    let at = middle;
    while (at < high && !isLaidOut(children[at])) at += 1;
    if (at === high) high = middle;
    else if (children[at].getBoundingClientRect().bottom > top) {
      first = children[at];
      high = middle;
    } else {
      before = children[at];
      low = at + 1;
    }
  }
  return { first, before };
}

/** @param {Element} element */
const isLaidOut = (element) => element.getClientRects().length > 0;

/** @param {Element} element whether it has a scroll position of its own */
const scrolls = (element) => getComputedStyle(element).overflowY !== "visible";

/**
 * @param {Element} element
 * @param {number} bottom of the view
 * @returns {Anchor | null} the next sibling in view whose contents are drawn
 */
function drawnAfter(element, bottom) {
  for (let next = element.nextElementSibling; next; next = next.nextElementSibling) {
    if (!isLaidOut(next)) continue;
    if (next.getBoundingClientRect().top >= bottom) return null;
    if (!isSkipped(next)) return { element: next, side: "top" };
  }
  return null;
}

/**
 * Whether the browser skips the contents. Their own boxes must not be asked for: that would lay
 * them out.
 * @param {Element} element
 */
function isSkipped({ children }) {
  for (const child of children) {
    if (child.checkVisibility?.()) return !child.checkVisibility({ contentVisibilityAuto: true });
  }
  return false;
}
