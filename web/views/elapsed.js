// @ts-check
/** Counts the seconds of something that takes a while, beside the words that say what it is. */

import { duration } from "../text/format.js";
import { h, setText } from "./dom.js";

const SECOND = 1000;
/** Seconds from which the time is shown: most waits are shorter. */
const FROM = 3;

/** @param {() => number} [now] milliseconds */
export function createElapsed(now = () => Date.now()) {
  // Screen readers must not read each second.
  const element = h("span", { class: "ca-elapsed", "aria-hidden": "true" });
  let since = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    setText(element, "");
  };

  const draw = () => {
    // A view that was taken out of the page while it counted.
    if (!element.isConnected && now() - since > FROM * SECOND) return stop();
    const seconds = Math.floor((now() - since) / SECOND);
    setText(element, seconds >= FROM ? duration(seconds * SECOND) : "");
  };

  return {
    element,
    /** Begins to count, or goes on counting. @param {boolean} runs */
    update(runs) {
      if (!runs) stop();
      else if (timer === undefined) {
        since = now();
        timer = setInterval(draw, SECOND);
      }
    },
  };
}
