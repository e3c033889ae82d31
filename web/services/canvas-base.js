// @ts-check
/**
 * Whether the canvas still has what an edit was worked out from: type, mode, values and links of the
 * nodes that it reads or writes. Pure.
 */

/**
 * @typedef {object} BaseNode what the server knew of a node
 * @property {string} type
 * @property {"run" | "mute" | "bypass"} mode
 * @property {Record<string, unknown>} values by widget
 * @property {Record<string, string>} links outputs by input, as in "8.LATENT"
 */

/** LiteGraph's numbers of modes; all others run. @type {Record<number, string>} */
const MODES = { 2: "mute", 4: "bypass" };

/**
 * @typedef {object} NodeFacts what the canvas has
 * @property {string} type
 * @property {number} mode
 * @property {readonly {name: string, value: unknown, turns: boolean}[]} widgets `turns`: a run
 *   changes the value, as that of a seed
 * @property {Readonly<Record<string, {address: string, slot: number, name: string}>>} sources by
 *   input that has a link
 */

/**
 * @param {Readonly<Record<string, Partial<BaseNode>>>} base by address
 * @param {(address: string) => NodeFacts | null} look
 * @returns {string} a sentence that names the first node that differs; "" for none
 */
export function changeSince(base, look) {
  for (const [address, expected] of Object.entries(base)) {
    const found = look(address);
    if (!found) return `The node ${address} is not on the canvas any more.`;
    const what = difference(expected, found);
    if (what) return `The node ${address} (${found.type}) was changed on the canvas: ${what}.`;
  }
  return "";
}

/** @param {Partial<BaseNode>} expected @param {NodeFacts} found @returns {string} */
function difference(expected, found) {
  if (expected.type !== undefined && expected.type !== found.type) return "its type";
  if (expected.mode !== undefined && expected.mode !== (MODES[found.mode] ?? "run")) {
    return "its mode";
  }
  const value = found.widgets.find(
    ({ name, value, turns }) =>
      !turns && Object.hasOwn(expected.values ?? {}, name) && !same(expected.values?.[name], value),
  );
  if (value) return value.name;
  const links = expected.links;
  if (!links) return "";
  const inputs = new Set([...Object.keys(links), ...Object.keys(found.sources)]);
  const input = [...inputs].find((name) => !sameSource(links[name], found.sources[name]));
  return input ? `the link of ${input}` : "";
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => one === other || written(one) === written(other);

/** @param {any} value @returns {string} objects with their keys in order */
function written(value) {
  return JSON.stringify(value ?? null, (_key, each) =>
    each && typeof each === "object" && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/**
 * @param {string | undefined} expected
 * @param {{address: string, slot: number, name: string} | undefined} found
 */
function sameSource(expected, found) {
  if (!expected || !found) return !expected && !found;
  const { address, slot, name } = found;
  return expected === `${address}.${name}` || expected === `${address}.${slot}`;
}
