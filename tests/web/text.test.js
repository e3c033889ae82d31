// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { FILE_LIMIT, mediaTypeOf, refusal, textTokens, tooLong } from "../../web/text/attachment.js";
import {
  clockTime,
  dateTime,
  dayName,
  duration,
  fileSize,
  percent,
  pretty,
  shortDate,
} from "../../web/text/format.js";
import {
  abilitiesOf,
  hostOf,
  namedAfter,
  plainName,
  providerProblem,
  savedName,
} from "../../web/text/provider.js";
import {
  reportDetails,
  reportLines,
  reportNotes,
  reportTriggers,
  share,
} from "../../web/text/report.js";
import { finishedSentences, NOTHING_SPOKEN, speakable } from "../../web/text/sentences.js";
import { byChat, groups, pieces } from "../../web/text/chat-list.js";
import {
  isServerCommand,
  panelCommandOf,
  slashOptions,
} from "../../web/text/slash.js";
import { firstPrompts, whatISee, whoAnswers } from "../../web/text/welcome.js";

test("durations, sizes and shares are formatted for people", () => {
  assert.deepEqual(
    [duration(3), duration(120), duration(6_000), duration(59_400), duration(125_000)],
    ["0.1 s", "0.1 s", "6 s", "59 s", "2 min 5 s"],
  );
  assert.deepEqual(
    [fileSize(10), fileSize(320_400), fileSize(1_440_000)],
    ["1 kB", "320 kB", "1.4 MB"],
  );
  assert.deepEqual([percent(0.384), percent(1)], ["38 %", "100 %"]);
});

test("days are named in the local time zone", () => {
  const now = new Date(2026, 10, 21, 14, 0);
  const at = (/** @type {number} */ day, /** @type {number} */ hour) =>
    dayName(new Date(2026, 10, day, hour).toISOString(), now);
  assert.deepEqual(
    [at(21, 0), at(20, 23), at(17, 12), at(3, 12), dayName("nonsense", now)],
    ["Today", "Yesterday", "Tuesday", "November 3", "Earlier"],
  );
  assert.equal(dayName(new Date(2025, 1, 3).toISOString(), now), "February 3, 2025");
});

test("a time of another day has its date", () => {
  const now = new Date(2026, 10, 21, 14, 0);
  const times = [
    new Date(2026, 10, 21, 9, 5),
    new Date(2026, 10, 20, 23, 5),
    new Date(2025, 1, 3, 9),
  ].map((date) => date.toISOString());
  assert.deepEqual(
    times.map((iso) => clockTime(iso, now)),
    ["09:05", "Nov 20, 23:05", "Feb 3, 2025, 09:00"],
  );
  assert.deepEqual(
    times.map((iso) => shortDate(iso, now)),
    ["09:05", "Nov 20", "Feb 3, 2025"],
  );
  assert.equal(dateTime(times[0]), "Saturday, November 21, 2026, 09:05");
  assert.deepEqual([clockTime(undefined, now), dateTime("?"), shortDate("?", now)], ["", "", ""]);
});

test("chats are grouped by day, after the pinned chats", () => {
  const now = new Date(2026, 10, 21, 14, 0);
  const chat = (/** @type {string} */ id, /** @type {number} */ day, pinned = false) =>
    /** @type {any} */ ({ id, pinned, updated: new Date(2026, 10, day, 12).toISOString() });
  const found = groups([chat("a", 20), chat("b", 21), chat("c", 3, true), chat("d", 21)], now);
  assert.deepEqual(
    found.map(({ name, dated, chats }) => [name, dated, chats.map(({ id }) => id).join("")]),
    [
      ["Pinned", true, "c"],
      ["Today", false, "bd"],
      ["Yesterday", false, "a"],
    ],
  );
});

test("results are grouped by chat, the chat with the best result first", () => {
  const result = (/** @type {string} */ chat_id, /** @type {string} */ message_id) => ({
    ...{ chat_id, message_id, title: chat_id.toUpperCase(), snippet: "", marks: [] },
    role: /** @type {const} */ ("user"),
  });
  const found = byChat([result("b", "1"), result("a", "2"), result("b", "3")]);
  assert.deepEqual(
    found.map(({ id, title, results }) => [id, title, results.map((one) => one.message_id)]),
    [
      ["b", "B", ["1", "3"]],
      ["a", "A", ["2"]],
    ],
  );
});

