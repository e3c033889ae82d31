// @ts-check
/** An observable value. Listeners are called once per change, after the value has changed. */

/**
 * @template T
 * @typedef {object} Store
 * @property {() => T} get
 * @property {(changes: Partial<T>) => void} set
 * @property {(listener: () => void) => () => void} subscribe returns the unsubscribe
 *   function
 */

/**
 * @template {object} T
 * @param {T} initial
 * @returns {Store<T>}
 */
export function createStore(initial) {
  let value = initial;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  return {
    get: () => value,
    set(changes) {
      const changed = Object.entries(changes).some(
        ([key, next]) => /** @type {any} */ (value)[key] !== next,
      );
      if (!changed) return;
      value = { ...value, ...changes };
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
