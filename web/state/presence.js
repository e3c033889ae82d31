// @ts-check
/**
 * Closes the panel's connections when the panel has been hidden for a while and no turn runs, but for
 * that of a temporary chat. A browser allows six connections per host for all its tabs together.
 */

/** Milliseconds that a hidden panel keeps its connections. */
const PATIENCE = 30_000;

/**
 * @param {object} actions
 * @param {(run: () => void, milliseconds: number) => () => void} actions.later returns the
 *   cancel function
 * @param {() => boolean} actions.works whether a turn runs
 * @param {() => void} actions.rest closes the connections
 * @param {() => void} actions.wake opens them again
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
