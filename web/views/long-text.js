// @ts-check
/** Plain text of any length: drawn in pieces, the first of them until the user asks for more. */

import { t } from "../strings.js";
import { pieceEnd } from "../text/slices.js";
import { h, setText } from "./dom.js";

/** Pieces that are drawn before the user asks for more; about 200 kB. */
const MOST = 200;

/**
 * @param {import("./drawing.js").Draw} draw
 * @param {HTMLElement} element receives the text
 * @returns {{update(text: string): void}} a text that only grows is drawn at its end only
 */
export function createLongText(draw, element) {
  let text = "";
  /** Start of each drawn piece. @type {number[]} */
  let starts = [];
  let end = 0;
  let most = MOST;
  const more = h("button", { type: "button", class: "ca-link", onclick: () => goOn() }, t("text.more"));

  const slice = () => {
    if (end >= text.length) return false;
    if (starts.length === most) {
      element.append(more);
      return false;
    }
    const next = pieceEnd(text, end);
    const piece = h("div", { class: "ca-piece" }, h("span", {}, text.slice(end, next)));
    starts.push(end);
    end = next;
    element.append(piece);
    return end < text.length;
  };

  const goOn = () => {
    more.remove();
    most += MOST;
    draw(slice);
  };

  return {
    update(next) {
      if (next === text) return;
      const grows = starts.length > 0 && next.startsWith(text);
      text = next;
      if (pieceEnd(text, 0) === text.length) {
        // Most texts are one piece.
        starts = [];
        end = text.length;
        setText(element, text);
        return;
      }
      if (more.parentNode && grows) return;
      if (grows) {
        end = starts.pop() ?? 0;
        element.lastElementChild?.remove();
      } else {
        element.replaceChildren();
        starts = [];
        end = 0;
        most = MOST;
      }
      draw(slice);
    },
  };
}
