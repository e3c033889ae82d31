// @ts-check
/**
 * The composer: text box, attachments, the list of slash commands, context meter, what asks first,
 * model name, and the buttons Send and Stop.
 */

import { isBusy } from "../state/chat.js";
import { textOf } from "../state/messages.js";
import { t } from "../strings.js";
import { NOTHING_RECALLED, recall } from "../text/recall.js";
import { panelCommandOf } from "../text/slash.js";
import { createModeButton } from "./approval-mode.js";
import { createAttachments } from "./attachments.js";
import { h, icon, iconButton, setText, show } from "./dom.js";
import { isComposing } from "./isolation.js";
import { createMeter } from "./meter.js";
import { createSlashList } from "./slash-list.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {object} ComposerActions
 * @property {(text: string, files: readonly Attachment[]) => Promise<boolean>} send false:
 *   refused
 * @property {() => unknown} stop
 * @property {(command: import("../text/slash.js").PanelCommand) => void} run
 * @property {() => void} openReport
 * @property {() => void} openModels
 * @property {() => void} openModes
 * @property {(draft: string) => void} keepDraft
 * @property {() => import("../state/attached.js").AttachedFiles} attached of the open chat
 */

/** @param {ComposerActions} actions */
export function createComposer(actions) {
  const text = h("textarea", {
    class: "ca-composer__text",
    "aria-label": t("composer.label"),
    placeholder: t("composer.placeholder"),
    rows: "1",
    spellcheck: "true",
  });
  const attachments = createAttachments(actions.attached, () => windowOf(state));
  const slash = createSlashList(text, (option, run) => choose(option, run));
  const meter = createMeter(actions.openReport);
  const mode = createModeButton(actions.openModes);
  const model = h("button", {
    type: "button",
    class: "ca-model",
    onclick: actions.openModels,
    "aria-haspopup": "dialog",
  });
  const stop = h(
    "button",
    {
      type: "button",
      class: "ca-go ca-go--stop",
      "aria-label": t("composer.stop"),
      title: t("composer.stop"),
      hidden: true,
    },
    icon("stop"),
  );
  const go = h(
    "button",
    { type: "button", class: "ca-go", "aria-label": t("composer.send") },
    icon("up"),
  );
  const element = h(
    "div",
    { class: "ca-composer" },
    slash.element,
    attachments.element,
    text,
    h(
      "div",
      { class: "ca-composer__row" },
      iconButton("clip", t("composer.attach"), { onclick: attachments.choose }),
      iconButton("slash", t("composer.commands"), { onclick: () => openList() }),
      meter.element,
      h("span", { class: "ca-grow" }),
      mode.element,
      model,
      stop,
      go,
    ),
  );
  /** @type {PanelState | null} */
  let state = null;
  let busy = false;
  /** Whether the text may differ from the draft on the server. */
  let dirty = false;
  let recalled = NOTHING_RECALLED;
  let chat = "";

  const isEmpty = () => !text.value.trim() && !actions.attached().isUsed();

  /** Shows Send, Stop, or, if there is text to queue while the chat is busy, both. */
  const drawButtons = () => {
    const empty = isEmpty();
    show(stop, busy);
    show(go, !busy || !empty);
    go.classList.toggle("ca-go--empty", empty);
    go.setAttribute("aria-disabled", String(empty));
    go.title = t(busy ? "composer.queue" : "composer.send");
  };

  const draw = () => {
    slash.update(text.value, state?.skills ?? [], state?.commands ?? null);
    fit(text);
    drawButtons();
  };

  /** Sets the text as if the user had typed it. @param {string} value */
  const setValue = (value) => {
    text.value = value;
    text.dispatchEvent(new Event("input"));
  };

  /** Sets the text without opening the list of commands. @param {string} value */
  const restore = (value) => {
    text.value = value;
    recalled = NOTHING_RECALLED;
    slash.close();
    fit(text);
    drawButtons();
  };

  const openList = () => {
    text.focus();
    if (!text.value.startsWith("/")) setValue(`/${text.value}`);
    else draw();
  };

  /** @param {import("../text/slash.js").SlashOption} option @param {boolean} run */
  const choose = (option, run) => {
    if (option.command === "send" && run) {
      setValue(option.text);
      slash.close();
      void submit();
      return;
    }
    if (option.command && option.command !== "send" && run) {
      setValue("");
      actions.run(option.command);
      return;
    }
    setValue(option.text);
    text.focus();
  };

  const submit = async () => {
    const attached = actions.attached();
    if (attached.get().reading) {
      // The text stays where it is until the files that belong to it are read.
      const whole = await attached.whole();
      if (!whole || attached !== actions.attached() || !text.isConnected) return;
    }
    const value = text.value.trim();
    if (isEmpty()) return;
    const { files } = attached.get();
    const command = files.length ? null : panelCommandOf(value);
    if (command) {
      setValue("");
      actions.run(command);
      return;
    }
    restore("");
    dirty = true;
    attached.set([]);
    const asked = chat;
    const taken = await actions.send(value, files);
    if (taken) return;
    attached.set([...files, ...attached.get().files]);
    if (chat === asked && attached === actions.attached()) giveBack(value, []);
  };

  /** Shows an earlier question instead. @param {1 | -1} step @returns {boolean} whether there is one */
  const recallAsked = (step) => {
    const messages = state?.chat.messages.filter(({ role }) => role === "user") ?? [];
    const next = recall(messages.map(textOf), recalled, text.value, step);
    if (!next) return false;
    restore(next.text);
    recalled = next;
    dirty = true;
    actions.keepDraft(next.text);
    return true;
  };

  /**
   * Puts a refused message back into the composer, before text that was typed meanwhile.
   * @param {string} value
   * @param {readonly Attachment[]} files
   */
  const giveBack = (value, files) => {
    setValue([value, text.value.trim()].filter(Boolean).join("\n\n"));
    const attached = actions.attached();
    if (files.length) attached.set([...files, ...attached.get().files]);
    slash.close();
  };

  text.addEventListener("input", () => {
    dirty = true;
    if (!text.value) recalled = NOTHING_RECALLED;
    draw();
    actions.keepDraft(text.value);
  });
  text.addEventListener("blur", slash.close);
  text.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (slash.key(event)) {
      // The same Escape must not close the page too.
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    } else if (event.key === "ArrowUp" && recallAsked(1)) event.preventDefault();
    else if (event.key === "ArrowDown" && recallAsked(-1)) event.preventDefault();
  });
  text.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    attachments.add(files);
  });
  go.addEventListener("click", () => {
    void submit();
    text.focus();
  });
  stop.addEventListener("click", (event) => {
    // The second click of a double click on Send must not stop the turn.
    if (event.detail > 1) return;
    actions.stop();
    text.focus();
  });
  drawButtons();

  return {
    element,
    textBox: text,
    attach: attachments.add,
    focus: () => text.focus(),
    setValue,
    giveBack,
    isEmpty,

    /** Switches to another chat. @param {string} id @param {string} draft */
    open(id, draft) {
      chat = id;
      dirty = false;
      restore(draft);
    },

    /**
     * Shows a draft that changed on the server, unless the user is typing.
     * @param {string} draft
     */
    offer(draft) {
      if (draft === text.value) dirty = false;
      else if (!dirty && (document.activeElement !== text || !text.value)) restore(draft);
    },

    /** @param {PanelState} next */
    update(next) {
      const listed = next.skills !== state?.skills || next.commands !== state?.commands;
      state = next;
      // What was typed before the commands and skills had come is completed now.
      if (listed && document.activeElement === text && text.value.startsWith("/")) draw();
      busy = isBusy(next.chat);
      attachments.update(next.attached);
      drawButtons();
      meter.update(next.chat.report);
      mode.update(next.chat);
      const provider = next.health?.provider;
      const name = provider ? (provider.demo ? t("model.demo") : provider.model) : t("model.none");
      setText(model, name);
      model.setAttribute("aria-label", provider ? t("model.current", { name }) : name);
      model.title = provider ? `${provider.model} (${provider.name})` : name;
      show(model, next.health !== null);
    },
  };
}

/** @param {PanelState | null} state @returns {{tokens: number, model: string} | null} */
function windowOf(state) {
  const provider = state?.health?.provider;
  return provider ? { tokens: provider.context_window, model: provider.model } : null;
}

/** Whether the browser fits a text box to its text by itself (`field-sizing` in the style sheet). */
const FITS_ITSELF = globalThis.CSS?.supports?.("field-sizing", "content") ?? false;

/**
 * Fits the height to the text; the style sheet has the limit. It lays out the whole panel twice for
 * each letter, so it is only for browsers that need it.
 * @param {HTMLTextAreaElement} area
 */
function fit(area) {
  if (FITS_ITSELF) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
