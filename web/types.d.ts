/**
 * Types shared by the panel's modules: the UI message stream v1, the HTTP API, the panel's state.
 * Only for type checking; not loaded by the browser.
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

/** Parameters of a chat that the panel sets; the mode `edits` is the default. */
export interface ChatParams {
  approval?: ApprovalMode;
  budget?: { runs: number; minutes: number };
}
/** What asks first: edits and acts, acts, or acts beyond a budget. */
export type ApprovalMode = "ask" | "edits" | "budget";

/** What was done about the changes that an answer made to the workflow. */
export interface TakenBack {
  undone: boolean;
  busy: boolean;
  /** Why nothing was done; `nodes` that something else has changed since. */
  refused: { nodes: string[]; text: string } | null;
}

/** What a panel carries out on its canvas as one undo step (docs/http.md, *Edits*). */
export interface CanvasChange {
  workflow_id: string | null;
  base: Record<string, any>;
  steps: any[];
}

export interface TurnError {
  code: string;
  message: string;
  actions?: string[];
  /** The provider's own words, without keys. */
  detail?: string;
}

/** `messageMetadata` of an answer. User messages have `created` and `workflow` only. */
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
  timing?: { first_token_ms?: number; total_ms?: number; parts?: Record<string, number> };
  steps?: number;
  /** Ids of the memories that the answer was given. */
  memories?: string[];
  /** The slash command that the server answered without a model. */
  command?: string;
  finish_reason?: string;
  cut?: "aborted" | "cut" | "length" | "steps";
  error?: TurnError;
  workflow?: { id?: string; name?: string };
  /** Where a user message comes from; the server sets it. */
  origin?: "person" | "task" | "model" | "hook" | "schedule" | "event" | "imported";
  /** Whether the message is not shown, as an event. */
  hidden?: boolean;
}

export interface UIMessage {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: Metadata;
  parts: Part[];
}

/** One chunk of the stream; the other fields depend on `type`. */
export interface Chunk {
  type: string;
  [field: string]: any;
}

export interface Amount {
  chars: number;
  tokens: number;
}

/** The `data-context` chunk: the parts of one request to the model. */
export interface ContextReport {
  /** Number of the request in its turn; 0: the next request. */
  request: number;
  phase: "request" | "answer";
  first_turn: boolean;
  system_kind: string;
  parts: Record<
    "system" | "user_context" | "tool_schemas" | "summary" | "history" | "tool_results" | "current",
    Amount
  > & {
    events?: Amount;
    recalled?: Amount;
    memories?: Amount;
    workflow?: Amount;
    taken_back?: Amount;
    reminder?: Amount;
  };
  total: Amount;
  window: number;
  reserve: number;
  limits_applied: string[];
  rounds_omitted: number;
  results_clamped: number;
  messages_trimmed: number;
  messages_sent: number;
  repairs: number;
  /** Handles of log rows not sent in full ("r12", "r3-40"), and names of omitted sections. */
  left_out: string[];
  strength: "Absent" | "Low" | "Medium" | "High";
  /** Number of messages that the summary replaces. */
  summarised: number;
  cuts: number;
  /** Whether the request fitted only after emergency cuts. */
  emergency: boolean;
  /** The limit that will trigger the next summary; `share` is `now / at`. */
  next_trigger: null | { what: string; now: number; at: number; share: number };
  /** All limits that ask for a cut; missing in a report that an older version made. */
  triggers?: { what: string; setting: string; now: number; at: number; share: number }[];
  /** Whether the next turn meets one of `triggers`. */
  due?: boolean;
  usage: null | {
    input_tokens?: number;
    output_tokens?: number;
    cached_tokens?: number;
    cached_share?: number;
  };
  /** The provider's charges in `currency`; missing if its prices are not known. */
  cost?: { currency: string; request: number; chat: number } | null;
}

export type ProviderSource = "settings" | "environment" | "local" | "gguf" | "demo";

export interface Provider {
  name: string;
  base_url: string;
  model: string;
  /** Tokens; null until the first request has determined it. */
  context_window: number | null;
  /** Whether its models see pictures, as the user set it; null: not set. */
  vision?: boolean | null;
  has_key: boolean;
  source: ProviderSource;
}

/** An entry of a list of models; null abilities are not known. */
export interface ModelEntry {
  id: string;
  /** Tokens. */
  context_window?: number;
  vision?: boolean | null;
  tools?: boolean | null;
}

export type ProviderField = "address" | "key" | "model" | "name" | "window";

export interface ProviderSettings {
  providers: Provider[];
  active: string | null;
}

