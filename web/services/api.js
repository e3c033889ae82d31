// @ts-check
/**
 * HTTP client of the panel: one function per route. Uses the host's fetch, which adds the base path
 * and the user's header. Refusals are thrown as `ApiError`, connection failures as `NetworkError`.
 */

import { errorText } from "../text/format.js";
import { memoryRoutes } from "./memory-routes.js";

/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").CommandEntry} CommandEntry */
/** @typedef {import("../types.js").Health} Health */
/** @typedef {import("../types.js").ModelEntry} ModelEntry */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */
/** @typedef {import("../types.js").ProviderSettings} ProviderSettings */
/** @typedef {import("../types.js").SearchResult} SearchResult */
/** @typedef {import("../types.js").StoredChat} StoredChat */
/** @typedef {import("../types.js").TestResult} TestResult */
/** @typedef {import("../types.js").WorkflowName} WorkflowName */
/** @typedef {import("./events.js").Position} Position */
/**
 * @typedef {(path: string, init: RequestInit & {timeoutMs?: number | null}) => Promise<Response>}
 *   Fetch
 */

/** Most results of a search. */
export const FOUND = 50;

/** The server answered with an error status. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{code?: string, message?: string, variable?: string, value?: string, nodes?: unknown}}
   *   problem
   */
  constructor(status, problem) {
    super(problem.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = problem.code ?? `http_${status}`;
    this.variable = problem.variable;
    this.value = problem.value;
    /** Nodes that something else has changed (`changed_since`). @type {string[]} */
    this.nodes = Array.isArray(problem.nodes) ? problem.nodes.map(String) : [];
  }
}

/** No answer, or a part of it: ComfyUI is not running or not reachable. */
export class NetworkError extends Error {}

/** @typedef {Record<string, unknown> & {type: string}} Command of the route
 *   `POST /chats/{id}/commands` */
/** @typedef {"markdown" | "jsonl" | "trajectory"} ExportFormat */
/** @typedef {"jsonl" | "trajectory" | "share"} ImportFormat */

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * The body of `POST /chat` that asks what the command asks.
 * @param {Command} command
 * @returns {Record<string, unknown> | null} null for a command that asks the model nothing
 */
function question({ type, message_id: messageId, ...rest }) {
  if (type === "user_message") return rest;
  if (type === "retry_from_index") return { ...rest, messageId };
  if (type === "regenerate") return { ...rest, messageId, trigger: "regenerate-message" };
  return null;
}

/**
 * @param {Fetch} fetch the host's fetch, which takes paths without `/api`
 * @param {string} clientId id of this panel; the server sends panel tool calls to the panel whose
 *   message started the turn
 */
