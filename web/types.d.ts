/**
 * The shapes that the panel's rooms share: what travels over the wire (UI message stream v1 and our
 * HTTP API) and what the host gives. Types only; nothing here reaches the browser.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface TextPart {
  type: "text";
  text: string;
  state?: "streaming" | "done";
}
export interface ReasoningPart {
  type: "reasoning";
  id?: string;
  text: string;
  state?: "streaming" | "done";
  providerMetadata?: ProviderMetadata;
}
export interface FilePart {
  type: "file";
  mediaType: string;
  url: string;
  filename?: string;
}
export interface StepStartPart {
  type: "step-start";
}
export interface SourcePart {
  type: "source-url" | "source-document";
  sourceId: string;
  url?: string;
  title?: string;
  filename?: string;
  mediaType?: string;
}
export interface DataPart {
  type: `data-${string}`;
  id?: string;
  data: any;
}

export type ToolState =
  | "input-streaming"
  | "input-available"
  | "approval-requested"
  | "approval-responded"
  | "output-available"
  | "output-error"
  | "output-denied";

export interface ToolPart {
  type: "dynamic-tool" | `tool-${string}`;
  toolName?: string;
  toolCallId: string;
  title?: string;
  state: ToolState;
  input?: unknown;
  rawInput?: unknown;
  output?: unknown;
  errorText?: string;
  preliminary?: boolean;
  providerExecuted?: boolean;
  approval?: { id: string; approved?: boolean; reason?: string };
  callProviderMetadata?: ProviderMetadata;
  resultProviderMetadata?: ProviderMetadata;
}

export type ProviderMetadata = Record<string, Record<string, Json>>;

export type Part =
  TextPart | ReasoningPart | FilePart | StepStartPart | SourcePart | DataPart | ToolPart;

export interface TurnError {
  code: string;
  message: string;
  actions?: string[];
}

/** `messageMetadata` of an answer; of a user's message only `created` and `workflow`. */
export interface Metadata {
  model?: string;
  provider?: string;
  created?: string;
  usage?: {
    input_tokens?: number;
    output_tokens?: number;
    cached_tokens?: number;
    reasoning_tokens?: number;
  };
  timing?: { first_token_ms?: number; total_ms?: number };
  steps?: number;
  /** The command that the server answered itself. */
  command?: string;
  finish_reason?: string;
  cut?: "aborted" | "cut" | "length" | "steps";
  error?: TurnError;
  workflow?: { id?: string; name?: string };
}

export interface UIMessage {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: Metadata;
  parts: Part[];
}

/** One chunk of the stream; `type` decides which other fields are there. */
export interface Chunk {
  type: string;
  [field: string]: any;
}

export interface Amount {
  chars: number;
  tokens: number;
}

/** The `data-context` chunk: what one request to the model was made of (0: the next one). */
export interface ContextReport {
  request: number;
  phase: "request" | "answer";
  first_turn: boolean;
  system_kind: string;
  parts: Record<
    "system" | "user_context" | "tool_schemas" | "summary" | "history" | "tool_results" | "current",
    Amount
  > & { recalled?: Amount };
  total: Amount;
  window: number;
  reserve: number;
  limits_applied: string[];
  rounds_omitted: number;
  results_clamped: number;
  messages_trimmed: number;
  messages_sent: number;
  repairs: number;
  /** Handles of what is not sent in full ("r12", "r3-40"), and names of left out sections. */
  left_out: string[];
  strength: "Absent" | "Low" | "Medium" | "High";
  /** Messages that the summary stands for. */
  summarised: number;
  cuts: number;
  /** It was made to fit by force. */
  emergency: boolean;
  /** The limit that asks for the next summary first; `share` is `now / at`. */
  next_trigger: null | { what: string; now: number; at: number; share: number };
  usage: null | {
    input_tokens?: number;
    output_tokens?: number;
    cached_tokens?: number;
    cached_share?: number;
  };
  /** What the provider charges, in `currency`; missing where its prices are not known. */
  cost?: { currency: string; request: number; chat: number } | null;
}

export type ProviderSource = "settings" | "environment" | "local" | "gguf" | "demo";

export interface Provider {
  name: string;
  base_url: string;
  model: string;
  /** Tokens; null until a request shows it. */
  context_window: number | null;
  has_key: boolean;
  source: ProviderSource;
}

export interface ProviderSettings {
  providers: Provider[];
  active: string | null;
}

export interface ProviderInput {
  base_url: string;
  model: string;
  context_window?: number;
  api_key?: string;
}

export interface TestLine {
  ok: boolean;
  message: string;
  ms?: number;
}
export interface TestResult {
  chat: TestLine;
  tools: TestLine;
}

export interface HealthProvider {
  name: string;
  base_url: string;
  model: string;
  context_window: number;
  source: ProviderSource;
  demo: boolean;
  local: boolean;
}

export interface Health {
  status: string;
  version: string;
  provider: HealthProvider | null;
  problems: { code: string; message: string; variable?: string }[];
  comfyui: string | null;
  preview: boolean;
  skills: number;
  saving: { ok: boolean; message?: string };
}

export interface SkillEntry {
  slug: string;
  name: string;
  description: string;
  yours: boolean;
}

