// @ts-check
/**
 * The node *Assistant Prompt* shows its answer on itself, in a text box that the workflow does not
 * store: a workflow that is given away has no answers in it.
 */

const NODE = "AssistantPrompt";
const WIDGET = "answer";

/** @param {any} app the host's `app` */
export function createPromptNode(app) {
  /** @param {any} node @param {any} output what the host says that the node showed */
  function show(node, output) {
    const text = [output?.text ?? []].flat().join("");
    const widget = widgetOf(node);
    if (!text || !widget) return;
    widget.value = text;
    node.setDirtyCanvas?.(true, true);
  }

  /** @param {any} node @returns {any} its text box, made with the first answer */
  function widgetOf(node) {
    const known = node.widgets?.find((/** @type {any} */ { name }) => name === WIDGET);
    if (known) return known;
    const made = app.widgets?.STRING?.(node, WIDGET, ["STRING", { multiline: true }], app)?.widget;
    if (!made) return null;
    made.serialize = false;
    made.options = { ...made.options, serialize: false, read_only: true };
    const area = made.inputEl ?? made.element;
    if (area) area.readOnly = true;
    return made;
  }

  return {
    /** The host's hook for each type of node. @param {any} type @param {{name: string}} definition */
    beforeRegisterNodeDef(type, { name }) {
      if (name !== NODE) return;
      const before = type.prototype.onExecuted;
      type.prototype.onExecuted = function (/** @type {any} */ output) {
        before?.call(this, output);
        show(this, output);
      };
    },

    /** The host's hook for a workflow that is shown again. @param {Record<string, any>} outputs */
    onNodeOutputsUpdated(outputs) {
      const graph = app.rootGraph ?? app.graph;
      for (const [id, output] of Object.entries(outputs ?? {})) {
        const node = graph?.getNodeById?.(id) ?? graph?.getNodeById?.(Number(id));
        if (node?.type === NODE) show(node, output);
      }
    },
  };
}
