// @ts-check
/**
 * The results of edits that this tab has carried out: kept over a reload, so that no edit is carried
 * out twice and a result that did not arrive is sent again.
 */

const IDS = "edits";
const LAST = "edit";
const SENT = "edit.sent";
/** Ids that are kept: far more than calls that can wait. */
const MOST = 100;

/** @typedef {{output: any} | {error: string}} EditResult */
/** @typedef {ReturnType<typeof createEditResults>} EditResults */

/** What is sent for an edit whose result was too large for the browser's storage. */
export const LOST = "The edit is on the canvas, but the page was loaded again and lost its result.";

/**
 * Some servers number the calls of each answer from 0: only with its answer's id a call is one.
 * @param {{tool_call_id: string, message_id?: string}} call
 */
export const keyOf = ({ tool_call_id: id, message_id: answer }) => (answer ? `${answer} ${id}` : id);

/** @param {import("./storage.js").PanelStorage} storage backed by `sessionStorage` */
export function createEditResults(storage) {
  /** @param {string} name @param {any} other */
  const read = (name, other) => {
    try {
      return JSON.parse(storage.get(name) ?? "null") ?? other;
    } catch {
      return other;
    }
  };

  /** What the page before this one sent last. */
  let before = read(SENT, null);

  /** @param {string} id `keyOf` the call @returns {EditResult | null} null: it is not carried out */
  function of(id) {
    if (!read(IDS, []).includes(id)) return null;
    const last = read(LAST, null);
    return last?.id === id ? last.result : { error: LOST };
  }

  return {
    of,

    /**
     * The call's result is to be sent.
     * @param {string} chat id
     * @param {import("./canvas-hand.js").EditCall} call
     */
    sends(chat, { tool_call_id, message_id, tool, workflow_id }) {
      const call = { tool_call_id, message_id, tool, workflow_id };
      storage.set(SENT, JSON.stringify({ chat, call }));
    },

    /** The result that was sent last has arrived, or nobody waits for it. */
    arrived: () => storage.set(SENT, null),

    /**
     * The call of the chat that was carried out before the page was loaded again, and whose result
     * may not have arrived; it is given once.
     * @param {string} chat id
     * @returns {import("./canvas-hand.js").EditCall | null}
     */
    onItsWay(chat) {
      if (before?.chat !== chat || !of(keyOf(before.call))) return null;
      const { call } = before;
      before = null;
      return call;
    },

    /** @param {string} id @param {EditResult} result calls come one by one: the last is enough */
    keep(id, result) {
      storage.set(LAST, null);
      storage.set(IDS, JSON.stringify([...read(IDS, []).filter((/** @type {string} */ each) => each !== id), id].slice(-MOST)));
      storage.set(LAST, JSON.stringify({ id, result }));
    },
  };
}
