// @ts-check
/** What opens above the composer: what the model sees, the models, and what asks first. */

import { isBusy } from "../state/chat.js";
import { t } from "../strings.js";
import { modePicker } from "./approval-mode.js";
import { modelPicker } from "./model-picker.js";
import { createPopover } from "./popover.js";
import { createReport } from "./report.js";

/** @typedef {import("../types.js").ChatState} ChatState */

/** Events of a person who goes on with something else. */
const GOES_ON = ["keydown", "pointerdown", "focusin"];

/** @returns {() => boolean} ends the watch: whether the person has gone on with something else */
function watchPerson() {
  let wentOn = false;
  const note = () => {
    wentOn = true;
  };
  for (const name of GOES_ON) document.addEventListener(name, note, true);
  return () => {
    for (const name of GOES_ON) document.removeEventListener(name, note, true);
    return wentOn;
  };
}

/** @param {import("../state/panel.js").Panel} panel */
export function createPopovers(panel) {
  const popover = createPopover();
  const report = createReport(() => {
    popover.close();
    void panel.send("/compact", []);
  });

  const reportOf = (/** @type {ChatState} */ chat) => report.content(chat.report, isBusy(chat));

  return {
    element: popover.element,
    close: () => popover.close(),

    openReport: () => popover.toggle("report", t("report.title"), reportOf(panel.get().chat)),

    async openModels() {
      if (popover.name() === "models") {
        popover.close();
        return;
      }
      const hasGoneOn = watchPerson();
      await panel.refreshSettings().catch(() => undefined);
      // A dialog that comes late must not take the focus from what the person does by now.
      if (hasGoneOn()) return;
      const known = panel.get().settings;
      if (!known?.providers.length) {
        panel.editProvider("");
        return;
      }
      popover.toggle(
        "models",
        t("model.choose"),
        modelPicker(known, {
          models: panel.models,
          chooseModel: (provider, model) => panel.chooseModel(provider, model).then(popover.close),
          chooseProvider: (name) => panel.useProvider(name).then(popover.close),
          manage: () => {
            popover.close();
            panel.showPage("settings");
          },
        }),
      );
    },

    openModes: () =>
      popover.toggle(
        "modes",
        t("mode.title"),
        modePicker(panel.get().chat, (params) => {
          popover.close();
          void panel.chat().setParams(params);
        }),
      ),

    /** @param {ChatState} chat @param {ChatState | undefined} drawn */
    update(chat, drawn) {
      const changed = !drawn || chat.report !== drawn.report || isBusy(chat) !== isBusy(drawn);
      if (popover.name() === "report" && changed) popover.fill(reportOf(chat));
    },
  };
}
