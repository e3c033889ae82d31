// @ts-check
/**
 * Every word that the panel shows or speaks, by key, ready for translation: a translation is
 * another table with the same keys. `{name}` stands for a value; a key with `.one` and `.other` is
 * chosen by the language's own plural rule.
 */

const ENGLISH = {
  "panel.title": "Assistant",
  "panel.back": "Back to the chat",
  "panel.close": "Close",
  "panel.new": "New chat",
  "panel.chats": "Chats",
  "panel.settings": "Settings",
  "panel.skills": "Skills",
  "panel.loading": "Loading…",

  "format.percent": "{value} %",
  "format.seconds": "{value} s",
  "format.minutes": "{minutes} min {seconds} s",
  "format.kilobytes": "{value} kB",
  "format.megabytes": "{value} MB",
  "format.tokens.one": "{value} token",
  "format.tokens.other": "{value} tokens",
  "day.today": "Today",
  "day.yesterday": "Yesterday",
  "day.earlier": "Earlier",

  "log.label": "Conversation",
  "log.earlier": "Show earlier messages",
  "log.latest": "Jump to latest",
  "message.yours": "You",
  "message.theirs": "Assistant",
  "message.copy": "Copy",
  "message.copied": "Copied",
  "message.edit": "Edit",
  "message.editing": "Edit what you asked",
  "message.ask": "Ask again",
  "message.cancel": "Cancel",
  "message.retry": "Answer again",
  "message.workflow": "Workflow: {name}",
  "message.skill": "Skill: {name}",
  "message.image": "Attached picture: {name}",
  "message.unnamed": "file",
  "cut.aborted": "Stopped",
  "cut.cut": "The answer was cut off",
  "cut.length": "The answer reached the model's length limit",
  "cut.steps": "Stopped at the step limit",
  "cut.continue": "Continue",
  "cut.prompt": "Continue where you stopped.",

  "wait.answer": "Working…",
  "wait.model": "Waiting for {model}…",
  "wait.stopping": "Stopping…",
  "wait.reconnecting": "Trying to reach ComfyUI…",

  "speech.code": "Code.",

  "markdown.copy": "Copy",
  "markdown.copied": "Copied",
  "markdown.code": "Code",
  "markdown.image": "Load image from {host}",
  "markdown.video": "Load video from {host}",
  "markdown.audio": "Load sound from {host}",

  "reasoning.live": "Thinking…",
  "reasoning.done": "Thought",
  "reasoning.time": "Thought for {time}",

  "tool.running": "running",
  "tool.done": "done",
  "tool.failed": "failed",
  "tool.denied": "not done",
  "tool.stopped": "stopped",
  "tool.arguments": "Arguments",
  "tool.result": "Result",
  "tool.error": "Error",
  "tool.none": "None",
  "tool.name": "Tool: {name}",
  "tool.more": "Show all",
  "tool.passages.none": "Nothing fits.",
  "tool.passage": "{role}, {handle}",
  "tool.role.user": "You",
  "tool.role.assistant": "Assistant",
  "tool.role.tool": "Tool result",

  "approval.question": "{title}?",
  "approval.generic": "The assistant asks before it does this.",
  "approval.allow": "Allow",
  "approval.skill.question": "Save this skill?",
  "approval.skill.text": "Keeps “{name}” so that you can use it in any chat with /skill.",
  "approval.skill.allow": "Save skill",
  "approval.deny": "Not now",
  "approval.always": "Always in this chat",
  "approval.details": "Details",
  "approval.failed": "Your decision did not reach ComfyUI. Try again.",

  "error.title.no_provider": "No model is set up yet",
  "error.title.unreachable": "The model's server does not answer",
  "error.title.key_refused": "The key was refused",
  "error.title.unknown_model": "The model was not found",
  "error.title.rate_limited": "Too many requests",
  "error.title.provider_error": "The model's server had an error",
  "error.title.timeout": "No answer in time",
  "error.title.cut": "The answer was cut off",
  "error.title.garbage": "The answer could not be read",
  "error.title.empty": "The answer was empty",
  "error.title.content_filter": "The provider's filter stopped the answer",
  "error.title.context_overflow": "The chat is too long for this model",
  "error.title.output_limit": "The answer limit is not accepted",
  "error.title.bad_request": "The provider refused the request",
  "error.title.internal": "Something went wrong",
  "error.title.turn_running": "This chat is already answering",
  "error.title.server": "ComfyUI is not reachable",
  "error.title.failed": "That did not work",
  "error.action.retry": "Retry",
  "error.action.continue": "Continue",
  "error.action.open-settings": "Open settings",
  "error.action.enter-key": "Enter key",
  "error.action.choose-model": "Choose model",
  "error.action.new-chat": "New chat",
  "error.action.try-now": "Try now",
  "error.action.dismiss": "Close",
  "error.details": "Details",
  "error.server": "ComfyUI did not answer. Is it still running?",
  "error.stream": "The answer could not be read.",
  "error.running": "It answers in another tab. Your text is kept below.",

  "gate.host.title": "This address is not allowed yet",
  "gate.origin.title": "This page is not allowed yet",
  "gate.token.title": "This computer needs the token",
  "gate.broken.title": "The assistant did not start",
  "gate.broken.text":
    "The panel is here, but its part in ComfyUI does not answer. ComfyUI's log says why.",
  "gate.set": "Set this where ComfyUI starts (or in the plugin's .env file), then restart ComfyUI:",
  "gate.copy": "Copy the setting",
  "gate.again": "Try again",
  "gate.token.text": "ComfyUI runs on another computer. Enter its ASSISTANT_TOKEN once.",
  "gate.token.label": "Token",
  "gate.token.enter": "Unlock",
  "gate.token.wrong": "That token was not accepted.",

  "composer.label": "Message",
  "composer.placeholder": "Ask, or type / for skills",
  "composer.send": "Send",
  "composer.stop": "Stop",
  "composer.attach": "Attach images or text files",
  "composer.commands": "Commands and skills",
  "composer.busy": "You can send this when the answer is done.",
  "composer.remove": "Remove {name}",
  "composer.drop": "Drop images or text files here",
  "attach.type": "{name} is neither an image nor a text file.",
  "attach.size": "{name} has {size}; a file may have {limit}.",
  "attach.total": "{name} does not fit: all files of a message together may have {limit}.",
  "attach.unreadable": "{name} could not be read.",

  "slash.label": "Commands and skills",
  "slash.yours": "yours",
  "slash.new": "start a new chat",
  "slash.skill": "use a skill",
  "slash.skills": "list what there is",
  "slash.context": "what the model was sent, and what was left out",
  "slash.tokens": "what this chat has used so far",
  "slash.compact": "summarise the older messages now",
  "slash.model": "choose the model",
  "slash.settings": "providers and keys",
  "slash.help": "commands and keys",

  "meter.label": "Context: {percent} used. Show what the model sees",
  "report.title": "What the model sees",
  "report.total": "{used} of {window} tokens",
  "report.empty": "Send a message, and this shows what of the chat the model was given.",
  "report.rules": "Rules and skills",
  "report.tools": "Tools",
  "report.summary.one": "Summary of {count} earlier message",
  "report.summary.other": "Summary of {count} earlier messages",
  "report.history.one": "Last message",
  "report.history.other": "Last {count} messages",
  "report.current": "Your message",
  "report.complete": "Everything in this chat was sent.",
  "report.kept.one": "Nothing is lost: {things} is kept and can be looked up.",
  "report.kept.other": "Nothing is lost: {things} are kept and can be looked up.",
  "report.stored.one": "{things} stays in the chat, but this model has no tools to look it up.",
  "report.stored.other": "{things} stay in the chat, but this model has no tools to look them up.",
  "report.kept.messages.one": "{count} earlier message",
  "report.kept.messages.other": "{count} earlier messages",
  "report.kept.results.one": "{count} older tool result",
  "report.kept.results.other": "{count} older tool results",
  "report.and": " and ",
  "report.left": "Left out to save room: {names}.",
  "report.cached": "{percent} of this request was cached.",
  "report.emergency": "It only fitted after more was left out than usual.",
  "report.next.due": "The next summary is due.",
  "report.next.tokens": "The next summary comes at {at} tokens of messages; now {now}.",
  "report.next.messages": "The next summary comes at {at} messages; now {now}.",
  "report.next.since.messages":
    "The next summary comes {at} messages after the last one; so far {now}.",
  "report.next.since.turns":
    "The next summary comes {at} questions after the last one; so far {now}.",
  "report.summarise": "Summarise now",
  "report.details": "Show details",
  "report.fold": "Hide details",
  "report.raw.request": "Request of this turn",
  "report.raw.system": "System message",
  "report.raw.messages": "Messages sent",
  "report.raw.strength": "Compression",
  "report.raw.limits": "Limits applied",
  "report.raw.left": "Not sent in full",
  "report.raw.more": "{names} and {count} more",
  "report.raw.next": "Next summary",
  "report.raw.near": "{what}: {now} of {at} ({percent})",
  "report.raw.window": "Window",
  "report.raw.room": "{window} tokens, {reserve} of them for the answer",
  "report.raw.usage": "Counted by the provider",
  "report.raw.none": "none",
  "report.raw.part": "{tokens} tokens, {chars} characters",

  "model.choose": "Choose model",
  "model.current": "Model: {name}. Choose another",
  "model.none": "Set up a model",
  "model.other": "Other providers",
  "model.of": "Models of {name}",
  "model.empty": "{name} lists no models.",
  "model.manage": "Manage providers",
  "model.demo": "Demo model",

  "settings.providers": "Where answers come from",
  "settings.none": "Nothing is set up yet.",
  "settings.add": "Add provider",
  "settings.active": "In use",
  "settings.use": "Use",
  "settings.edit": "Edit",
  "settings.test": "Test",
  "settings.testing": "Testing…",
  "settings.remove": "Remove",
  "settings.save": "Save",
  "settings.cancel": "Cancel",
  "settings.new": "New provider",
  "settings.change": "Change {name}",
  "settings.preset": "Start from",
  "settings.name": "Name",
  "settings.address": "Address",
  "settings.address.hint": "The server's OpenAI-compatible URL, most often ending in /v1",
  "settings.key": "Key",
  "settings.key.saved": "Key saved. Leave empty to keep it",
  "settings.key.moved": "The address changed: enter the key for it again.",
  "settings.model": "Model",
  "settings.window": "Context window",
  "settings.window.hint": "In tokens; 32768 if you are not sure",
  "settings.missing": "{field} is missing.",
  "settings.url": "The address must begin with http:// or https://",
  "settings.number": "The context window is a whole number of at least 1024 tokens.",
  "settings.chat": "Chat",
  "settings.tools": "Tools",
  "settings.privacy": "Keys stay on the computer that runs ComfyUI and are never shown again.",
  "source.settings": "yours",
  "source.environment": "from the environment",
  "source.local": "found on this computer",
  "source.gguf": "your GGUF file",
  "source.demo": "demo",
  "problems.title": "Needs attention",
  "problems.saving": "Chats are not being saved",

  "first.title": "Hello. Ask about ComfyUI, or about the workflow you have open.",
  "first.found": "{name} was found on this computer",
  "first.ready": "{name} is set up",
  "first.local": "Answers come from {model} on this computer ({name}). Nothing leaves it.",
  "first.remote":
    "Answers come from {model} ({name}). Your messages and the open workflow are sent to {host}.",
  "first.demo.title": "You can try it with the demo model",
  "first.demo":
    "{model} runs on this computer and nothing leaves it, but it is tiny: its answers " +
    "are often wrong, and it cannot look at your workflow.",
  "first.better":
    "For good answers, start Ollama or LM Studio with a larger model, or add a " +
    "provider with a key.",
  "first.none.title": "Choose where answers come from",
  "first.none": "The assistant needs a language model.",
  "first.none.ways": "Three quick ways:",
  "first.none.ollama":
    "Install Ollama, run “ollama pull qwen3:8b”, and try again. Free and private.",
  "first.none.studio": "Start LM Studio, load a model and switch its server on. Free and private.",
  "first.none.key": "Use a provider such as OpenAI or OpenRouter with your own key.",
  "first.start": "Start",
  "first.look": "Look again",
  "first.setup": "Set up a provider",
  "first.other": "Use another model",

  "empty.title": "What shall we make?",
  "empty.canvas": "The canvas is empty.",
  "empty.unnamed": "the open workflow",
  "empty.sees": "I can see {name}: {nodes}.",
  "empty.seesMissing": "I can see {name}: {nodes}, {missing}.",
  "empty.nodes.one": "{count} node",
  "empty.nodes.other": "{count} nodes",
  "empty.missingNodes.one": "{count} missing node type",
  "empty.missingNodes.other": "{count} missing node types",
  "empty.missingModels.one": "{count} missing model",
  "empty.missingModels.other": "{count} missing models",
  "empty.blind": "The demo model cannot look at the workflow.",
  "empty.preview": "This is the preview: workflows open here, but nothing runs.",
  "ask.missingModels": "Which models are missing, and where do they go?",
  "ask.missingNodes": "Which nodes are missing, and what are they for?",
  "ask.explain": "Explain this workflow step by step",
  "ask.quality": "Which values here matter most for quality?",
  "ask.faster": "What would make this workflow faster?",
  "ask.check": "Look for mistakes in this workflow",
  "ask.begin": "How do I make my first picture?",
  "ask.choose": "Which model should I start with?",
  "ask.words": "What do checkpoint, VAE and sampler mean?",
  "ask.prompt": "Write a prompt for a portrait in soft light",

  "chats.empty": "No chats yet. What you ask is kept here.",
  "chats.untitled": "New chat",
  "chats.running": "running",
  "chats.paused": "waits for you",
  "chats.messages.one": "{count} message",
  "chats.messages.other": "{count} messages",
  "chats.more": "Show more",

  "skills.intro": "Know-how that the assistant loads when you name it.",
  "skills.empty": "No skills yet.",
  "skills.yours": "Yours",
  "skills.shipped": "Shipped with the assistant",
  "skills.use": "Use",
};

