// @ts-check
/** A user message: a bubble with attachments, and an editor to ask again. */

import { textOf } from "../state/messages.js";
import { t } from "../strings.js";
import { clockTime, dateTime } from "../text/format.js";
import { nameOf } from "../text/plain.js";
import { isServerCommand } from "../text/slash.js";
import { button, copyButton, h, icon, iconButton, present, setText, show } from "./dom.js";
import { fileChip, filePart } from "./file-parts.js";
import { isComposing } from "./isolation.js";
import { createLongText } from "./long-text.js";
import { createToolbar } from "./toolbar.js";
import { createVersions } from "./versions.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").FilePart} FilePart */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} UserActions
 * @property {import("./drawing.js").Draw} draw
 * @property {(text: string, files: Attachment[], replaces: string) => Promise<boolean>} resend
 *   false: refused
 * @property {() => (text: string, files: Attachment[]) => unknown} givingBack remembers the chat that
 *   gets the text back
 * @property {(id: string) => unknown} branch
 * @property {(id: string) => unknown} showVersion
 */

/**
 * @typedef {object} UserFacts
 * @property {boolean} busy
 * @property {boolean} sameWorkflow as the user message before
 * @property {import("../types.js").Version | undefined} version
 */

/** Whether the server took the message as a command. @param {UIMessage} message */
const isCommand = (message) => message.parts.some((part) => part.type === "data-command");

/** @param {UserActions} actions */
export function createUserMessage(actions) {
  const element = h("article", {
    class: "ca-message ca-message--user",
    "aria-label": t("message.yours"),
  });
  /** @type {UIMessage | null} */
  let message = null;
  let busy = false;
  let sameWorkflow = false;
  /** @type {UserFacts["version"]} */
  let version;
  let editing = false;
  /** @type {HTMLElement | null} */
  let bubble = null;
  /** What the bubble shows. @type {unknown} */
  let shown = null;
  const tools = createToolbar(t("message.tools"), { class: "ca-message__tools" });
  const edit = iconButton("edit", t("message.edit"), {
    class: "ca-icon-button--small",
    onclick: () => openEditor(),
  });
  const branch = iconButton("branch", t("message.branch"), {
    class: "ca-icon-button--small",
    onclick: () => message && actions.branch(message.id),
  });

  const draw = () => {
    if (!message) return;
    editing = false;
    const current = message;
    const text = textOf(message);
    const created = message.metadata?.created;
    const time = clockTime(created, new Date());
    element.classList.toggle("ca-message--quiet", isServerCommand(text) || isCommand(message));
    const next = [message.parts, !sameWorkflow && message.metadata?.workflow];
    // A question that the reader has unfolded stays so.
    if (!bubble || !isSame(next, shown)) {
      shown = next;
      bubble = h(
        "div",
        { class: "ca-bubble" },
        ...files(message),
        text && bubbleText(text),
        ...marks(message, sameWorkflow),
      );
    }
    // The tools stay in the document: one of them may have the focus.
    for (const each of [...element.children]) {
      if (each !== tools.element && each !== bubble) each.remove();
    }
    if (bubble.parentElement !== element) element.prepend(bubble);
    if (tools.element.parentElement !== element) element.append(tools.element);
    tools.fill(
      present([
        time && h("span", { class: "ca-message__facts", title: dateTime(created) }, time),
        copyButton(t("message.copy"), t("message.copied"), () => textOf(current)),
        edit,
        branch,
        version && createVersions(version, busy ? null : actions.showVersion),
      ]),
    );
  };

  /** @param {string} text */
  const bubbleText = (text) => {
    const bubble = h("div", { class: "ca-bubble__text" });
    createLongText(actions.draw, bubble).update(text);
    return isLong(text) ? folded(bubble) : bubble;
  };

  /** @param {"text" | "files"} [part] that gets the focus */
  const openEditor = (part = "text") => {
    if (!message || busy) return;
    const current = message;
    let attached = attachmentsOf(current);
    const row = h("div", { class: "ca-files" });
    const drawFiles = () => {
      row.replaceChildren(...attached.map((file) => fileChip(file, () => detach(file))));
      show(row, attached.length > 0);
    };
    /** @param {Attachment} file */
    const detach = (file) => {
      attached = attached.filter((each) => each !== file);
      drawFiles();
      area.focus();
    };
    const area = h("textarea", {
      class: "ca-edit__text",
      "aria-label": t("message.editing"),
      rows: "3",
    });
    area.value = textOf(message);
    const close = () => {
      draw();
      edit.focus();
    };
    const ask = async () => {
      const text = area.value.trim();
      if (!text && !attached.length) return;
      const giveBack = actions.givingBack();
      const taken = await actions.resend(text, attached, current.id);
      // The editor keeps the text while it is shown.
      if (!taken && !area.isConnected) giveBack(text, attached);
    };
    area.addEventListener("keydown", (event) => {
      if (isComposing(event)) return;
      if (event.key === "Escape") {
        // The same Escape must not close a page too.
        event.stopPropagation();
        close();
      } else if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        void ask();
      }
    });
    element.replaceChildren(
      h(
        "div",
        { class: "ca-edit" },
        row,
        area,
        h(
          "div",
          { class: "ca-actions" },
          button(t("message.ask"), "primary", ask),
          button(t("message.cancel"), "plain", close),
        ),
      ),
    );
    editing = true;
    drawFiles();
    (part === "files" ? (row.querySelector("button") ?? area) : area).focus();
  };

  return {
    element,
    edit: openEditor,
    /**
     * @param {UIMessage} next
     * @param {UserFacts} facts
     */
    update(next, facts) {
      const changed = next !== message || facts.version !== version;
      const switches = version !== undefined && facts.busy !== busy;
      ({ busy, sameWorkflow, version } = facts);
      edit.disabled = busy;
      branch.disabled = busy;
      if (!changed && !switches) return;
      message = next;
      // An update of the message must not remove the text in the editor.
      if (!editing) draw();
    },
  };
}

