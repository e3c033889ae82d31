// @ts-check
/** Waiting: for a server, which ends early when the network is back, and for the user to rest. */

/** @returns {{wait(milliseconds: number): Promise<void>, wake(): void}} */
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
 * @returns {() => void} calls it off
 */
export function later(run, milliseconds) {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}
