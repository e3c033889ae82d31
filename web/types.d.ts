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
  >;
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

export interface ChatEntry {
  id: string;
  title: string;
  created: string;
  updated: string;
  messages: number;
  state: string;
}

export interface StoredChat {
  id: string;
  title: string;
  state: string;
  seq?: number;
  messages: UIMessage[];
  has_more: boolean;
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

export type ChatStatus = "idle" | "sending" | "streaming" | "stopping" | "reconnecting";

/** Why a request of the panel itself failed; shown as a card below the messages. */
export interface Failure extends TurnError {
  actions: string[];
}

export interface ChatState {
  id: string;
  title: string;
  messages: UIMessage[];
  hasMore: boolean;
  loading: boolean;
  status: ChatStatus;
  report: ContextReport | null;
  failure: Failure | null;
  /** Milliseconds that a part took, by `partKey`; known only for parts that were watched live. */
  durations: Record<string, number>;
}

/** Something that must be settled before the panel can talk to its server. */
export interface Gate {
  kind: "host" | "origin" | "token" | "broken";
  message: string;
  variable?: string;
  value?: string;
}

export type Page = "chat" | "chats" | "settings" | "skills";

export interface PanelState {
  page: Page;
  chat: ChatState;
  chats: ChatEntry[] | null;
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
  draft: { name: string; base_url: string; model: string } | null;
}