test("marks of a snippet count code points", () => {
  assert.deepEqual(pieces("🙂 low sun", [[6, 9], [2, 5]]), [
    { text: "🙂 ", marked: false },
    { text: "low", marked: true },
    { text: " ", marked: false },
    { text: "sun", marked: true },
  ]);
  assert.deepEqual(pieces("", []), []);
});

test("results are shown as indented JSON or as unchanged text", () => {
  assert.equal(pretty('{"a":1}'), '{\n  "a": 1\n}');
  assert.equal(pretty("plain"), "plain");
  assert.equal(pretty("7"), "7");
  assert.equal(pretty(undefined), "");
});

/** @param {string[]} growing the text at each call; the last one is complete */
function spoken(...growing) {
  let before = NOTHING_SPOKEN;
  return growing.map((text, index) => {
    const taken = finishedSentences(text, before, index === growing.length - 1);
    before = taken;
    return taken.sentences;
  });
}

test("only complete sentences are announced while an answer streams", () => {
  const first = "The sampler is euler. It is fast, e.g. for";
  const second = "The sampler is euler. It is fast, e.g. for drafts. And 3. is no end";
  assert.deepEqual(spoken(first, second, second), [
    ["The sampler is euler."],
    ["It is fast, e.g. for drafts."],
    ["And 3. is no end"],
  ]);
});

test("sentences of languages without spaces end at their own marks", () => {
  assert.deepEqual(spoken("你好。再见", "你好。再见"), [["你好。"], ["再见"]]);
});

test("a code block is announced and not read, wherever the stream is split", () => {
  const text = "Look:\n```py\na = 1. # x. y\n```\nDone. Bye.\n";
  for (let cut = 1; cut < text.length; cut += 1) {
    assert.deepEqual(spoken(text.slice(0, cut), text).flat(), ["Look:", "Code.", "Done.", "Bye."]);
  }
});

test("names keep their underscores, and escaped marks are read without their backslash", () => {
  assert.equal(speakable("Set **sampler_name** to `dpmpp_2m_sde`."), "Set sampler_name to dpmpp_2m_sde.");
  assert.equal(speakable("_Lower_ it, __now__: steps\\_total"), "Lower it, now: steps_total");
  assert.equal(speakable("Use \\#\\#\\# and \\*this\\*"), "Use ### and *this*");
  assert.equal(speakable("A `<b>` tag, <i>not</i> this"), "A <b> tag, not this");
});

test("a long answer is split into sentences in linear time", () => {
  const [sentences] = spoken("A sentence of some words. ".repeat(20_000) + "\n".repeat(20_000));
  assert.equal(sentences.length, 20_000);
});

test("Markdown marks are not spoken", () => {
  assert.equal(
    speakable("## A **bold** [link](https://x) and `code` ![cat](u)"),
    "A bold link and code cat",
  );
});

const SKILLS = [
  { slug: "moon-light", name: "Moon light", description: "Night scenes", yours: true },
  { slug: "model_flux", name: "Flux", description: "Loaders for Flux", yours: false },
];
const texts = (/** @type {string} */ typed) =>
  slashOptions(typed, SKILLS).map((option) => option.text);

test("a shipped skill is chosen by its handle, if no other skill has it", () => {
  const shipped = (/** @type {string} */ slug) => ({ slug, name: slug, description: "", yours: false });
  const texts = (/** @type {string[]} */ slugs) =>
    slashOptions("/skill ", slugs.map(shipped)).map((option) => option.text);
  assert.deepEqual(texts(["20_model_sdxl"]), ["/skill sdxl"]);
  assert.deepEqual(texts(["20_model_sdxl", "sdxl"]), ["/skill 20_model_sdxl", "/skill sdxl"]);
  assert.deepEqual(slashOptions("/skill sdxl", [shipped("20_model_sdxl")]), []);
  // A handle alone is no command yet.
  const [option] = slashOptions("/sdxl", [shipped("20_model_sdxl")]);
  assert.equal(option?.text, "/skill sdxl");
});

