// @ts-check
/** Creates and changes elements. Text is always inserted as text, never as HTML. */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, unknown>} [attributes] `on…` functions become listeners; true is a bare
 *   attribute; null, undefined and false are left out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...present(children));
  return element;
}

/** @param {readonly Child[]} children @returns {(Node | string)[]} */
export const present = (children) =>
  children.flatMap((child) =>
    child === null || child === undefined || child === false ? [] : [child],
  );

/**
 * @param {string} name a key of `ICONS`
 * @param {string} label accessible name and tooltip
 * @param {Record<string, unknown>} attributes
 * @returns {HTMLButtonElement}
 */
export function iconButton(name, label, attributes) {
  const { class: extra = "", ...rest } = attributes;
  return h(
    "button",
    {
      type: "button",
      class: `ca-icon-button ${extra}`,
      "aria-label": label,
      title: label,
      ...rest,
    },
    icon(name),
  );
}

/**
 * @param {string} label
 * @param {"primary" | "plain" | "quiet"} look
 * @param {(event: Event) => void} onclick
 * @param {Record<string, unknown>} [attributes]
 */
export const button = (label, look, onclick, attributes = {}) =>
  h(
    "button",
    { type: "button", class: `ca-button ca-button--${look}`, onclick, ...attributes },
    label,
  );

/**
 * A button in a line of text.
 * @param {string} label
 * @param {boolean} leads whether it is the likely next step
 * @param {(event: Event) => void} onclick
 */
export const smallButton = (label, leads, onclick) => {
  const made = button(label, leads ? "primary" : "plain", onclick);
  made.classList.add("ca-button--small");
  return made;
};

/** Path data by icon name, drawn as strokes on a grid of 16 × 16. */
const ICONS = /** @type {Record<string, string>} */ ({
  plus: "M8 3.2v9.6M3.2 8h9.6",
  clock: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M8 5v3.2l2.1 1.3",
  sliders:
    "M2.5 5h4.2M10.7 5h2.8M2.5 11h2.8M9.3 11h4.2M8.7 3a2 2 0 1 1 0 4 2 2 0 0 1 0-4M7.3 9a2 2 0 1 1 0 4 2 2 0 0 1 0-4",
  close: "m4 4 8 8M12 4l-8 8",
  up: "M8 12.8V3.4M4.2 7.2 8 3.4l3.8 3.8",
  down: "M8 3.2v9.4M4.2 8.8 8 12.6l3.8-3.8",
  stop: "M5 5h6v6H5z",
  clip: "M12.6 7.4 7.9 12a3 3 0 0 1-4.2-4.3l5-4.9a2 2 0 0 1 2.8 2.9l-4.9 4.8a1 1 0 0 1-1.4-1.4L9.6 4.8",
  slash: "M10 3 6 13",
  check: "m3.4 8.6 3 3 6.2-7",
  cross: "m4.5 4.5 7 7M11.5 4.5l-7 7",
  chevron: "m6 4 4 4-4 4",
  back: "M13 8H3.4M7.2 4.2 3.4 8l3.8 3.8",
  graph: "M2.5 3h4.6v3.6H2.5zM8.9 9.4h4.6V13H8.9zM7.1 4.8h2.4a1.5 1.5 0 0 1 1.5 1.5v3.1",
  warn: "M8 2.6 14.3 13H1.7zM8 6.6v2.9M8 11.3v.1",
  info: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M8 7.4v3.4M8 5.2v.1",
  copy: "M6 5.8h6.8v7.4H6zM3.2 10.2V2.8H10",
  edit: "M3 13l.7-2.9 6.8-6.8 2.2 2.2-6.8 6.8zM9.2 4.6l2.2 2.2",
  retry: "M12.8 8a4.8 4.8 0 1 1-1.5-3.5M12.9 2.4v2.7h-2.7",
  file: "M4 2.2h5l3 3v8.6H4zM9 2.2v3h3",
  spark: "M8 2.4v3M8 10.6v3M2.4 8h3M10.6 8h3M4.1 4.1l2 2M9.9 9.9l2 2M11.9 4.1l-2 2M6.1 9.9l-2 2",
  book: "M3 3.2h4a1.5 1.5 0 0 1 1 1 1.5 1.5 0 0 1 1-1h4v9H9.2A1.4 1.4 0 0 0 8 13a1.4 1.4 0 0 0-1.2-.8H3zM8 4.4V13",
  ring: "M8 3.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6",
  arc: "M8 3.2A4.8 4.8 0 0 1 12.8 8",
  hand: "M8 2.4a5.6 5.6 0 1 1 0 11.2A5.6 5.6 0 0 1 8 2.4M6.6 5.8v4.4M9.4 5.8v4.4",
  more: "M3.3 8h.01M8 8h.01M12.7 8h.01",
  search: "M7 2.8a4.2 4.2 0 1 1 0 8.4 4.2 4.2 0 0 1 0-8.4M10.1 10.1l3.3 3.3",
  branch: "M4.5 2.6v7M4.5 9.6a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8M11.5 2.6a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8M11.5 6.4c0 3-3.5 3.4-7 3.4",
  left: "m10 4-4 4 4 4",
  pin: "M6 2.6h4l-.5 4 2 2.2h-7l2-2.2zM8 8.8v4.6",
  into: "M8 2.4v6.4M5.2 6.2 8 9l2.8-2.8M3 10.4v3h10v-3",
  undo: "M5.4 3.2 2.6 6l2.8 2.8M2.6 6h6.6a3.9 3.9 0 0 1 0 7.8H6",
  redo: "M10.6 3.2 13.4 6l-2.8 2.8M13.4 6H6.8a3.9 3.9 0 0 0 0 7.8H10",
  minus: "M4 8h8",
  shield: "M8 2.2 13 4v3.6c0 3-2 5.2-5 6.2-3-1-5-3.2-5-6.2V4z",
  mask: "M2 5.4c2-.8 4-.8 6 .4 2-1.2 4-1.2 6-.4 0 3.6-1.2 5.6-3.2 5.6-1.4 0-2-1.2-2.8-1.2S6.6 11 5.2 11C3.2 11 2 9 2 5.4zM4.6 7.6h1.6M9.8 7.6h1.6",
  question: "M6 6.2a2 2 0 1 1 2.8 1.8c-.6.3-.8.6-.8 1.3M8 11.6v.1",
});

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} name @param {string} [extra] more classes @returns {SVGSVGElement} */
export function icon(name, extra = "") {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `ca-icon ca-icon--${name} ${extra}`.trim());
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name] ?? "");
  svg.append(path);
  return svg;
}