export interface ProviderInput {
  base_url: string;
  model: string;
  context_window?: number;
  vision?: boolean;
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

/** A chat in the list of chats. */
export interface ChatEntry {
  id: string;
  title: string;
  created: string;
  updated: string;
  messages: number;
  state: string;
  pinned?: boolean;
  /** Whether an answer ended while no panel showed the chat. */
  unread?: boolean;
  workflow?: WorkflowName | null;
  compacting?: Compacting | null;
  params?: ChatParams;
  budget_left?: BudgetLeft;
}

/** What is left of a budget for runs; `until` in ISO 8601. */
export interface BudgetLeft {
  runs: number;
  until: string;
}

/** The summary of older messages that is being made in a chat. */
export interface Compacting {
  phase: "summarising" | "committing";
  reason: "tokens" | "messages" | "turns" | "overflow" | "user";
}

/** A stored chat with one page of its messages, the newest ones or those before a message. */
export interface StoredChat {
  id: string;
  title: string;
  state: string;
  messages: UIMessage[];
  has_more: boolean;
  /** Of a page around or after a message: whether messages follow it. */
  has_later?: boolean;
  versions?: Versions;
}

/** The versions of a message; `index` is the position of the message in `ids`, from 0. */
export interface Version {
  index: number;
  ids: string[];
}
export type Versions = Record<string, Version>;
/** By message id. A Map: an id from an import may be "constructor" or "__proto__". */
export type VersionsById = ReadonlyMap<string, Version>;

/** A command in the queue of a chat. */
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

/** What runs in a chat, and which panel runs its tool calls. */
/** A call that waits for the user or a panel; the other fields depend on that (docs/http.md). */
export interface WaitingCall {
  tool_call_id: string;
  for: "decision" | "answer" | "panel";
  tool: string;
  [field: string]: any;
}

export interface Runtime {
  state: string;
  /** Id of the panel that runs the tool calls, and whether the panel is connected. */
  client_id: string | null;
  client_present: boolean;
  /** Ids of the tool calls that wait for a panel. */
  /** The call that is waited for; empty for none. */
  waiting: WaitingCall[];
  /** Ids of the answers whose changes of the workflow are taken back. */
  undone?: string[];
  error?: { code: string; message: string } | null;
  saving: Saving;
}

/** One event of a chat or of the list of chats; the other fields depend on `type`. */
export interface ChatEvent {
  seq: number;
  type: string;
  epoch: string;
  chat_id?: string;
  [field: string]: any;
}

/** A result of a search. `marks`: start and end of each match in code points of the snippet. */
export interface SearchResult {
  chat_id: string;
  message_id: string;
  role: "user" | "assistant";
  title: string;
  snippet: string;
  marks: [number, number][];
}

/** A slash command of the server. */
export interface CommandEntry {
  name: string;
  aliases?: string[];
  /** "<words>" if an argument is required, "[name]" if it is optional, else empty. */
  argument?: string | null;
  line: string;
  place?: "server" | "client";
}

export interface WorkflowSnapshot {
  id: string;
  name: string;
  /** null: it is not sent, since its JSON has `too_large` bytes. */
  graph: unknown;
  selection: (number | string)[];
  too_large?: number;
}

/** Facts about the open workflow, shown in an empty chat. */
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
  /** Bytes. */
  size: number;
  /** About how many tokens the text of a text file has. */
  tokens?: number;
  url: string;
}

/** What is attached to the message that is not sent yet. */
export interface Attached {
  files: readonly Attachment[];
  /** Why a file was not attached; "" for none. */
  problem: string;
  /** How many additions are not read yet. */
  reading: number;
}

/** "working": a turn runs without a streaming answer (a panel tool, before the first chunk). */
export type ChatStatus = "idle" | "sending" | "working" | "streaming" | "stopping";

/** A failed request of the panel; shown as an error card below the messages. */
export interface Failure extends TurnError {
  actions: string[];
}

export interface ChatState {
  id: string;
  /** Whether the server has the chat; a new chat is created with its first message. */
  known: boolean;
  /** Whether nothing of it is kept. */
  temporary: boolean;
  title: string;
  /** The loaded messages up to the newest one, with the streaming answer. */
  messages: UIMessage[];
  versions: VersionsById;
  hasMore: boolean;
  /** Messages far from the end that are shown instead: those around the target. */
  stretch: { messages: UIMessage[]; hasMore: boolean; versions: Versions } | null;
  loading: boolean;
  status: ChatStatus;
  /** Whether the server cannot be reached. */
  lost: boolean;
  report: ContextReport | null;
  failure: Failure | null;
  /** By the id of the answer. */
  taken: ReadonlyMap<string, TakenBack>;
  /** Whether the workflow was another one at this place of the chat, and the canvas can be brought
   * to it. */
  offersCanvas: boolean;
  params: ChatParams;
  budgetLeft: BudgetLeft | null;
  /** Milliseconds by `durationKey`; only of parts that streamed into this panel. */
  durations: Record<string, number>;
  queue: readonly Queued[];
  /** Messages that were sent and did not reach the server yet, but for the one in `messages`. */
  unsent: readonly UIMessage[];
  /** Whether the queue waits until the user resumes it. */
  held: boolean;
  /** The unsent text that the server stores. */
  draft: string;
  /** The panel that a tool call waits for: this one, another one, a closed one; "" for none. */
  waitsFor: "" | "here" | "elsewhere" | "gone";
  compacting: Compacting | null;
  saving: Saving;
  workflow: WorkflowName | null;
  /** The message that the user opened from the search. */
  target: { id: string } | null;
  /** Id of the last message sent from this panel; "" for none. */
  sent: string;
  /** Whether the page around the target is being loaded. */
  finding: boolean;
}

