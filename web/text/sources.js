// @ts-check
/** What the panel shows of a source: where it leads decides, not what its title says. Pure. */

import { nameOf } from "./plain.js";
import { linkTarget } from "./policy.js";

/** @typedef {import("../types.js").SourcePart} SourcePart */

/**
 * @param {SourcePart} part
 * @param {string} base the page's URL
 * @returns {{title: string, host: string, url: string | null}} `url` is null for what must not be
 *   a link: other schemes than http(s), and this server. `host` is as browsers write it, so that
 *   letters of other scripts cannot imitate a name; it is empty where the title is the address.
 */
export function sourceOf(part, base) {
  const target = linkTarget(part.url ?? null, base);
  const url = target && /^https?:/.test(target) ? target : null;
  const title = nameOf(part.title) || nameOf(part.filename);
  const address = nameOf((url ?? part.url ?? "").replace(/^https?:\/\//i, ""));
  return { title: title || address, host: url && title ? new URL(url).host : "", url };
}

/** @param {import("../types.js").Part} part @returns {part is SourcePart} */
export const isSource = (part) => part.type === "source-url" || part.type === "source-document";
