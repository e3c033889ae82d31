// @ts-check
/**
 * Tells the server of changes of the open workflow between messages, so that the tools of a turn
 * read what is on the canvas. Which changes count is decided here; messages bring the workflow
 * themselves.
 */

import { fingerprint, jsonBytes } from "../services/workflow.js";

/** @typedef {import("../types.js").WorkflowSnapshot} WorkflowSnapshot */

/** Milliseconds between two commands. */
const PAUSE = 2000;
/** Bytes of a graph's JSON from which only messages bring it. */
const MOST_BYTES = 2_000_000;

/** @param {WorkflowSnapshot} workflow */
const markOf = (workflow) => workflow.id + fingerprint(workflow.graph);

/**
 * @param {() => WorkflowSnapshot | undefined} read
 * @param {(run: () => void, milliseconds: number) => () => void} later returns the cancel function
 * @param {(tell: () => Promise<void>) => Promise<void>} inOrder calls `tell` when all earlier requests
 *   have ended
 * @param {(workflow: WorkflowSnapshot) => Promise<unknown>} send
 */
export function createCanvasNews(read, later, inOrder, send) {
  /** What the server has. */
  let known = "";
  /** The id of a workflow that was found to be too large: it is not looked at again. */
  let large = "";
  /** @type {(() => void) | null} */
  let cancel = null;
  /** Whether a command waits for earlier requests: it will have the newest graph. */
  let waits = false;
  let stopped = false;

  function look() {
    cancel = null;
    if (waits) return;
    waits = true;
    void inOrder(tell);
  }

  async function tell() {
    waits = false;
    const workflow = stopped ? undefined : read();
    if (!workflow?.graph || workflow.id === large) return;
    const mark = markOf(workflow);
    if (mark === known) return;
    if (jsonBytes(workflow.graph) >= MOST_BYTES) {
      large = workflow.id;
      return;
    }
    const before = known;
    known = mark;
    try {
      await send(workflow);
    } catch {
      // The next change, or the next message, brings it.
      if (known === mark) known = before;
    }
  }

  return {
    /** The workflow may have changed. */
    changed() {
      cancel ??= later(look, PAUSE);
    },
    /** A message brought this workflow. @param {WorkflowSnapshot | undefined} workflow */
    sent(workflow) {
      if (workflow?.graph) known = markOf(workflow);
    },
    /** What the server has is not known any more: it gets the workflow, changed or not. */
    renew() {
      known = "";
      cancel ??= later(look, PAUSE);
    },
    stop() {
      stopped = true;
      cancel?.();
      cancel = null;
    },
  };
}
