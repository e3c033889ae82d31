// @ts-check
/**
 * The law: what was sent and has not reached the server is kept in this browser and in sight. It
 * outlives a reload, and goes out when the server answers again. Each message has an entry of its
 * own in the storage: one that is too large for it lasts as long as the page and takes no other
 * message with it. The server takes a message once, so two tabs may send the same entry.
 */

/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} Unsent
 * @property {string} chat its id
 * @property {boolean} known whether the server had the chat
 * @property {UIMessage} message
 * @property {string} [replaces] id of the user message that the message is a version of
 */

/** Names of the stored values: the entries' ids in the order of sending, and each entry. */
const LIST = "outbox";
const entryName = (/** @type {string} */ id) => `${LIST}.${id}`;

/** @typedef {ReturnType<typeof createOutbox>} Outbox */

/** @param {import("../services/storage.js").PanelStorage} storage */
export function createOutbox(storage) {
  /** Ids of the messages that only this page has. @type {Set<string>} */
  const fleeting = new Set();
  /** Whether the browser has stored the list: without it no entry is found after a reload. */
  let isListed = true;

  /** @param {string} name @returns {any} */
  const read = (name) => {
    try {
      return JSON.parse(storage.get(name) ?? "null");
    } catch {
      return null;
    }
  };
  /** @returns {string[]} */
  const ids = () => {
    const list = read(LIST);
    return Array.isArray(list) ? list.map(String) : [];
  };
  /** @param {string[]} list */
  const setIds = (list) => {
    isListed = storage.set(LIST, list.length ? JSON.stringify(list) : null) || !list.length;
  };

  return {
    /** @param {string} chat @returns {Unsent[]} in the order of sending */
    of: (chat) =>
      ids()
        .map((id) => /** @type {Unsent | null} */ (read(entryName(id))))
        .flatMap((entry) => (entry?.chat === chat && entry.message?.id ? [entry] : [])),

    /** @param {string} id @returns {boolean} whether the message still has to reach the server */
    has: (id) => storage.get(entryName(id)) !== null,

    /** @param {Unsent} entry */
    add(entry) {
      const { id } = entry.message;
      if (!storage.set(entryName(id), JSON.stringify(entry))) fleeting.add(id);
      setIds([...ids().filter((each) => each !== id), id]);
    },

    /** The server has the message, or the user has it back. @param {string} id */
    remove(id) {
      fleeting.delete(id);
      const list = ids();
      if (!list.includes(id)) return;
      storage.set(entryName(id), null);
      setIds(list.filter((each) => each !== id));
    },

    /** @returns {boolean} whether a reload would lose a message */
    isFleeting: () => fleeting.size > 0 || !isListed,
  };
}
