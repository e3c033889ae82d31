// @ts-check
/**
 * Where the user writes: text box, attachments, the `/` list, the context meter, the model's name,
 * and one button that sends or stops.
 */

import { isBusy } from "../state/chat.js";
import { t } from "../strings.js";
import { commandOf } from "../text/slash.js";
import { createAttachments } from "./attachments.js";
import { h, icon, iconButton, setText, show } from "./dom.js";
import { createMeter } from "./meter.js";
import { createSlashList } from "./slash-list.js";

/** @typedef {import("../types.js").Attachment} Attachment */
/** @typedef {import("../types.js").PanelState} PanelState */

/**
 * @typedef {object} ComposerActions
 * @property {(text: string, files: readonly Attachment[]) => Promise<boolean>} send false: not
 *   taken
 * @property {() => unknown} stop
 * @property {(command: import("../text/slash.js").Command) => void} run
 * @property {() => void} openReport
 * @property {() => void} openModels
 * @property {(draft: string) => void} keepDraft
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
  const hint = h("p", { class: "ca-problem", role: "status", hidden: true });
  const attachments = createAttachments(() => drawButton());
  const slash = createSlashList(text, (option, run) => choose(option, run));
  const meter = createMeter(actions.openReport);
  const model = h("button", {
    type: "button",
    class: "ca-model",
    onclick: actions.openModels,
    "aria-haspopup": "dialog",
  });
  const go = h("button", { type: "button", class: "ca-go" });
  const element = h(
    "div",
    { class: "ca-composer" },
    slash.element,
    attachments.element,
    text,
    hint,
    h(
      "div",
      { class: "ca-composer__row" },
      iconButton("clip", t("composer.attach"), { onclick: attachments.choose }),
      iconButton("slash", t("composer.commands"), { onclick: () => openList() }),
      meter.element,
      h("span", { class: "ca-grow" }),
      model,
      go,
    ),
  );
  /** @type {PanelState | null} */
  let state = null;
  let busy = false;
  let button = "";

  const isEmpty = () => !text.value.trim() && !attachments.get().length;

  /** One place, two states: what can be done now. */
  const drawButton = () => {
    const next = busy ? "stop" : isEmpty() ? "empty" : "send";
    if (next === button) return;
    button = next;
    const label = t(busy ? "composer.stop" : "composer.send");
    go.className = `ca-go ca-go--${next}`;
    go.setAttribute("aria-label", label);
    go.title = label;
    go.setAttribute("aria-disabled", String(next === "empty"));
    go.replaceChildren(icon(busy ? "stop" : "up"));
  };

  /** @param {string} value */
  const setValue = (value) => {
    text.value = value;
    text.dispatchEvent(new Event("input"));
  };

  const openList = () => {
    text.focus();
    if (!text.value.startsWith("/")) setValue(`/${text.value}`);
    else slash.update(text.value, state?.skills ?? []);
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
    const value = text.value.trim();
    if (isEmpty()) return;
    const command = attachments.get().length ? null : commandOf(value);
    if (command) {
      setValue("");
      actions.run(command);
      return;
    }
    if (busy) {
      setText(hint, t("composer.busy"));
      show(hint, true);
      return;
    }
    const files = attachments.get();
    setValue("");
    attachments.set([]);
    const taken = await actions.send(value, files);
    if (taken || text.value) return;
    setValue(value);
    attachments.set(files);
  };

  text.addEventListener("input", () => {
    show(hint, false);
    slash.update(text.value, state?.skills ?? []);
    fit(text);
    drawButton();
    actions.keepDraft(text.value);
  });
  text.addEventListener("blur", slash.close);
  text.addEventListener("keydown", (event) => {
    if (slash.key(event)) {
      // The page behind must not close the panel on the same Escape.
      event.stopPropagation();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void submit();
    }
  });
  text.addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    void attachments.add(files);
  });
  go.addEventListener("click", (event) => {
    // The second click of a double click on Send would stop what the first one began.
    if (busy && event.detail > 1) return;
    if (busy) actions.stop();
    else void submit();
    text.focus();
  });
  drawButton();

  return {
    element,
    attach: attachments.add,
    focus: () => text.focus(),
    setValue,
    /** @param {PanelState} next */
    update(next) {
      state = next;
      busy = isBusy(next.chat);
      if (!busy) show(hint, false);
      drawButton();
      meter.update(next.chat.report);
      const provider = next.health?.provider;
      const name = provider ? (provider.demo ? t("model.demo") : provider.model) : t("model.none");
      setText(model, name);
      model.setAttribute("aria-label", provider ? t("model.current", { name }) : name);
      model.title = provider ? `${provider.model} (${provider.name})` : name;
      show(model, next.health !== null);
    },
  };
}

/** Grows with its text; the style sheet says how far. @param {HTMLTextAreaElement} area */
function fit(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}
