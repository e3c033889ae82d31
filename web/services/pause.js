// @ts-check
/** Timers: a wait that can be ended early, and a delayed call that can be cancelled. */

/** @returns {{wait(milliseconds: number): Promise<void>, wake(): void}} `wake` ends all waits */
export function createPause() {
  /** @type {Set<() => void>} */
  const sleeping = new Set();
  return {
    wait: (milliseconds) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(timer);
          sleeping.delete(end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        sleeping.add(end);
      }),
    wake() {
      for (const end of [...sleeping]) end();
    },
  };
}

/**
 * @param {() => void} run
 * @param {number} milliseconds
 * @returns {() => void} cancels the call
 */
export function later(run, milliseconds) {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}
