// @ts-check
/**
 * The server's sentence about the open workflow, which an empty chat shows. Where there is none, the
 * chat says what it says without it: a server that does not answer is no error here.
 */

/** Milliseconds without a change of the workflow before the server is asked. */
const REST = 500;
/** Characters of a workflow's JSON; larger ones are not sent only to be summed up. */
const MOST = 2_000_000;

/**
 * @param {object} services
 * @param {import("../services/api.js").Api} services.api
 * @param {() => import("../types.js").WorkflowSnapshot | undefined} services.workflow
 * @param {(run: () => void, milliseconds: number) => () => void} services.later returns the
 *   cancel function
 * @param {object} chat
 * @param {() => boolean} chat.wanted whether the sentence would be shown
 * @param {(sentence: string) => void} chat.changed
 */
export function createWorkflowSentence({ api, workflow, later }, { wanted, changed }) {
  let cancel = () => {};
  let asked = "";
  let about = "";

  async function ask() {
    const open = wanted() ? workflow() : undefined;
    if (!open?.graph) return;
    const text = JSON.stringify(open.graph);
    if (text === asked) return;
    if (open.id !== about) changed("");
    asked = text;
    about = open.id;
    const sentence = text.length > MOST ? "" : await api.workflowSummary(open.graph).catch(() => "");
    if (asked === text) changed(sentence);
  }

  return {
    /** The workflow may have changed, or the sentence may be wanted now. */
    update() {
      cancel();
      cancel = later(ask, REST);
    },
  };
}
