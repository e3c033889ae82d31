// @ts-check
/** Carries out on the canvas what a command of the user's has changed in the server's graph. */

/**
 * Where the canvas is another one by now, the server is told what is on it.
 * @param {import("./chat.js").ChatServices} services
 * @param {ReturnType<typeof import("./canvas-news.js").createCanvasNews>} canvas
 * @param {import("../types.js").CanvasChange & {also?: import("../types.js").CanvasChange[]}} answer
 *   to the command; `also`: changes of other workflows
 * @returns {Promise<import("../types.js").TakenBack["refused"]>} null: it is on the canvas
 */
export async function carryOutChanges(services, canvas, answer) {
  /** @type {import("../types.js").TakenBack["refused"]} */
  let refused = null;
  for (const each of [answer, ...(answer.also ?? [])]) {
    if (!each.steps?.length) continue;
    const failed = await services.applyChange(each);
    if (failed) refused ??= { nodes: [], text: "text" in failed ? failed.text : failed.error };
  }
  if (refused) canvas.renew();
  else canvas.changed();
  return refused;
}
