// @ts-check
/**
 * Keeps the panel's last changes over a reload of the page. The host stores a workflow a moment after
 * each change (half a second in older front ends), and a page that is left before then comes back
 * with the workflow from before the change, while the server knows of it.
 */

import { takeBack } from "./canvas-undo.js";
import { fingerprint } from "./workflow.js";

/** Milliseconds after which the host has stored a change. */
const STORED_AFTER = 5000;
/** Name of the stored value that carries the workflow over the reload. */
export const LEFT = "left";

/**
 * @typedef {object} Left
 * @property {string} id of the workflow
 * @property {any} graph what was on the canvas, as JSON
 * @property {string[]} from what the host may come back with instead
 */

/**
 * @param {Pick<import("./host.js").Host, "ready" | "graph" | "tracker">} host
 * @param {() => string | undefined} openId id of the open workflow
 * @param {import("./storage.js").PanelStorage} storage backed by `sessionStorage`
 * @param {Pick<EventTarget, "addEventListener">} page the window
 * @param {() => number} now in milliseconds
 */
export function createCanvasLeave(host, openId, storage, page, now) {
  const serialise = () => host.graph().serialize();
  /** The newest ones; `states`: before and after. @type {{id: string, at: number, states: any[]}[]} */
  let changes = [];
  /** Whether the canvas has what it had when the page was left. */
  let isBack = false;

  /** @param {any} before the workflow's JSON before a change that the panel has made just now */
  function changed(before) {
    const at = now();
    changes = changes.filter((each) => at - each.at < STORED_AFTER);
    changes.push({ id: openId() ?? "", at, states: [before, serialise()] });
  }

  /** @returns {Left | null} null: the host has stored all that was changed */
  function leaving() {
    const id = openId() ?? "";
    const recent = changes.filter((each) => each.id === id && now() - each.at < STORED_AFTER);
    if (!recent.length) return null;
    return { id, from: recent.flatMap(({ states }) => states.map(fingerprint)), graph: serialise() };
  }

  /** @returns {Left | null} */
  function left() {
    try {
      return JSON.parse(storage.get(LEFT) ?? "null");
    } catch {
      return null;
    }
  }

  /** Puts back what was on the canvas, where the host came back with what was there before. */
  async function putBack() {
    const kept = left();
    if (!kept) return;
    await host.ready();
    const before = serialise();
    if (openId() !== kept.id || !kept.from.includes(fingerprint(before))) return;
    if (fingerprint(before) === fingerprint(kept.graph)) return;
    const step = { before: kept.graph, after: null, entry: null, redo: [] };
    await takeBack(host.tracker(), serialise, step);
    changed(before);
  }

  /** Until then the page may be left again, and the next one has to find what this one found. */
  function forget() {
    isBack = true;
    storage.set(LEFT, null);
  }

  page.addEventListener("pagehide", () => {
    const kept = leaving();
    if (kept) storage.set(LEFT, JSON.stringify(kept));
  });
  page.addEventListener("pageshow", () => {
    if (isBack) storage.set(LEFT, null);
  });

  return {
    /** Resolves when the canvas has what it had when the page was left; never rejects. */
    back: putBack()
      .catch(() => undefined)
      .then(forget),
    changed,
  };
}