/**
 * Makes elements the children of `parent`, in this order. Elements that are in place are not moved,
 * so that the focus is kept.
 * @param {HTMLElement} parent
 * @param {readonly Element[]} elements
 */
export function place(parent, elements) {
  const active = document.activeElement;
  const stay = new Set(elements);
  for (const child of [...parent.children]) if (!stay.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const element of elements) {
    if (element === next) next = next.nextElementSibling;
    else parent.insertBefore(element, next);
  }
  if (active instanceof HTMLElement && active !== document.activeElement && parent.contains(active))
    active.focus();
}

/** @param {HTMLElement} element @param {boolean} visible */
export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

/** @param {Node} node @param {string} text */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Milliseconds that a copy button shows "Copied". */
const COPIED_TIME = 1600;

/**
 * A button that copies text and confirms it.
 * @param {string} label
 * @param {string} done the label after copying
 * @param {() => string} text called on each click
 * @param {{words?: boolean}} [look] `words`: a text button instead of an icon
 */
export function copyButton(label, done, text, { words = false } = {}) {
  const make = words
    ? h("button", { type: "button", class: "ca-copy" }, label)
    : iconButton("copy", label, { class: "ca-icon-button--small" });
  make.addEventListener("click", async () => {
    await copyText(text());
    if (words) setText(make, done);
    else make.replaceChildren(icon("check"));
    make.setAttribute("aria-label", done);
    setTimeout(() => {
      if (words) setText(make, label);
      else make.replaceChildren(icon("copy"));
      make.setAttribute("aria-label", label);
    }, COPIED_TIME);
  });
  return make;
}

/** @param {string} text */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // On plain http there is no clipboard API: copy a selection instead.
    const area = h("textarea", { class: "ca-offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
