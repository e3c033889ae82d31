// @ts-check
/**
 * The page "All my data": what is kept and how much room it takes, saving everything as one file,
 * and deleting everything after a question that says what.
 */

import { t, tn } from "../strings.js";
import { errorText, fileSize, number } from "../text/format.js";
import { createCard } from "./card.js";
import { button, h, present } from "./dom.js";

/** @typedef {import("../types.js").UserData} UserData */

/**
 * @typedef {object} DataActions
 * @property {() => Promise<UserData>} userData
 * @property {() => Promise<unknown>} exportData
 * @property {(chats: number) => Promise<unknown>} deleteData
 */

/** @param {DataActions} actions */
export function createDataPage(actions) {
  const table = h("dl", { class: "ca-data", "aria-label": t("data.caption") });
  const outcome = h("div", { class: "ca-test", role: "status" });
  const question = h("div");
  const save = button(t("data.export"), "plain", () => void exportAll());
  const remove = button(t("data.delete"), "quiet", () => ask(), {
    class: "ca-button ca-button--quiet ca-button--danger",
  });
  const element = h(
    "div",
    { class: "ca-page" },
    h("h3", { class: "ca-caption" }, t("data.caption")),
    table,
    h("p", { class: "ca-quiet" }, t("data.where")),
    h("div", { class: "ca-actions" }, save, remove),
    question,
    outcome,
  );
  /** @type {UserData | null} */
  let known = null;

  /** @param {string} text */
  const say = (text) => outcome.replaceChildren(...present([text && h("p", {}, text)]));

  /** @param {UserData} data */
  const draw = (data) => {
    known = data;
    table.replaceChildren(
      ...line("data.chats", chatsOf(data), data.chats_bytes),
      ...line("data.attachments", ifAny("data.files", data.attachments), data.attachments_bytes),
      ...line("data.skills", ifAny("data.skill", data.skills), data.skills_bytes),
      ...line("data.other", otherOf(data), data.other_bytes),
      ...line("data.total", "", data.total_bytes),
    );
    save.disabled = remove.disabled = false;
  };

  async function load() {
    save.disabled = remove.disabled = true;
    question.replaceChildren();
    say(known ? "" : t("panel.loading"));
    try {
      draw(await actions.userData());
      say("");
    } catch (error) {
      say(errorText(error));
    }
  }

  async function exportAll() {
    save.disabled = true;
    say(t("data.exporting"));
    try {
      await actions.exportData();
      say(t("data.exported"));
    } catch (error) {
      say(errorText(error));
    }
    save.disabled = false;
  }

  /** Asks whether to delete what is there now. @param {string} [changed] said above the question */
  function ask(changed = "") {
    if (!known) return;
    const { chats } = known;
    const keep = button(t("data.keep"), "plain", () => close());
    const yes = button(t("data.delete.all"), "quiet", () => void deleteAll(chats, yes), {
      class: "ca-button ca-button--quiet ca-button--danger",
    });
    const card = createCard({
      tone: "warn",
      mark: "warn",
      title: t("data.question"),
      body: [
        changed && h("p", {}, changed),
        h("p", {}, t("data.question.what")),
        h("ul", { class: "ca-data__list" }, ...whatOf(known).map((one) => h("li", {}, one))),
        h("p", {}, t("data.question.how")),
      ],
      actions: [keep, yes],
      role: "alertdialog",
    });
    card.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      event.preventDefault();
      close();
    });
    say("");
    question.replaceChildren(card);
    keep.focus();
    card.scrollIntoView({ block: "nearest" });
  }

  const close = () => {
    question.replaceChildren();
    remove.focus();
  };

  /** @param {number} chats @param {HTMLButtonElement} yes */
  async function deleteAll(chats, yes) {
    yes.disabled = true;
    try {
      await actions.deleteData(chats);
    } catch (error) {
      if (/** @type {{code?: string}} */ (error).code === "data_changed") {
        await load();
        ask(t("data.changed"));
        return;
      }
      close();
      say(errorText(error));
    }
  }

  return {
    element,
    /** Called when the page is shown. */
    open: () => void load(),
    update() {},
  };
}

/** @param {"data.chats" | "data.attachments" | "data.skills" | "data.other" | "data.total"} name
 * @param {string} count @param {number} bytes */
const line = (name, count, bytes) => [
  h("dt", {}, t(name), count && h("span", { class: "ca-quiet" }, ` ${count}`)),
  h("dd", {}, bytes ? fileSize(bytes) : "–"),
];

/** @param {import("../strings.js").CountKey} key @param {number} count */
const countOf = (key, count) => tn(key, count, { count: number(count) });

/** @param {import("../strings.js").CountKey} key @param {number} count @returns {string} */
const ifAny = (key, count) => (count > 0 ? countOf(key, count) : "");

/** @param {UserData} data */
const chatsOf = (data) =>
  t("data.chats.count", {
    chats: countOf("data.chat", data.chats),
    messages: countOf("chats.messages", data.messages),
  });

/** @param {UserData} data */
const otherOf = (data) =>
  [
    ifAny("data.rule", data.rules),
    ifAny("data.preference", data.preferences),
    ifAny("data.memory", data.memories ?? 0),
    ...data.texts,
  ]
    .filter(Boolean)
    .join(", ");

/** @param {UserData} data @returns {string[]} what would be deleted; nothing that is not there */
const whatOf = (data) =>
  [
    chatsOf(data),
    ifAny("data.files", data.attachments),
    ifAny("data.skill", data.skills),
    otherOf(data),
  ].filter(Boolean);
