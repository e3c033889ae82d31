// @ts-check
/** What the buttons of error cards do. */

/**
 * @param {import("../state/panel.js").Panel} panel
 * @param {object} steps
 * @param {() => void} steps.newChat
 * @param {() => void} steps.goOn asks the model to continue
 * @param {() => void} steps.openModels
 * @param {(part: "text" | "files") => void} steps.edit opens the editor of the last question
 * @returns {(action: string) => void}
 */
export const createErrorActions =
  (panel, { newChat, goOn, openModels, edit }) =>
  (action) => {
    const { health, chat } = panel.get();
    if (action === "retry") {
      void (chat.failure ? panel.chat().retry() : panel.chat().regenerate());
    } else if (action === "continue") goOn();
    else if (action === "edit") edit("text");
    else if (action === "remove-attachment") edit("files");
    else if (action === "choose-model") openModels();
    else if (action === "new-chat") newChat();
    else if (action === "enter-key") void panel.enterKey(health?.provider?.name ?? "");
    else if (action === "try-now") panel.tryNow();
    else if (action === "dismiss") panel.chat().dismissFailure();
    else if (action === "open-settings" && !health?.provider) panel.editProvider("");
    else panel.showPage("settings");
  };