/** Characters and lines from which on a question is folded, such as a pasted prompt or log. */
const LONG = 1200;
const LINES = 18;

/** @param {string} text */
const isLong = (text) => text.length > LONG || text.split("\n", LINES + 1).length > LINES;

/** @param {unknown} one @param {unknown} other @returns {boolean} whether their JSON is the same */
function isSame(one, other) {
  if (one === other) return true;
  if (!one || !other || typeof one !== "object" || typeof other !== "object") return false;
  const [mine, theirs] = [Object.entries(one), Object.entries(other)];
  return (
    mine.length === theirs.length &&
    mine.every(([key, value], at) => key === theirs[at][0] && isSame(value, theirs[at][1]))
  );
}

/** @param {HTMLElement} bubble its first lines, and a button for all of them */
function folded(bubble) {
  bubble.classList.add("ca-bubble__text--folded");
  const more = h("button", {
    type: "button",
    class: "ca-link ca-unfold",
    "aria-expanded": "false",
  });
  setText(more, t("text.more"));
  more.addEventListener("click", () => {
    const folds = bubble.classList.toggle("ca-bubble__text--folded");
    more.setAttribute("aria-expanded", String(!folds));
    setText(more, t(folds ? "text.more" : "text.less"));
  });
  return h("div", {}, bubble, more);
}

/** @param {UIMessage} message @returns {FilePart[]} */
const filesOf = (message) =>
  message.parts.flatMap((part) =>
    part.type === "file" && "url" in part ? [/** @type {FilePart} */ (part)] : [],
  );

/** @param {UIMessage} message @returns {HTMLElement[]} */
function files(message) {
  const parts = filesOf(message);
  if (!parts.length) return [];
  return [h("div", { class: "ca-files" }, ...parts.map(filePart))];
}

/** @param {UIMessage} message @returns {Attachment[]} */
export const attachmentsOf = (message) =>
  filesOf(message).map(({ url, mediaType, filename }) => ({
    id: url,
    url,
    mediaType,
    filename: filename ?? "",
    size: 0,
  }));

/**
 * The marks below the text: skills and workflow.
 * @param {UIMessage} message
 * @param {boolean} sameWorkflow leaves out the workflow
 * @returns {HTMLElement[]}
 */
function marks(message, sameWorkflow) {
  const workflow = sameWorkflow ? "" : nameOf(message.metadata?.workflow?.name);
  const skills = message.parts.flatMap((part) =>
    part.type === "data-skill" && "data" in part
      ? [nameOf(part.data?.name ?? part.data?.slug)]
      : [],
  );
  return present([
    ...skills.map((name) => mark("book", name, t("message.skill", { name }))),
    workflow && mark("graph", workflow, t("message.workflow", { name: workflow })),
  ]).map((each) => /** @type {HTMLElement} */ (each));
}

/** @param {string} name @param {string} text @param {string} label */
const mark = (name, text, label) =>
  h(
    "div",
    { class: "ca-bubble__mark", title: label },
    icon(name),
    h("span", {}, name === "book" ? label : text),
  );