test("a slash lists the commands, then the skills", () => {
  assert.deepEqual(texts("/").slice(0, 3), ["/new", "/skill ", "/skills"]);
  assert.deepEqual(texts("/").slice(-2), ["/skill moon-light", "/skill model_flux"]);
});

test("the typed text filters by command, slug, name or description", () => {
  assert.deepEqual(texts("/sk"), ["/skill ", "/skills"]);
  assert.deepEqual(texts("/flux"), ["/skill model_flux"]);
  assert.deepEqual(texts("/skill moon"), ["/skill moon-light"]);
  assert.deepEqual(texts("/skill night"), ["/skill moon-light"]);
});

test("a complete skill, plain text and a second line have no options", () => {
  for (const typed of ["/skill moon-light", "hello /new", "/new\nx", "/etc passwd", "/zzz"]) {
    assert.deepEqual(texts(typed), [], typed);
  }
});

test("a user's own skills are marked", () => {
  assert.deepEqual(
    slashOptions("/skill ", SKILLS).map((option) => option.yours),
    [true, false],
  );
});

test("only a complete command without an argument is run by the panel", () => {
  assert.deepEqual(
    [
      panelCommandOf("/new"),
      panelCommandOf(" /Settings "),
      panelCommandOf("/help"),
      panelCommandOf("/skill x"),
      panelCommandOf("/newer"),
      panelCommandOf("new"),
      panelCommandOf("/sessions"),
    ],
    ["new", "settings", null, null, null, null, "chats"],
  );
});

test("commands of the server are sent when chosen, and recognised in messages", () => {
  const chosen = (/** @type {string} */ typed) =>
    slashOptions(typed, []).map(({ text, command }) => [text, command]);
  assert.deepEqual(chosen("/co"), [
    ["/context", "send"],
    ["/compact", "send"],
  ]);
  assert.deepEqual(chosen("/summar"), [["/summarize", "send"]]);
  assert.deepEqual(
    [
      "/context",
      "/compact the seeds",
      "/summarise",
      " /help ",
      "/rename x",
      "/session c1",
      "/History 5",
    ].map(isServerCommand),
    [true, true, true, true, true, true, true],
  );
  assert.deepEqual(
    ["/contexts", "/compact\nmore", "say /help", "/skill x"].map(isServerCommand),
    [false, false, false, false],
  );
});

test("the server's list of commands replaces the built-in list", () => {
  const commands = [
    { name: "search", argument: "<words>", line: "find a passage" },
    // The server's lines are Markdown, and the list shows plain text.
    { name: "tokens", argument: "", line: "what was `used`", aliases: ["usage"] },
    { name: "model", argument: "[name]", line: "another model" },
  ];
  const options = (/** @type {string} */ typed) =>
    slashOptions(typed, [], commands).map(({ text, detail, command }) => [text, detail, command]);
  assert.deepEqual(options("/s").slice(0, 1), [["/search ", "find a passage", null]]);
  assert.deepEqual(options("/us"), [["/usage", "what was used", "send"]]);
  assert.deepEqual(options("/mo"), [["/model", "another model", "model"]]);
  assert.deepEqual(options("/sett"), [["/settings", "providers and keys", "settings"]]);
  assert.equal(panelCommandOf("/model gpt"), null);
});

const file = (/** @type {Partial<{name: string, type: string, size: number}>} */ more) => ({
  name: "a.png",
  type: "image/png",
  size: 10,
  ...more,
});

test("images and text can be attached, by type or by name", () => {
  assert.equal(mediaTypeOf(file({})), "image/png");
  assert.equal(mediaTypeOf(file({ name: "x.py", type: "" })), "text/plain");
  assert.equal(mediaTypeOf(file({ name: "w.json", type: "application/json" })), "application/json");
  for (const no of [
    file({ name: "a.svg", type: "image/svg+xml" }),
    file({ name: "a.zip", type: "application/zip" }),
    file({ name: "a.mp4", type: "video/mp4" }),
    file({ name: "a.exe", type: "" }),
  ]) {
    assert.equal(mediaTypeOf(no), null, no.name);
    assert.match(refusal(no, []) ?? "", /neither an image nor a text file/);
  }
});

