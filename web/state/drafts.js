// @ts-check
/**
 * What was typed and not sent, per chat: kept with the chat at the server, and in this browser until
 * the server has it.
 */

/** Milliseconds without a key after which a draft is sent to the server. */
const REST = 800;
/** In this browser, the drafts that the server does not have, by chat. */
const KEY = "drafts";
/** Drafts that this browser keeps at most; the oldest go. */
const MOST = 20;

/**
 * @param {import("../services/storage.js").PanelStorage} storage
 * @param {(run: () => void, milliseconds: number) => () => void} later gives what calls it off
 * @param {(id: string, text: string) => Promise<boolean>} save whether the server has it now
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

  /** @param {string} id @param {string | null} text null: the server knows better */
  const keep = (id, text) => {
    const { [id]: _before, ...others } = kept();
    const all = Object.entries(text === null ? others : { ...others, [id]: text });
    storage.set(KEY, all.length ? JSON.stringify(Object.fromEntries(all.slice(-MOST))) : null);
  };

  return {
    /** @param {string} id @param {string} stored what the server has @returns {string} */
    of: (id, stored) => kept()[id] ?? stored,

    /** @param {string} id @param {string} text */
    type(id, text) {
      cancel();
      keep(id, text);
      cancel = later(async () => {
        if ((await save(id, text)) && kept()[id] === text) keep(id, null);
      }, REST);
    },

    /** What was typed in a chat before it had its name. @param {string} from @param {string} to */
    move(from, to) {
      const text = kept()[from];
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
