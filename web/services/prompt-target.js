// @ts-check
/**
 * The node that takes a prompt: the one selected node with a text box of several lines. A text is
 * put into it as one step of the host's undo.
 */

/** Names that the text box of a prompt has, where a node has several. */
const PROMPTS = ["text", "prompt", "clip_l"];

/** @typedef {"none" | "several" | "textless" | "linked"} Reason why no text can be put in */
/** @typedef {{name: string, reason: "" | Reason}} Target `name`: the node's title */

/** @param {any} app the host's `app` */
export function createPromptTarget(app) {
  /** @returns {Target & {node?: any, widget?: any}} */
  function find() {
    const nodes = Object.values(app.canvas?.selected_nodes ?? {});
    if (nodes.length !== 1) return { name: "", reason: nodes.length ? "several" : "none" };
    const node = /** @type {any} */ (nodes[0]);
    const name = String(node.title || node.type || "");
    const boxes = (node.widgets ?? []).filter(isTextBox);
    if (!boxes.length) return { name, reason: "textless" };
    const open = boxes.filter((/** @type {any} */ widget) => !isLinked(node, widget));
    if (!open.length) return { name, reason: "linked" };
    const named = open.find((/** @type {any} */ widget) => PROMPTS.includes(widget.name));
    return { name, reason: "", node, widget: named ?? open[0] };
  }

  return {
    /** @returns {Target} */
    target() {
      const { name, reason } = find();
      return { name, reason };
    },

    /** @param {string} text @returns {boolean} false: no node takes it */
    put(text) {
      const { node, widget } = find();
      if (!widget) return false;
      const tracker = app.extensionManager?.workflow?.activeWorkflow?.changeTracker;
      // What the user did just before is a step of its own.
      if (tracker?.captureCanvasState) tracker.captureCanvasState();
      else tracker?.checkState?.();
      tracker?.beforeChange?.();
      try {
        widget.value = text;
        widget.callback?.(text, app.canvas, node);
      } finally {
        tracker?.afterChange?.();
      }
      node.setDirtyCanvas?.(true, true);
      return true;
    },
  };
}

/** @param {any} widget */
const isTextBox = ({ type, options, disabled, hidden }) =>
  (type === "customtext" || options?.multiline === true) &&
  options?.read_only !== true &&
  !disabled &&
  !hidden;

/** @param {any} node @param {any} widget @returns {boolean} whether a link feeds the text box */
const isLinked = (node, widget) =>
  (node.inputs ?? []).some(
    (/** @type {any} */ input) => input.widget?.name === widget.name && input.link != null,
  );
