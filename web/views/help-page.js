// @ts-check
/** Commands and keys on one page. */

import { t } from "../strings.js";
import { commandList } from "../text/slash.js";
import { h } from "./dom.js";

export function createHelpPage() {
  /** @type {[string, string][]} */
  const keys = [
    ["Enter", t("help.send")],
    ["Shift + Enter", t("help.line")],
    ["/", t("help.list")],
    ["↑ ↓ Tab", t("help.choose")],
    ["Esc", t("help.close")],
  ];
  const rows = (/** @type {[string, string][]} */ pairs) =>
    h(
      "dl",
      { class: "ca-facts" },
      ...pairs.flatMap(([name, text]) => [h("dt", {}, h("kbd", {}, name)), h("dd", {}, text)]),
    );
  return {
    element: h(
      "div",
      { class: "ca-page" },
      h("h3", { class: "ca-caption" }, t("help.commands")),
      rows(commandList().map(({ text, detail }) => [text, detail])),
      h("p", { class: "ca-quiet" }, t("help.more")),
      h("h3", { class: "ca-caption" }, t("help.keys")),
      rows(keys),
    ),
    update: () => undefined,
  };
}
