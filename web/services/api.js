// @ts-check
/**
 * The HTTP of the panel: one function per route, errors as one type. Goes through the host's own
 * fetch, which adds the base path and the user's header. Decides nothing.
 */

/** @typedef {import("../types.js").ChatEntry} ChatEntry */
/** @typedef {import("../types.js").ContextReport} ContextReport */
/** @typedef {import("../types.js").Health} Health */
/** @typedef {import("../types.js").Provider} Provider */
/** @typedef {import("../types.js").ProviderInput} ProviderInput */
/** @typedef {import("../types.js").ProviderSettings} ProviderSettings */
/** @typedef {import("../types.js").StoredChat} StoredChat */
/** @typedef {import("../types.js").TestResult} TestResult */
/** @typedef {import("../types.js").UIMessage} UIMessage */
/** @typedef {import("../types.js").WorkflowSnapshot} WorkflowSnapshot */
/**
 * @typedef {(path: string, init: RequestInit & {timeoutMs?: number | null}) => Promise<Response>}
 *   Fetch
 */

/** The server answered, and said no. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {{code?: string, message?: string, variable?: string, value?: string}} problem
   */
  constructor(status, problem) {
    super(problem.message ?? `HTTP ${status}`);
    this.status = status;
    this.code = problem.code ?? `http_${status}`;
    this.variable = problem.variable;
    this.value = problem.value;
  }
}

/** No answer at all: ComfyUI is not running or not reachable. */
export class NetworkError extends Error {}

/**
 * @typedef {object} ChatRequest
 * @property {string} id the chat's
 * @property {UIMessage} [message] one new message of the user
 * @property {"submit-message" | "regenerate-message"} trigger
 * @property {string} [messageId] the user's message that is replaced, or the answer to give again
 * @property {WorkflowSnapshot} [workflow]
 */

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * @param {Fetch} fetch the host's: takes paths without `/api`
 * @param {string} clientId which panel this is: tools that a panel runs are sent to the one that
 *   asked
 */
export function createApi(fetch, clientId) {
  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<Response>} an answer with a status below 300
   */
  async function send(method, path, body) {
    const headers = body === undefined ? undefined : { "Content-Type": "application/json" };
    const text = body === undefined ? undefined : JSON.stringify(body);
    let response;
    try {
      // A turn may think for minutes before its first byte: no time limit of the host's.
      response = await fetch(path, { method, headers, body: text, timeoutMs: null });
    } catch (error) {
      throw new NetworkError(error instanceof Error ? error.message : String(error));
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
    /** @param {ChatRequest} request @returns {Promise<Response>} a stream of chunks */
    send: (request) => send("POST", "/chat?debug=context", { ...request, client_id: clientId }),

    /** @param {string} id @returns {Promise<Response | null>} null when no turn runs */
    async join(id) {
      const response = await send("GET", `/chat/${name(id)}/stream?debug=context`);
      return response.status === 204 ? null : response;
    },

    /** @param {string} id @param {Record<string, unknown> & {type: string}} command */
    command: (id, command) =>
      send("POST", `/chats/${name(id)}/commands`, { ...command, client_id: clientId }),

    /** @param {{limit?: number, before?: string}} [page] @returns {Promise<ChatEntry[]>} */
    chats: async (page = {}) => (await get(`/chats${query(page)}`)).chats,

    /**
     * @param {string} id
     * @param {{limit?: number, before?: string}} page `before`: a message's id
     * @returns {Promise<StoredChat | null>} null for a chat that the server does not know
     */
    async chat(id, page) {
      try {
        return await get(`/chats/${name(id)}${query(page)}`);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },

    /** @param {string} id @returns {Promise<ContextReport | null>} of the chat's last request */
    context: async (id) => (await get(`/chats/${name(id)}/context`)).report,

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
    /** @param {string} provider @returns {Promise<{id: string, context_window?: number}[]>} */
    models: async (provider) => (await get(`/assistant/models${query({ provider })}`)).models,
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
  return new ApiError(response.status, problem ?? {});
}
