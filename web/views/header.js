// @ts-check
/** The panel's header: the title, the pages that are opened most, and a menu with the others. */

import { t } from "../strings.js";
import { h, iconButton, show } from "./dom.js";
import { createMenu } from "./menu.js";

/** @typedef {import("../types.js").Page} Page */

/** What the button says that leads back to a page. */
const BACK = /** @type {const} */ ({
  chat: "panel.back",
  chats: "panel.back.chats",
  settings: "panel.back.settings",
});

/**
 * @param {object} actions
 * @param {() => void} actions.back
 * @param {() => void} actions.newChat
 * @param {(page: Page) => void} actions.showPage
 * @param {() => readonly import("./menu.js").MenuItem[]} actions.items of the menu
 * @param {() => void} actions.close closes the panel
 */
export function createHeader(actions) {
  const menu = createMenu();
  const title = h("h2", { class: "ca-header__title", tabindex: "-1" });
  const back = iconButton("back", t("panel.back"), { onclick: actions.back, hidden: true });
  const chats = iconButton("clock", t("panel.chats"), { onclick: () => actions.showPage("chats") });
  const settings = iconButton("sliders", t("panel.settings"), {
    onclick: () => actions.showPage("settings"),
  });
  const options = iconButton("more", t("panel.menu"), {
    "aria-haspopup": "menu",
    "aria-expanded": "false",
    onclick: () => menu.toggle(options, actions.items()),
  });
  const element = h(
    "header",
    { class: "ca-header" },
    back,
    title,
    iconButton("plus", t("panel.new"), { onclick: actions.newChat }),
    options,
    chats,
    settings,
    iconButton("close", t("panel.close"), { onclick: actions.close }),
    menu.element,
  );
  return {
    element,
    title,
    close: menu.close,
    /** @param {Page} page @param {keyof typeof BACK} parent the page that Back leads to */
    update(page, parent) {
      show(back, page !== "chat");
      const leads = t(BACK[parent]);
      back.setAttribute("aria-label", leads);
      back.title = leads;
      chats.setAttribute("aria-pressed", String(page === "chats"));
      settings.setAttribute("aria-pressed", String(page === "settings"));
    },
  };
}