test("files over the limit per file or per message are refused with a sentence", () => {
  assert.match(refusal(file({ size: FILE_LIMIT + 1 }), []) ?? "", /20 MB\. A file may have 20 MB/);
  const other = { id: "o", filename: "o", mediaType: "image/png", size: 12_000_000, url: "" };
  assert.equal(refusal(file({ size: 8_000_000 }), [other]), null);
  assert.match(refusal(file({ size: 12_000_000 }), [other]) ?? "", /together may have 28 MB/);
});

test("the tokens of a text are estimated from its bytes", () => {
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
  assert.equal(textTokens(bytes("word ".repeat(800))), 1000);
  assert.equal(textTokens(bytes("図".repeat(1000))), 800);
});

test("text that is larger than the model's window is refused with a sentence", () => {
  const text = (/** @type {number} */ tokens) => ({
    ...{ id: "x", filename: "log.txt", mediaType: "text/plain", size: 1, url: "", tokens },
  });
  const window = { tokens: 32_768, model: "qwen3" };
  assert.equal(tooLong(text(30_000), [], window), null);
  assert.equal(
    tooLong(text(3_388_142), [], window),
    "log.txt is too long: about 3,388,142 tokens, and qwen3 reads 32,768. Attach the part that matters.",
  );
  assert.match(tooLong(text(20_000), [text(20_000)], window) ?? "", /the files have about 40,000/);
  assert.equal(tooLong(text(3_388_142), [], null), null);
});

const amount = (/** @type {number} */ tokens) => ({ chars: tokens * 4, tokens });
/** @type {import("../../web/types.js").ContextReport} */
const REPORT = {
  request: 1,
  phase: "answer",
  first_turn: false,
  system_kind: "continuation",
  parts: {
    system: amount(1700),
    user_context: amount(260),
    tool_schemas: amount(1240),
    summary: amount(0),
    history: amount(1000),
    tool_results: amount(480),
    current: amount(530),
  },
  total: amount(5210),
  window: 16_000,
  reserve: 4000,
  limits_applied: [],
  rounds_omitted: 0,
  results_clamped: 1,
  messages_trimmed: 12,
  messages_sent: 17,
  repairs: 0,
  left_out: ["r1-12", "r14"],
  strength: "High",
  summarised: 0,
  cuts: 1,
  emergency: false,
  next_trigger: { what: "messages", now: 17, at: 24, share: 0.708 },
  triggers: [
    { what: "tokens", setting: "LLM_SUMMARY_TRIGGER", now: 5210, at: 12_000, share: 0.434 },
    { what: "messages", setting: "LLM_HISTORY_MAX_MESSAGES", now: 17, at: 24, share: 0.708 },
  ],
  due: false,
  usage: { input_tokens: 5200, cached_share: 0.88 },
};

test("a report has one line for each part of the request", () => {
  assert.deepEqual(
    reportLines(REPORT).map(({ label, tokens }) => [label, tokens]),
    [
      ["Rules and skills", 1960],
      ["Tools", 1240],
      ["Last 16 messages", 1480],
      ["Your message", 530],
    ],
  );
});

test("the line of the summary says how many messages it replaces", () => {
  const parts = { ...REPORT.parts, summary: amount(910) };
  const report = { ...REPORT, parts, summarised: 1984 };
  const labels = reportLines(report).map(({ label }) => label);
  assert.deepEqual(labels.slice(2, 4), ["Summary of 1,984 earlier messages", "Last 15 messages"]);
});

test("the meter is the share of the window without the reserve", () => {
  assert.equal(Math.round(share(REPORT) * 1000), 434);
  assert.equal(share({ ...REPORT, total: amount(50_000) }), 1);
});