/** @typedef {keyof typeof ENGLISH} Key */
/** @typedef {Record<string, string | number>} Values */

/** @returns {string} the BCP 47 tag that numbers and dates are written in */
export const language = () => "en";

/**
 * @param {Key} key
 * @param {Values} [values] for the `{names}` in the text
 * @returns {string}
 */
export function t(key, values = {}) {
  return ENGLISH[key].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
}

/**
 * @typedef {Key extends infer K ? K extends `${infer Stem}.other` ? Stem : never : never} CountKey
 */

/**
 * The text for a number of things.
 * @param {CountKey} stem a key without `.one` or `.other`
 * @param {number} count also `{count}` in the text
 * @param {Values} [values]
 * @returns {string}
 */
export function tn(stem, count, values = {}) {
  const rule = new Intl.PluralRules(language()).select(count) === "one" ? "one" : "other";
  return t(/** @type {Key} */ (`${stem}.${rule}`), { count, ...values });
}

/**
 * A key that is put together from a code of the server.
 * @param {string} key
 * @param {Key} otherwise for a code that this panel does not know
 * @returns {string}
 */
export function textFor(key, otherwise) {
  return t(Object.hasOwn(ENGLISH, key) ? /** @type {Key} */ (key) : otherwise);
}

/** @returns {string[]} every key, for the test that looks for missing and unused ones */
export const keys = () => Object.keys(ENGLISH);
