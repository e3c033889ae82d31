// @ts-check
/**
 * Allow-lists of elements, attributes and URLs for the HTML of an answer. The text comes from a
 * model that may have read hostile text: showing it must not run code, restyle the page or make the
 * browser fetch anything (docs/contracts/trust-boundary.md). Pure; applied in `views/sanitise.js`.
 */

/** Allowed elements, each with its allowed attributes. */
const ELEMENTS = /** @type {Record<string, string[]>} */ ({
  a: ["href", "title"],
  abbr: ["title"],
  audio: [],
  b: [],
  blockquote: [],
  br: [],
  caption: [],
  cite: [],
  code: [],
  dd: [],
  del: [],
  details: ["open"],
  div: [],
  dl: [],
  dt: [],
  em: [],
  figcaption: [],
  figure: [],
  h1: [],
  h2: [],
  h3: [],
  h4: [],
  h5: [],
  h6: [],
  hr: [],
  i: [],
  img: ["alt", "title", "width", "height"],
  input: ["checked"],
  ins: [],
  kbd: [],
  li: ["value"],
  mark: [],
  ol: ["start", "reversed", "type"],
  p: [],
  pre: [],
  q: [],
  s: [],
  samp: [],
  small: [],
  span: [],
  strong: [],
  sub: [],
  summary: [],
  sup: [],
  table: [],
  tbody: [],
  td: ["colspan", "rowspan", "align"],
  tfoot: [],
  th: ["colspan", "rowspan", "align", "scope"],
  thead: [],
  tr: [],
  u: [],
  ul: [],
  var: [],
  video: [],
});

/** Attributes allowed on every element. */
const COMMON = ["dir", "lang"];

/** Elements removed with their content; other elements that are not allowed leave their content. */
const DROPPED = new Set(
  (
    "script style template noscript iframe frame frameset object embed applet link meta base " +
    "svg math form button select textarea option source track title head canvas portal"
  ).split(" "),
);

/**
 * @param {string} tag lower case
 * @returns {"keep" | "unwrap" | "drop"}
 */
export function elementFate(tag) {
  if (Object.hasOwn(ELEMENTS, tag)) return "keep";
  return DROPPED.has(tag) ? "drop" : "unwrap";
}

/** @param {string} tag @param {string} attribute both lower case */
export function attributeAllowed(tag, attribute) {
  return COMMON.includes(attribute) || (ELEMENTS[tag] ?? []).includes(attribute);
}

/**
 * ComfyUI's route for pictures. Other routes of the same server may have effects when fetched.
 */
const PICTURE_ROUTE = /\/view$/;
const PICTURE_FILE = /\.(?:png|jpe?g|gif|webp|avif|bmp|mp4|webm|mov|mp3|wav|ogg|flac)$/i;
const PICTURE_DATA = /^data:(?:image|video|audio)\/[\w.+-]+[;,]/i;

/**
 * @param {string | null} source of an image, a video or a sound
 * @param {string} base the page's URL
 * @returns {{fate: "show" | "ask" | "drop", url: string, host: string}} "ask": the file is on
 *   another server and is fetched only after the user's click
 */
export function mediaFate(source, base) {
  const nothing = /** @type {const} */ ({ fate: "drop", url: "", host: "" });
  if (!source) return nothing;
  if (PICTURE_DATA.test(source.trim())) return { fate: "show", url: source.trim(), host: "" };
  const url = parse(source, base);
  if (!url || !/^https?:$/.test(url.protocol)) return nothing;
  if (url.origin !== new URL(base).origin) return { fate: "ask", url: url.href, host: url.host };
  const picture = PICTURE_ROUTE.test(url.pathname) || PICTURE_FILE.test(url.pathname);
  return picture ? { fate: "show", url: url.href, host: "" } : nothing;
}

/**
 * @param {string | null} href
 * @param {string} base the page's URL
 * @returns {string | null} the absolute URL; null if it must not be a link
 */
export function linkTarget(href, base) {
  const url = href === null ? null : parse(href, base);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}

/** @param {string} text @param {string} base @returns {URL | null} */
function parse(text, base) {
  try {
    return new URL(text.trim(), base);
  } catch {
    return null;
  }
}