export interface WorkflowName {
  id?: string;
  name?: string;
}

/** What a chat is to the list. */
export interface ChatEntry {
  id: string;
  title: string;
  created: string;
  updated: string;
  messages: number;
  state: string;
  pinned?: boolean;
  /** An answer ended while nobody watched. */
  unread?: boolean;
  workflow?: WorkflowName | null;
}

/** One page of a chat, from its end. */
export interface StoredChat {
  id: string;
  title: string;
  state: string;
  messages: UIMessage[];
  has_more: boolean;
  versions?: Versions;
}

/** Where a message stands among its versions; `index` counts from 0. */
export interface Version {
  index: number;
  ids: string[];
}
export type Versions = Record<string, Version>;

/** A command that waits in the chat's queue. */
export interface Queued {
  id: string;
  type: string;
  priority?: boolean;
  message?: UIMessage;
  created?: string;
}

export interface Saving {
  ok: boolean;
  message?: string;
}

/** What runs in a chat, and who is asked. */
export interface Runtime {
  state: string;
  /** The panel that a tool call is addressed to, and whether it is there. */
  client_id: string | null;
  client_present: boolean;
  /** Tool calls that a panel is to run. */
  waiting: string[];
  error?: { code: string; message: string } | null;
  saving: Saving;
}

/** One event of a stream of events; `type` decides which other fields are there. */
export interface ChatEvent {
  seq: number;
  type: string;
  epoch: string;
  chat_id?: string;
  [field: string]: any;
}

/** A passage that a search found. `marks`: start and end in code points of the snippet. */
export interface SearchResult {
  chat_id: string;
  message_id: string;
  title: string;
  snippet: string;
  marks: [number, number][];
}

/** A slash command, as the server lists it. */
export interface CommandEntry {
  name: string;
  aliases?: string[];
  /** "<words>" when it needs one, "[name]" when it takes one, else empty. */
  argument?: string | null;
  line: string;
  place?: "server" | "client";
}

export interface WorkflowSnapshot {
  id: string;
  name: string;
  revision: number;
  graph: unknown;
  selection: (number | string)[];
}

/** What the empty state says about the open workflow. */
export interface WorkflowSummary {
  id: string;
  name: string;
  nodes: number;
  missingNodes: number;
  missingModels: number;
  generates: boolean;
}

export interface Attachment {
  id: string;
  filename: string;
  mediaType: string;
  size: number;
  url: string;
}

/** "working": it runs, and nothing is written (a panel's tool, the time before the first word). */
export type ChatStatus = "idle" | "sending" | "working" | "streaming" | "stopping";

/** Why a request of the panel itself failed; shown as a card below the messages. */
export interface Failure extends TurnError {
  actions: string[];
}

export interface ChatState {
  id: string;
  /** Whether the server has it: a new chat is made with its first message. */
  known: boolean;
  title: string;
  /** From somewhere above to the end, with the answer that is being written. */
  messages: UIMessage[];
  versions: Versions;
  hasMore: boolean;
  loading: boolean;
  status: ChatStatus;
  /** Whether the server cannot be reached. */
  lost: boolean;
  report: ContextReport | null;
  failure: Failure | null;
  /** Milliseconds that a part took, by `partKey`; known only for parts that were watched live. */
  durations: Record<string, number>;
  queue: readonly Queued[];
  /** The queue goes on only when the user says so. */
  held: boolean;
  /** What the server keeps of the text that was not sent yet. */
  draft: string;
  /** The panel that a tool waits for: this one, another one, or one that is gone. */
  waitsFor: "" | "here" | "elsewhere" | "gone";
  saving: Saving;
  workflow: WorkflowName | null;
  /** The message that the user came for. */
  target: { id: string } | null;
  /** The message that was sent last from here; "" for none. */
  sent: string;
  /** Whether a message is being looked for far above. */
  finding: boolean;
}

/** Something that must be settled before the panel can talk to its server. */
export interface Gate {
  kind: "host" | "origin" | "token" | "broken";
  message: string;
  variable?: string;
  value?: string;
}

export type Page = "chat" | "chats" | "settings" | "skills";

export interface Search {
  query: string;
  /** null: not answered yet. */
  results: SearchResult[] | null;
  failed: string;
}

/** A sentence above the composer that goes by itself. */
export type Toast =
  | { kind: "deleted"; chat: { id: string; title: string }; open: boolean }
  | { kind: "said"; text: string };

export interface PanelState {
  page: Page;
  chat: ChatState;
  chats: ChatEntry[] | null;
  /** Whether the list goes on below. */
  moreChats: boolean;
  search: Search;
  toast: Toast | null;
  /** The server's slash commands; null until they are known. */
  commands: CommandEntry[] | null;
  skills: SkillEntry[];
  health: Health | null;
  settings: ProviderSettings | null;
  gate: Gate | null;
  unreachable: boolean;
  welcomed: boolean;
  workflow: WorkflowSummary | null;
  /** Which provider the settings page edits: a name, "" for a new one, null for none. */
  editing: string | null;
  /** Which field of it the user came for. */
  field: "name" | "key";
  /** What stands in the form of a new provider already. */
  prefill: { name: string; base_url: string; model: string } | null;
}
