// @ts-check
/** "2 of 3" with arrows, below a message that has more than one version. */

import { t } from "../strings.js";
import { number } from "../text/format.js";
import { h, iconButton } from "./dom.js";

/**
 * @param {import("../types.js").Version} version
 * @param {((id: string) => unknown) | null} show shows another version; null: disabled
 * @returns {HTMLElement | null} null with one version
 */
export function createVersions({ index, ids }, show) {
  if (ids.length < 2) return null;
  /** @param {string} mark @param {"versions.earlier" | "versions.later"} key @param {number} to */
  const arrow = (mark, key, to) =>
    iconButton(mark, t(key), {
      class: "ca-icon-button--tiny",
      disabled: show === null || to < 0 || to >= ids.length,
      onclick: () => show?.(ids[to]),
    });
  return h(
    "span",
    { class: "ca-versions", role: "group", "aria-label": t("versions.label") },
    arrow("left", "versions.earlier", index - 1),
    h(
      "span",
      {},
      t("versions.place", { index: number(index + 1), count: number(ids.length) }),
    ),
    arrow("chevron", "versions.later", index + 1),
  );
}
