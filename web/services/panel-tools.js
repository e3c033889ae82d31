// @ts-check
/**
 * Tools that run in the panel and not on the server: a function from arguments to result, by name.
 * None is registered yet. A call of an unknown tool gets an error as its result, so that the turn
 * continues.
 */

import { errorText } from "../text/format.js";

/** @typedef {(input: unknown) => Promise<unknown> | unknown} PanelTool */

/** @typedef {ReturnType<typeof createPanelTools>} PanelTools */

/** @param {Readonly<Record<string, PanelTool>>} [tools] */
export function createPanelTools(tools = {}) {
  return {
    /**
     * @param {string} name
     * @param {unknown} input
     * @returns {Promise<{output: unknown} | {error: string}>} never throws
     */
    async run(name, input) {
      if (!Object.hasOwn(tools, name)) {
        return { error: `The panel has no tool named "${name}".` };
      }
      try {
        return { output: (await tools[name](input)) ?? null };
      } catch (error) {
        return { error: errorText(error) };
      }
    },
  };
}