export function createApi(fetch, clientId) {
  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @param {{signal?: AbortSignal, headers?: Record<string, string>, keepalive?: boolean}} [more]
   * @returns {Promise<Response>} an answer with a status below 300
   */
  async function send(method, path, body, more = {}) {
    /** @type {Record<string, string>} */
    const typed = body === undefined ? {} : { "Content-Type": "application/json" };
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...typed, ...more.headers };
    let response;
    try {
      // The host's time limit would end an event stream, which lasts for hours.
      response = await fetch(path, { ...more, method, headers, body: text, timeoutMs: null });
    } catch (error) {
      throw new NetworkError(errorText(error));
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /** @param {string} path @returns {Promise<any>} */
  const get = async (path) => (await send("GET", path)).json();
  /** @param {Record<string, string | number | undefined>} values */
  const query = (values) => {
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    return given.length ? `?${new URLSearchParams(given.map(([k, v]) => [k, String(v)]))}` : "";
  };
  const name = encodeURIComponent;

  return {
    /**
     * Opens the event stream of a chat or of the list of chats.
     * @param {string | null} id of the chat; null for the list of chats
     * @param {Position | null} position of the last event; null: begin with a snapshot
     * @param {AbortSignal} signal
     */
    subscribe: (id, position, signal) =>
      send(
        "GET",
        `/chats/subscribe${query({
          chat_id: id ?? undefined,
          client_id: clientId,
          canvas: id === null ? undefined : 1,
          epoch: position?.epoch,
        })}`,
        undefined,
        { signal, headers: position ? { "Last-Event-ID": String(position.seq) } : {} },
      ),

    /**
     * @param {string} id
     * @param {WorkflowName} [workflow]
     * @param {true} [temporary] kept in the server's memory only
     * @throws {ApiError} `chat_exists`
     */
    createChat: (id, workflow, temporary) => send("POST", "/chats", { id, workflow, temporary }),

    /**
     * @param {string} id
     * @param {Command} command a question goes to `POST /chat`, which answers before the model does
     * @returns {Promise<{queued: number, chat_id?: string, answered?: boolean}>}
     */
    async command(id, command) {
      const asked = question(command);
      const path = asked ? "/chat" : `/chats/${name(id)}/commands`;
      const body = asked ? { id, ...asked } : command;
      const headers = asked ? { Prefer: "respond-async" } : undefined;
      const response = await send("POST", path, { ...body, client_id: clientId }, { headers });
      // The server has taken the command, though its answer did not come whole.
      return response.json().catch((error) => {
        throw new NetworkError(errorText(error));
      });
    },

    /** @param {{limit?: number, before?: string}} [page] @returns {Promise<ChatEntry[]>} */
    chats: async (page = {}) => (await get(`/chats${query(page)}`)).chats,

    /**
     * @param {string} id
     * @param {{limit?: number, before?: string, around?: string, after?: string}} page the place of
     *   the page as a message's id
     * @returns {Promise<StoredChat | null>} null if the server does not have the chat, or its path
     *   not that message
     */
    async chat(id, page) {
      try {
        return await get(`/chats/${name(id)}${query(page)}`);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },

    /**
     * @param {string} id
     * @param {string} messageId
     * @returns {Promise<{workflow_id: string, current: boolean}[]>} the workflow that the chat had at
     *   this message, and whether it is the one of now; none where that is not known
     */
    workflows: async (id, messageId) =>
      (await get(`/chats/${name(id)}/workflows${query({ message_id: messageId })}`)).workflows,

    /** @param {string} id @param {{title?: string, pinned?: boolean}} changes */
    changeChat: (id, changes) => send("PATCH", `/chats/${name(id)}`, changes),
    /**
     * @param {string} id
     * @param {boolean} [memories] whether what was remembered from it goes, too
     * @returns {Promise<Response>} `restoreChat` works for a minute, and brings both back
     */
    deleteChat: (id, memories = false) =>
      send("DELETE", `/chats/${name(id)}${memories ? "?memories=true" : ""}`),
    /** Ends a temporary chat, also while the page is being left. @param {string} id */
    endChat: (id) => send("DELETE", `/chats/${name(id)}`, undefined, { keepalive: true }),
    /** @param {string} id */
    restoreChat: (id) => send("POST", `/chats/${name(id)}/restore`, {}),
    /**
     * @param {number} days
     * @param {boolean} dryRun
     * @returns {Promise<{id: string, title: string}[]>} the chats that did not change for so many
     *   days and are deleted, or would be
     */
    cleanUp: async (days, dryRun) => {
      const body = { older_than_days: days, dry_run: dryRun };
      return (await (await send("POST", "/chats/cleanup", body)).json()).chats;
    },
    /** @param {string} q @returns {Promise<SearchResult[]>} best first */
    search: async (q) => (await get(`/chats/search${query({ q, limit: FOUND })}`)).results,
    /** @param {string} id @param {ExportFormat} format */
    exportChat: (id, format) => send("GET", `/chats/${name(id)}/export${query({ format })}`),
    /**
     * @param {string} id
     * @param {unknown} [workflow] ComfyUI's own JSON, to be part of the file
     * @returns {Promise<import("../types.js").SharedFile>}
     */
    shareChat: async (id, workflow) =>
      (await send("POST", `/chats/${name(id)}/share`, workflow ? { workflow } : {})).json(),
    /** @param {ImportFormat} format @param {string} content @returns {Promise<string>} chat id */
    importChat: async (format, content) =>
      (await (await send("POST", "/chats/import", { format, content })).json()).id,
    /** @returns {Promise<CommandEntry[]>} */
    commands: async () => (await get("/assistant/commands")).commands,
    /** @param {Record<string, any>} graph @returns {Promise<string>} "" for nothing to say */
    workflowSummary: async (graph) =>
      (await (await send("POST", "/assistant/workflow-summary", { graph })).json()).summary,

    /** @returns {Promise<import("../types.js").UserData>} */
    userData: () => get("/assistant/data"),
    exportData: () => send("GET", "/assistant/data/archive"),
    /** @param {number} chats how many there are; else nothing is deleted */
    deleteData: (chats) => send("POST", "/assistant/data/delete", { chats }),

    ...memoryRoutes(send, query),

    /** @returns {Promise<Health>} */
    health: () => get("/assistant/health"),
    /** @returns {Promise<ProviderSettings>} */
    settings: () => get("/assistant/settings"),
    /** @param {string} provider @param {ProviderInput} input @returns {Promise<Provider>} */
    saveProvider: async (provider, input) =>
      (await send("PUT", `/assistant/providers/${name(provider)}`, input)).json(),
    /** @param {string} provider */
    activateProvider: (provider) =>
      send("POST", `/assistant/providers/${name(provider)}/activate`, {}),
    /** @param {string} provider */
    removeProvider: (provider) => send("DELETE", `/assistant/providers/${name(provider)}`),
    /** @param {string} provider @returns {Promise<ModelEntry[]>} */
    models: async (provider) => (await get(`/assistant/models${query({ provider })}`)).models,
    /**
     * @param {{base_url: string, api_key?: string}} fields of a provider that is not saved
     * @returns {Promise<ModelEntry[]>}
     */
    modelsOf: async (fields) => (await (await send("POST", "/assistant/models", fields)).json()).models,
    /** @param {{name: string} | ProviderInput} subject @returns {Promise<TestResult>} */
    test: async (subject) => (await send("POST", "/assistant/settings/test", subject)).json(),
    /** @param {string} token */
    unlock: (token) => send("POST", "/assistant/session", { token }),

    /** @returns {Promise<{slug: string, name: string, description: string}[]>} */
    userSkills: async () => (await get("/user-context/skills")).skills,
    /** @returns {Promise<{slug: string, name: string, description: string}[]>} */
    systemSkills: async () => (await get("/system-context/skills")).skills,
  };
}

/** @param {Response} response @returns {Promise<ApiError>} */
async function refusal(response) {
  const body = await response.json().catch(() => null);
  const problem = body && typeof body.error === "object" ? body.error : null;
  return new ApiError(response.status, { nodes: body?.nodes, ...problem });
}
