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

/** Most rows or columns that a cell may span: overlapping spans multiply the cells of a table. */
const SPAN = 8;

/** @param {string} attribute lower case @param {string} value @returns {boolean} */
export function spanAllowed(attribute, value) {
  if (attribute !== "colspan" && attribute !== "rowspan") return true;
  return /^[1-9]$/.test(value) && Number(value) <= SPAN;
}

/**
 * ComfyUI's route for the files of workflows, below the page: a GET of it only reads. Any other
 * path of the same server may belong to a route that acts when it is fetched, whatever its name
 * ends in. Attachments need no route: they come as data URLs.
 */
const VIEW_ROUTES = ["view", "api/view"];
/**
 * The names of files that may be shown, by element. An SVG is a document that can take gigabytes to
 * draw (nested `<use>`): only formats of pixels are shown.
 */
const FILES = {
  img: /\.(?:png|jpe?g|gif|webp|avif)$/i,
  video: /\.(?:mp4|webm|mov)$/i,
  audio: /\.(?:mp3|wav|ogg|flac)$/i,
};
const DATA = {
  img: /^data:image\/(?:png|jpeg|gif|webp|avif)[;,]/i,
  video: /^data:video\/(?:mp4|webm|ogg)[;,]/i,
  audio: /^data:audio\/[\w.-]+[;,]/i,
};
const VECTOR = /\.svgz?$/i;

/**
 * Nothing is fetched without a click but a file that ComfyUI's `/view` serves.
 * @param {string | null} source of an image, a video or a sound
 * @param {string} base the page's URL
 * @param {"img" | "video" | "audio"} [tag] the element that would show it
 * @returns {{fate: "show" | "ask" | "drop", url: string, host: string}} "ask": the file is on
 *   another server, or another route of this one, and is fetched only after the user's click;
 *   `host` says where, for a route of this server with its path
 */
export function mediaFate(source, base, tag = "img") {
  const nothing = /** @type {const} */ ({ fate: "drop", url: "", host: "" });
  if (!source) return nothing;
  if (DATA[tag].test(source.trim())) return { fate: "show", url: source.trim(), host: "" };
  const url = parse(source, base);
  if (!url || !/^https?:$/.test(url.protocol)) return nothing;
  if (VECTOR.test(url.pathname)) return nothing;
  if (!isOwn(url, base)) return { fate: "ask", url: url.href, host: url.host };
  const isView = VIEW_ROUTES.some((route) => {
    const { origin, pathname } = new URL(route, base);
    return url.origin === origin && url.pathname === pathname;
  });
  const named = isView ? url.searchParams.get("filename") : url.pathname;
  // A route of this server that does not even look like a file is not offered.
  if (!FILES[tag].test(named ?? "")) return nothing;
  if (isView) return { fate: "show", url: url.href, host: "" };
  return { fate: "ask", url: url.href, host: url.host + url.pathname };
}

/** The route of the file of a chat, as the answer to `/export` has it: a GET of it only reads. */
const EXPORT = /^\/api\/chats\/(?!\.+\/)([\w.-]{1,128})\/export\?format=(markdown|jsonl|trajectory)$/;
/** A file name as `/export` takes it. */
const FILE_NAME = /^[\w-][\w.-]{0,79}\.(?:md|markdown|jsonl|json)$/;

/**
 * @param {string | null} href
 * @param {string} words of the link: the name of the file, if they can be one
 * @returns {{id: string, format: import("../services/api.js").ExportFormat,
 *   name: string | undefined} | null} the chat whose file the link is; null for all other links
 */
export function exportIn(href, words) {
  const found = EXPORT.exec(href ?? "");
  if (!found) return null;
  const format = /** @type {import("../services/api.js").ExportFormat} */ (found[2]);
  return { id: found[1], format, name: FILE_NAME.test(words) ? words : undefined };
}

/**
 * A link goes to another server, or it is text: the routes of this server belong to ComfyUI and to
 * all its plugins, and some of them act when they are opened.
 * @param {string | null} href
 * @param {string} base the page's URL
 * @returns {string | null} the absolute URL; null if it must not be a link
 */
export function linkTarget(href, base) {
  const url = href === null ? null : parse(href);
  if (!url || !/^(?:https?|mailto):$/.test(url.protocol)) return null;
  return isOwn(url, base) ? null : url.href;
}

/**
 * @param {string | null} href of a link that is shown as text
 * @param {string} base the page's URL
 * @returns {string} the address to show beside the text; "" for a place in the page, or a scheme
 *   that means nothing to the reader
 */
export function ownAddress(href, base) {
  if (!href || href.startsWith("#")) return "";
  const url = parse(href, base);
  return url && /^https?:$/.test(url.protocol) ? href : "";
}

/** Host names of this machine, as `URL` writes them; `[::ffff:7f00:1]` is 127.0.0.1. */
const LOOPBACK =
  /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)\])$/;

/** @param {URL} url @returns {string} the host without the dot that may end a name */
const hostOf = (url) => url.hostname.replace(/\.$/, "");

/** @param {URL} url @param {string} base @returns {boolean} whether it leads to the page's server */
function isOwn(url, base) {
  const page = new URL(base);
  if (url.port !== page.port || url.protocol === "mailto:") return false;
  const [host, own] = [hostOf(url), hostOf(page)];
  return host === own || (LOOPBACK.test(host) && LOOPBACK.test(own));
}

/** @param {string} text @param {string} [base] @returns {URL | null} */
function parse(text, base) {
  try {
    return new URL(text.trim(), base);
  } catch {
    return null;
  }
}
