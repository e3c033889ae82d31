// @ts-check
/**
 * Drafts: the unsent text of each chat. The server stores the draft with the chat; this browser
 * stores it until the server has it.
 */

/** Milliseconds without a keystroke before a draft is sent to the server. */
const REST = 800;
/** Name of the stored value that holds the drafts by chat id, as JSON. */
const KEY = "drafts";
/** Most drafts stored in this browser; the oldest ones are dropped. */
const MOST = 20;

/**
 * @param {import("../services/storage.js").PanelStorage} storage
 * @param {(run: () => void, milliseconds: number) => () => void} later returns the cancel function
 * @param {(id: string, text: string) => Promise<boolean>} save resolves to whether the
 *   server has the draft
 */
export function createDrafts(storage, later, save) {
  let cancel = () => {};

  /** @returns {Record<string, string>} */
  const kept = () => {
    try {
      return JSON.parse(storage.get(KEY) ?? "{}");
    } catch {
      return {};
    }
  };

  /** @param {string} id @returns {string | undefined} */
  const own = (id) => {
    const drafts = kept();
    return Object.hasOwn(drafts, id) ? drafts[id] : undefined;
  };

  /** @param {string} id @param {string | null} text null: removed */
  const keep = (id, text) => {
    const { [id]: _before, ...others } = kept();
    const all = Object.entries(text === null ? others : { ...others, [id]: text });
    storage.set(KEY, all.length ? JSON.stringify(Object.fromEntries(all.slice(-MOST))) : null);
  };

  return {
    /** @param {string} id @param {string} stored draft on the server @returns {string} */
    of: (id, stored) => own(id) ?? stored,

    /** @param {string} id @param {string} text */
    type(id, text) {
      cancel();
      keep(id, text);
      cancel = later(async () => {
        if ((await save(id, text)) && own(id) === text) keep(id, null);
      }, REST);
    },

    /** Moves a draft to another key. @param {string} from @param {string} to */
    move(from, to) {
      const text = own(from);
      if (text === undefined) return;
      keep(from, null);
      this.type(to, text);
    },

    /** The message was sent. @param {string} id */
    sent(id) {
      cancel();
      keep(id, null);
    },
  };
}
