// @ts-check
/**
 * The log of a chat: one view per message, kept while the message changes; the reader's place,
 * which moves only while it is at the end; and what the chat waits for.
 */

import { t } from "../strings.js";
import { createAnswer } from "./answer.js";
import { h, icon, setText, show } from "./dom.js";
import { createErrorCard } from "./error-card.js";
import { createUserMessage } from "./user-message.js";

/** @typedef {import("../types.js").ChatState} ChatState */
/** @typedef {import("../types.js").UIMessage} UIMessage */

/**
 * @typedef {object} ConversationActions
 * @property {import("./answer.js").AnswerActions} answer
 * @property {import("./user-message.js").UserActions} user
 * @property {() => Promise<void>} loadOlder
 */

/** @typedef {ReturnType<typeof createAnswer> | ReturnType<typeof createUserMessage>} View */

/** Pixels from the end within which the reader counts as being there. */
const NEAR = 40;
/** Pixels from the top at which the page before is fetched. */
const TOP = 200;
/** Messages that are built at once when a long chat opens; the others follow, frame by frame. */
const FIRST_BATCH = 16;

/** @param {ConversationActions} actions */
export function createConversation(actions) {
  const earlier = h(
    "button",
    { type: "button", class: "ca-link ca-earlier", hidden: true },
    t("log.earlier"),
  );
  const messages = h("div", { class: "ca-messages" });
  const wait = h(
    "div",
    { class: "ca-wait", hidden: true },
    h("span", { class: "ca-wait__dot" }),
    h("span"),
  );
  const failure = h("div", { class: "ca-after" });
  const log = h(
    "div",
    {
      class: "ca-log",
      role: "log",
      "aria-live": "off",
      "aria-label": t("log.label"),
      tabindex: "0",
    },
    earlier,
    messages,
    failure,
    wait,
  );
  const latest = h(
    "button",
    {
      type: "button",
      class: "ca-latest",
      hidden: true,
      "aria-label": t("log.latest"),
      title: t("log.latest"),
    },
    icon("down"),
  );
  const element = h("div", { class: "ca-conversation" }, log, latest);

  /** @type {Map<string, {view: View, message: UIMessage | null, state: string}>} what is drawn */
  const entries = new Map();
  /** @type {ChatState | null} */
  let drawn = null;
  let atEnd = true;
  let fetching = false;

  const toEnd = () => {
    atEnd = true;
    log.scrollTop = log.scrollHeight;
    show(latest, false);
  };

  const readPlace = () => {
    atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
    show(latest, !atEnd);
  };

  log.addEventListener(
    "scroll",
    () => {
      readPlace();
      if (log.scrollTop < TOP) void older();
    },
    { passive: true },
  );
  latest.addEventListener("click", toEnd);
  earlier.addEventListener("click", () => void older());
  // Pictures that load, and a tab that comes back, change heights without a new state.
  const sizes = new ResizeObserver(() => {
    if (atEnd) log.scrollTop = log.scrollHeight;
  });
  sizes.observe(log);
  sizes.observe(messages);
  // What the reader unfolds grows downwards, also at the end.
  log.addEventListener("click", (event) => {
    if (!(/** @type {Element} */ (event.target).closest("summary"))) return;
    atEnd = false;
    requestAnimationFrame(readPlace);
  });

  const older = async () => {
    if (fetching || earlier.hidden) return;
    fetching = true;
    const fromEnd = log.scrollHeight - log.scrollTop;
    await actions.loadOlder();
    requestAnimationFrame(() => {
      log.scrollTop = log.scrollHeight - fromEnd;
      fetching = false;
    });
  };

  /** @param {UIMessage} message */
  const entryOf = (message) => {
    let entry = entries.get(message.id);
    if (!entry) {
      const view =
        message.role === "user" ? createUserMessage(actions.user) : createAnswer(actions.answer);
      entry = { view, message: null, state: "" };
      entries.set(message.id, entry);
    }
    return entry;
  };

  /** @param {UIMessage[]} list only these stay */
  const place = (list) => {
    const ids = new Set(list.map((message) => message.id));
    for (const [id, { view }] of entries) {
      if (ids.has(id)) continue;
      view.element.remove();
      entries.delete(id);
    }
    let next = messages.firstElementChild;
    for (const message of list) {
      const { element: article } = entryOf(message).view;
      if (article === next) next = next.nextElementSibling;
      else messages.insertBefore(article, next);
    }
  };

  /** @param {ChatState} chat @param {number} from @param {number} to */
  const fill = (chat, from, to) => {
    const busy = chat.status !== "idle";
    const writing = chat.status === "streaming" || chat.status === "stopping";
    for (let index = from; index < to; index += 1) {
      const message = chat.messages[index];
      const last = index === chat.messages.length - 1;
      const live = last && writing;
      const state = message.role === "user" || last ? `${last} ${live} ${busy}` : "";
      const entry = entryOf(message);
      if (entry.message === message && entry.state === state) continue;
      entry.message = message;
      entry.state = state;
      const sameWorkflow =
        workflowBefore(chat.messages, index) === message.metadata?.workflow?.name;
      entry.view.update(message, { last, live, busy, sameWorkflow, durations: chat.durations });
    }
  };

  /** Builds what is further up, a few messages per frame. @param {number} to */
  const fillEarlier = (to) => {
    if (!drawn || to <= 0) return;
    const end = Math.min(to, drawn.messages.length);
    fill(drawn, Math.max(0, end - FIRST_BATCH), end);
    if (atEnd) log.scrollTop = log.scrollHeight;
    requestAnimationFrame(() => fillEarlier(end - FIRST_BATCH));
  };

  return {
    element,
    focus: () => log.focus(),
    toEnd,
    /** @param {ChatState} chat @param {string} model its name, for the line that waits */
    update(chat, model) {
      if (chat === drawn) return;
      const asked =
        chat.messages.at(-1)?.role === "user" && chat.messages.at(-1) !== drawn?.messages.at(-1);
      const opened =
        drawn?.id !== chat.id || (drawn.messages.length === 0 && chat.messages.length > 0);
      place(chat.messages);
      const from = opened ? Math.max(0, chat.messages.length - FIRST_BATCH) : 0;
      fill(chat, from, chat.messages.length);
      if (from > 0) requestAnimationFrame(() => fillEarlier(from));
      show(earlier, chat.hasMore);
      drawFailure(chat);
      drawWait(chat, model);
      drawn = chat;
      if (opened || asked) toEnd();
      else if (atEnd) log.scrollTop = log.scrollHeight;
      else show(latest, true);
    },
  };

  /** @param {ChatState} chat */
  function drawFailure(chat) {
    if (chat.failure === drawn?.failure) return;
    failure.replaceChildren(
      ...(chat.failure ? [createErrorCard(chat.failure, actions.answer.act)] : []),
    );
  }

  /** @param {ChatState} chat @param {string} model */
  function drawWait(chat, model) {
    const text = waitingFor(chat, model);
    show(wait, text !== "");
    if (text) setText(/** @type {Node} */ (wait.children[1]), text);
  }
}

/**
 * @param {readonly UIMessage[]} messages
 * @param {number} index
 * @returns {string | undefined} the workflow's name under the user's message before that one
 */
function workflowBefore(messages, index) {
  const before = messages.slice(0, index).findLast((message) => message.role === "user");
  return before?.metadata?.workflow?.name;
}

/**
 * What the last line says while nothing else moves.
 * @param {ChatState} chat
 * @param {string} model
 */
function waitingFor(chat, model) {
  if (chat.loading && !chat.messages.length) return t("panel.loading");
  if (chat.status === "reconnecting") return t("wait.reconnecting");
  if (chat.status === "stopping") return t("wait.stopping");
  if (chat.status === "idle") return "";
  const last = chat.messages.at(-1);
  if (last?.role !== "assistant" || !last.parts.some((part) => part.type !== "step-start")) {
    return model ? t("wait.model", { model }) : t("wait.answer");
  }
  const part = /** @type {any} */ (last.parts.at(-1));
  const moves = part.state === "streaming" || String(part.state).startsWith("input-");
  return moves ? "" : t("wait.answer");
}