test("the notes say what was left out, or that nothing was", () => {
  assert.deepEqual(reportNotes(REPORT), [
    "Nothing is lost: 12 earlier messages and 1 older tool result are kept and can be looked up.",
    "88 % of this request was cached.",
  ]);
  const whole = {
    ...REPORT,
    messages_trimmed: 0,
    results_clamped: 0,
    left_out: [],
    usage: null,
  };
  assert.deepEqual(reportNotes(whole), ["Everything in this chat was sent."]);
  const [left] = reportNotes({ ...whole, left_out: ["ui.md"] });
  assert.equal(left, "Left out to save room: ui.md.");
});

test("what is remembered from other chats is a line", () => {
  const parts = { ...REPORT.parts, memories: amount(40) };
  const lines = reportLines({ ...REPORT, parts });
  assert.deepEqual(
    lines.filter(({ kind }) => kind === "memories"),
    [{ kind: "memories", label: "Remembered from other chats", tokens: 40 }],
  );
});

test("recalled passages are a line, and costs are a note if known", () => {
  const parts = { ...REPORT.parts, recalled: amount(90) };
  const labels = reportLines({ ...REPORT, parts }).map(({ label }) => label);
  assert.ok(labels.includes("Found for your question"));
  const cost = { currency: "USD", request: 0.0012, chat: 1.5 };
  const note = "This request cost $0.0012; this chat has cost $1.50 so far.";
  assert.ok(reportNotes({ ...REPORT, cost }).includes(note));
});

test("the open workflow, edits that were taken back and the reminder are one line", () => {
  const own = { workflow: amount(20), taken_back: amount(5), reminder: amount(50) };
  const parts = { ...REPORT.parts, ...own };
  const line = reportLines({ ...REPORT, parts }).find(({ kind }) => kind === "reminders");
  assert.equal(line?.tokens, 75);
  assert.equal(line?.label, "The open workflow, and a reminder of your rules");
});

test("for a model without tools the note does not offer to look anything up", () => {
  const parts = { ...REPORT.parts, tool_schemas: amount(0) };
  const [note] = reportNotes({ ...REPORT, parts, messages_trimmed: 1, left_out: ["r1-1"] });
  assert.equal(
    note,
    "1 earlier message stays in the chat, but this model has no tools to look it up.",
  );
});

test("an emergency cut is a note", () => {
  const notes = reportNotes({ ...REPORT, emergency: true, usage: null });
  assert.match(notes[1], /more was left out than usual/);
});

test("every limit that asks for a summary is shown with its progress", () => {
  assert.deepEqual(reportTriggers(REPORT), {
    heading: "The next summary comes when one of these limits is passed:",
    lines: [
      "5,210 of 12,000 tokens (43 %): LLM_SUMMARY_TRIGGER",
      "17 of 24 messages (71 %): LLM_HISTORY_MAX_MESSAGES",
    ],
    due: "The next turn meets none of these limits.",
  });
  const off = reportTriggers({ ...REPORT, next_trigger: null, due: true });
  assert.match(off?.heading ?? "", /^Summaries are off/);
  assert.equal(off?.due, "The next turn meets one of these limits.");
  assert.equal(reportTriggers({ ...REPORT, triggers: undefined }), null);
});

test("the details have the raw numbers", () => {
  const details = new Map(reportDetails(REPORT));
  assert.equal(details.get("Rules and skills"), "1,700 tokens, 6,800 characters");
  assert.equal(details.get("Shortened"), "much");
  assert.ok([...details.keys()].every((name) => !name.includes("_")));
  assert.equal(details.get("Counted by the provider"), "input_tokens 5,200, cached_share 0.88");
  assert.equal(details.get("Not sent in full"), "r1-12, r14");
  const handles = Array.from({ length: 15 }, (_, row) => `r${row}`);
  const many = new Map(reportDetails({ ...REPORT, left_out: handles }));
  assert.match(many.get("Not sent in full") ?? "", /r10, r11 and 3 more$/);
});