/** The reason why the server refuses the panel, or why its backend did not start. */
export interface Gate {
  kind: "host" | "origin" | "token" | "broken";
  message: string;
  variable?: string;
  value?: string;
}

export type Page = "chat" | "chats" | "settings" | "skills" | "memory" | "data" | "share";

export type MemoryKind = "preference" | "fact" | "entity" | "relation" | "session_summary";
/** What is remembered: all that lasts, only what the user asks for, or nothing. */
export type MemoryMode = "auto" | "manual" | "off";

/** A statement that holds across chats. */
export interface Memory {
  id: string;
  kind: MemoryKind;
  text: string;
  entities: string[];
  source: { chat_id: string; message_id: string; quote: string } | null;
  created: string;
  used: string | null;
  uses: number;
  pinned: boolean;
  /** Id of the memory that replaced it. */
  superseded_by: string | null;
}

export interface Rule {
  id: string;
  text: string;
  created: string;
}

export interface Preference {
  key: string;
  value: string;
}

/** What is always true, and what is remembered. Lists are null until they are loaded. */
export interface MemoryState {
  mode: MemoryMode | null;
  /** The mode that the user wanted and the installation does not allow. */
  notAllowed: MemoryMode | null;
  rules: Rule[] | null;
  preferences: Preference[] | null;
  query: string;
  kind: MemoryKind | "";
  /** The memories that nothing replaced, of the query and the kind. */
  found: Memory[] | null;
  /** Those that were replaced. */
  replaced: Memory[];
  more: boolean;
  failed: string;
  /** The memory that the user opened from a chat. */
  target: { id: string } | null;
  /** By id; null: it is gone. Only those that something shown asked for. */
  known: ReadonlyMap<string, Memory | null>;
  /** Whether the user has read what is kept and where. */
  told: boolean;
}

export interface Search {
  query: string;
  /** null: the first search is running. */
  results: SearchResult[] | null;
  failed: string;
}

/** How much data of the user there is; sizes in bytes. */
export interface UserData {
  chats: number;
  messages: number;
  attachments: number;
  skills: number;
  rules: number;
  preferences: number;
  memories: number;
  texts: string[];
  chats_bytes: number;
  attachments_bytes: number;
  skills_bytes: number;
  other_bytes: number;
  total_bytes: number;
}

/** A chat as a file for somebody who is asked for help. */
export interface SharedFile {
  name: string;
  content: string;
  taken_out: { keys: number; paths: number; names: number };
}

/** A sentence above the composer that disappears by itself. */
export type Toast =
  | {
      kind: "deleted";
      chat: { id: string; title: string };
      open: boolean;
      /** How many memories came from it and are still there. */
      learned?: number;
      /** How many memories went with it. */
      forgotten?: number;
    }
  | { kind: "gone"; text: string; back: () => Promise<unknown> }
  | { kind: "cleaned"; ids: string[] }
  | { kind: "said"; text: string };

export interface PanelState {
  page: Page;
  chat: ChatState;
  /** What is attached to the next message of the chat. */
  attached: Attached;
  chats: ChatEntry[] | null;
  /** Whether the server has older chats. */
  moreChats: boolean;
  search: Search;
  memory: MemoryState;
  toast: Toast | null;
  /** The server's slash commands; null until they are loaded. */
  commands: CommandEntry[] | null;
  skills: SkillEntry[];
  health: Health | null;
  settings: ProviderSettings | null;
  gate: Gate | null;
  unreachable: boolean;
  welcomed: boolean;
  workflow: WorkflowSummary | null;
  /** What the open workflow makes, in the server's words; "" where that is not known. */
  sentence: string;
  /** The chat on the page "share"; `file` is null until the server has made it. */
  share: { id: string; withWorkflow: boolean; file: SharedFile | null; failed: string } | null;
  /** Whether each answer shows its tokens (`/tokens on`). */
  tokens: boolean;
  /** Name of the provider in the form of the settings page; "" for a new one, null for none. */
  editing: string | null;
  /** The field of the form that gets the focus. */
  field: "name" | "key";
  /** Values that the form of a new provider starts with. */
  prefill: { name: string; base_url: string; model: string } | null;
  /** Whether the form was opened from the chat, to which saving then returns. */
  fromChat: boolean;
}
