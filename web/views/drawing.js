// @ts-check
/**
 * Draws long contents in slices, so that no task of the page is long: what a chat holds may be of
 * any length. A slice is a function that draws one bounded piece. Slices run at once while the
 * frame has time for them, and else in the next frames, in the order in which they came.
 */

/** Milliseconds of each frame for slices, with the layout that they cause. */
const FRAME = 12;
/** The same for the first frame of a change: most messages are drawn whole in it. */
const FIRST_FRAME = 24;

/** @typedef {() => boolean} Slice draws one piece; returns whether there is more to draw */
/** @typedef {(slice: Slice) => void} Draw */

/**
 * @param {(change: () => void) => void} keep keeps the text that is read in its place during a change
 * @returns {Draw}
 */
export function createDrawing(keep) {
  /** @type {Set<Slice>} */
  const waiting = new Set();
  let frame = 0;
  /** End of the time that this frame has for slices; 0 in a new frame. */
  let end = 0;

  /** @param {Slice} slice @returns {boolean} whether the slice is done */
  const run = (slice) => {
    while (performance.now() < end) {
      if (!slice()) return true;
      // The layout counts as time of the slice; most changes are one slice and need no extra one.
      void document.body.offsetHeight;
    }
    return false;
  };

  const next = () => {
    frame = 0;
    end = waiting.size ? performance.now() + FRAME : 0;
    for (const slice of waiting) {
      if (performance.now() >= end) break;
      waiting.delete(slice);
      /** @type {boolean} */
      let more = false;
      keep(() => {
        more = slice();
        void document.body.offsetHeight;
      });
      if (more) waiting.add(slice);
    }
    if (waiting.size) frame = requestAnimationFrame(next);
    else end = 0;
  };

  return (slice) => {
    if (waiting.has(slice)) return;
    if (!end) end = performance.now() + FIRST_FRAME;
    if (waiting.size || !run(slice)) waiting.add(slice);
    if (!frame) frame = requestAnimationFrame(next);
  };
}

/**
 * The drawing of one message, which knows whether the message is drawn to its end.
 * @param {Draw} draw
 * @param {() => void} done called when the last slice is drawn
 */
export function createPartDrawing(draw, done) {
  /** The slices that are not at their end. @type {Map<Slice, Slice>} */
  const open = new Map();

  /** @param {Slice} slice @returns {Slice} */
  const counted = (slice) => () => {
    const more = slice();
    if (!more) {
      open.delete(slice);
      if (!open.size) done();
    }
    return more;
  };

  return {
    isDrawn: () => open.size === 0,
    /** @type {Draw} */
    draw(slice) {
      const known = open.get(slice) ?? counted(slice);
      open.set(slice, known);
      draw(known);
    },
  };
}
