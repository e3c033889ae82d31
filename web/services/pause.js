// @ts-check
/** A pause that can be cut short: waiting for a server ends early when the network is back. */

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
