// @ts-check
/**
 * The files attached to the next message of each chat, for as long as the browser's page lives. Files
 * are read one after another, so that each is measured with those that were added before it, and a
 * file that is read slowly stays with its chat.
 */

import { t } from "../strings.js";
import { refusal, tooLong } from "../text/attachment.js";

/** @typedef {import("../types.js").Attached} Attached */
/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {(file: File) => Promise<Attachment>} ReadFile throws when the browser cannot read it */
/** @typedef {ReturnType<typeof createAttached>} AttachedFiles */

/** @type {Attached} */
const NOTHING = { files: [], problem: "", reading: 0 };

/**
 * @param {ReadFile} read
 * @param {() => void} changed called when the files of a chat are others
 */
function createAttached(read, changed) {
  let attached = NOTHING;
  let lastRead = Promise.resolve();

  /** @param {Partial<Attached>} changes */
  const set = (changes) => {
    attached = { ...attached, ...changes };
    changed();
  };

  /** @param {File} file @param {Parameters<typeof tooLong>[2]} window */
  async function take(file, window) {
    const no = refusal(file, attached.files);
    if (no) return no;
    try {
      const taken = await read(file);
      const long = tooLong(taken, attached.files, window);
      if (!long) set({ files: [...attached.files, taken] });
      return long;
    } catch {
      return t("attach.unreadable", { name: file.name });
    }
  }

  return {
    get: () => attached,
    isUsed: () => attached.files.length > 0 || attached.reading > 0,

    /** @param {readonly Attachment[]} files in place of those that are there */
    set: (files) => set({ files, problem: "" }),

    /**
     * @param {readonly File[]} chosen
     * @param {Parameters<typeof tooLong>[2]} window the model's
     */
    add(chosen, window) {
      set({ problem: "", reading: attached.reading + 1 });
      lastRead = lastRead.then(async () => {
        for (const file of chosen) {
          const problem = await take(file, window);
          if (problem) set({ problem });
        }
        set({ reading: attached.reading - 1 });
      });
    },

    /** @returns {Promise<boolean>} when the files are read: whether each was attached */
    async whole() {
      while (attached.reading) await lastRead;
      return !attached.problem;
    },
  };
}

/** @param {ReadFile} read @param {() => void} changed */
export function createAttachedByChat(read, changed) {
  /** @type {Map<string, AttachedFiles>} */
  const chats = new Map();
  return {
    /** @param {string} key of the chat @returns {AttachedFiles} */
    of(key) {
      const files = chats.get(key) ?? createAttached(read, changed);
      chats.set(key, files);
      return files;
    },
    /** Moves files, and those that are still read, to another key. @param {string} from @param {string} to */
    move(from, to) {
      const files = chats.get(from);
      chats.delete(from);
      if (files && !chats.get(to)?.isUsed()) chats.set(to, files);
    },
    clear: () => chats.clear(),
  };
}
