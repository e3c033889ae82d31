// @ts-check
/**
 * When the panel's connections are given up: nobody has looked for a while, and nothing runs that
 * would be news. A browser allows six connections per host for all its tabs together.
 */

/** Milliseconds that a hidden panel keeps its connections. */
const PATIENCE = 30_000;

/**
 * @param {object} actions
 * @param {(run: () => void, milliseconds: number) => () => void} actions.later gives what calls it
 *   off
 * @param {() => boolean} actions.works whether something runs
 * @param {() => void} actions.rest
 * @param {() => void} actions.wake
 */
export function createPresence({ later, works, rest, wake }) {
  let cancel = () => {};

  const waitToRest = () => {
    cancel = later(() => (works() ? waitToRest() : rest()), PATIENCE);
  };

  return {
    /** @param {boolean} visible */
    show(visible) {
      cancel();
      if (visible) wake();
      else waitToRest();
    },
  };
}