test("an invalid provider is refused with the name of the field", () => {
  const good = { name: "Mine", base_url: "http://127.0.0.1:8080/v1", model: "m" };
  assert.equal(providerProblem(good), null);
  assert.deepEqual(providerProblem({ ...good, name: "" }), {
    field: "name",
    text: "Name is missing.",
  });
  assert.match(providerProblem({ ...good, base_url: "127.0.0.1/v1" })?.text ?? "", /http/);
  assert.equal(providerProblem({ ...good, model: "" })?.field, "model");
  for (const window of [NaN, 12.5, 100]) {
    assert.match(providerProblem({ ...good, context_window: window })?.text ?? "", /1024/);
  }
  assert.equal(hostOf("not a url"), "");
});

test("a new provider is named after its preset or its host", () => {
  const settings = /** @type {any} */ ({ providers: [{ name: "OpenAI" }], active: null });
  assert.equal(namedAfter("http://127.0.0.1:11434/v1/", null), "Ollama");
  assert.equal(namedAfter("https://api.openai.com/v1", settings), "OpenAI 2");
  assert.equal(namedAfter("http://10.0.0.7:9000/v1", null), "10.0.0.7 9000");
  assert.equal(namedAfter("https://api.example.org/v1", null), "example.org");
  assert.equal(namedAfter("nonsense", null), "");
});

test("of a model only those abilities are said that are known", () => {
  assert.equal(abilitiesOf({ id: "m", vision: true, tools: false }), "pictures · no tools");
  assert.equal(abilitiesOf({ id: "m", vision: false, tools: null }), "no pictures");
  assert.equal(abilitiesOf({ id: "m", vision: null, tools: null }), "");
});

test("a found provider is saved under a valid name that is not in use", () => {
  const found = { name: "Ollama (local)", base_url: "http://127.0.0.1:11434/v1", source: "local" };
  const mine = { ...found, name: "Ollama", source: "settings" };
  const other = { ...mine, base_url: "http://10.0.0.2/v1" };
  assert.equal(plainName(found.name), "Ollama");
  assert.equal(savedName(found, [found]), "Ollama");
  assert.equal(savedName(found, [found, { ...mine, name: "My box" }]), "My box");
  assert.equal(savedName(found, [found, other]), "Ollama 2");
  assert.equal(savedName({ ...found, name: "OPENAI_*" }, []), "OPENAI_");
  assert.equal(savedName(mine, [mine]), "Ollama");
});

const PROVIDER = /** @type {const} */ ({
  name: "Ollama",
  base_url: "http://127.0.0.1:11434/v1",
  model: "qwen3:8b",
  context_window: 32768,
  source: "local",
  demo: false,
  local: true,
});

test("the welcome says which model answers and where messages are sent", () => {
  assert.match(whoAnswers(PROVIDER), /on this computer \(Ollama\)\. Nothing leaves it\./);
  const remote = { ...PROVIDER, local: false, base_url: "https://api.example.com/v1" };
  assert.match(whoAnswers(remote), /are sent to api\.example\.com\./);
  assert.match(whoAnswers({ ...PROVIDER, demo: true }), /tiny/);
});

test("the first prompts depend on the open workflow", () => {
  const open = { name: "flux", nodes: 10, missingNodes: 0, missingModels: 2, generates: true };
  assert.match(whatISee(open, false, ""), /^I can see flux: 10 nodes, 2 missing models\.$/);
  assert.equal(
    whatISee({ ...open, missingModels: 0 }, false, "This makes pictures."),
    "I can see flux: 10 nodes. This makes pictures.",
  );
  assert.match(firstPrompts(open, false)[0].text, /models are missing/);
  assert.match(firstPrompts({ ...open, missingModels: 0 }, false)[0].text, /Explain/);
  assert.match(firstPrompts(null, false)[0].text, /first picture/);
  assert.equal(whatISee({ ...open, nodes: 0 }, false, "This makes pictures."), "The canvas is empty.");
  assert.match(whatISee(open, true, "This makes pictures."), /cannot look/);
  for (const workflow of [open, { ...open, missingNodes: 1 }, null]) {
    assert.equal(firstPrompts(workflow, false).length, 3);
  }
});
