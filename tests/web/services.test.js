// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, createApi, NetworkError } from "../../web/services/api.js";
import { claimClientId } from "../../web/services/client-id.js";
import { createHost } from "../../web/services/host.js";
import { createPanelTools } from "../../web/services/panel-tools.js";
import { createPause } from "../../web/services/pause.js";
import { createPanelStorage, newId } from "../../web/services/storage.js";
import { createWorkflowReader } from "../../web/services/workflow.js";
import { gateOf } from "../../web/state/panel.js";

test("stored values last as long as the page where the browser blocks its storage", () => {
  const storage = createPanelStorage("", () => {
    throw new DOMException("blocked");
  });
  storage.set("chat", "c1");
  assert.equal(storage.get("chat"), "c1");
  storage.set("chat", null);
  assert.equal(storage.get("chat"), null);
});

test("each ComfyUI user has their own stored values", () => {
  /** @type {Record<string, string>} */
  const kept = {};
  const open = () =>
    /** @type {Storage} */ (
      /** @type {unknown} */ ({
        getItem: (/** @type {string} */ key) => kept[key] ?? null,
        setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
          kept[key] = value;
        },
      })
    );
  createPanelStorage("anna", open).set("chat", "hers");
  assert.equal(createPanelStorage("ben", open).get("chat"), null);
  assert.deepEqual(Object.keys(kept), ["comfyui-assistant.anna.chat"]);
});

test("a tab keeps its id when it is loaded again, and a duplicate of the tab gets a new id", () => {
  const storage = (/** @type {Record<string, string>} */ kept) =>
    createPanelStorage("", () => /** @type {any} */ ({
      getItem: (/** @type {string} */ key) => kept[key] ?? null,
      setItem: (/** @type {string} */ key, /** @type {string} */ value) => (kept[key] = value),
      removeItem: (/** @type {string} */ key) => delete kept[key],
    }));
  const tab = {};
  const page = new EventTarget();
  assert.equal(claimClientId(storage(tab), page, () => "one"), "one");
  assert.equal(claimClientId(storage({ ...tab }), new EventTarget(), () => "two"), "two");
  page.dispatchEvent(new Event("pagehide"));
  assert.equal(claimClientId(storage({ ...tab }), new EventTarget(), () => "three"), "one");
  page.dispatchEvent(new Event("pageshow"));
  assert.equal(claimClientId(storage({ ...tab }), new EventTarget(), () => "four"), "four");
});

test("ids are made without a secure context", () => {
  const insecure = /** @type {Crypto} */ (
    /** @type {unknown} */ ({
      getRandomValues: (/** @type {Uint8Array} */ bytes) => bytes.fill(255),
    })
  );
  assert.equal(newId(insecure), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  assert.match(newId(), /^[0-9a-f-]{36}$/);
});

test("requests carry the panel's id and no time limit", async () => {
  /** @type {any[]} */
  const sent = [];
  const api = createApi(async (path, init) => {
    sent.push([path, init]);
    return new Response("{}");
  }, "panel-1");
  await api.command("c", { type: "abort" });
  const [path, init] = sent[0];
  assert.equal(path, "/chats/c/commands");
  assert.equal(init.timeoutMs, null);
  assert.deepEqual(JSON.parse(init.body), { type: "abort", client_id: "panel-1" });
});

test("a question is sent to the chat route, which is to answer before the model", async () => {
  /** @type {any[]} */
  const sent = [];
  const api = createApi(async (path, init) => {
    sent.push([path, init.headers?.Prefer, JSON.parse(String(init.body))]);
    return new Response("{}");
  }, "panel-1");
  const message = { id: "u" };
  await api.command("c", { type: "user_message", message, workflow: { id: "w" } });
  await api.command("c", { type: "retry_from_index", message_id: "u", message });
  await api.command("c", { type: "regenerate" });
  const by = { id: "c", client_id: "panel-1" };
  assert.deepEqual(sent, [
    ["/chat", "respond-async", { ...by, message, workflow: { id: "w" } }],
    ["/chat", "respond-async", { ...by, message, messageId: "u" }],
    ["/chat", "respond-async", { ...by, trigger: "regenerate-message" }],
  ]);
});

test("a subscription sends the client id and the last event", async () => {
  /** @type {any[]} */
  const sent = [];
  const api = createApi(async (path, init) => {
    sent.push([path, init.headers]);
    return new Response("");
  }, "panel-1");
  const { signal } = new AbortController();
  await api.subscribe("c", { seq: 7, epoch: "e" }, signal);
  await api.subscribe(null, null, signal);
  assert.deepEqual(sent, [
    ["/chats/subscribe?chat_id=c&client_id=panel-1&epoch=e", { "Last-Event-ID": "7" }],
    ["/chats/subscribe?client_id=panel-1", {}],
  ]);
});

test("a page around a message that is not on the path is null", async () => {
  /** @type {string[]} */
  const paths = [];
  const elsewhere = createApi(async (path) => {
    paths.push(path);
    return Response.json({}, { status: 404 });
  }, "");
  assert.equal(await elsewhere.chat("c", { limit: 9, around: "m" }), null);
  assert.deepEqual(paths, ["/chats/c?limit=9&around=m"]);
});

test("names are encoded in paths", async () => {
  /** @type {string[]} */
  const paths = [];
  const api = createApi(async (path) => {
    paths.push(path);
    return new Response(null, { status: 204 });
  }, "");
  await api.removeProvider("../../x?y");
  await api.deleteChat("a/b");
  assert.deepEqual(paths, [
    "/assistant/providers/..%2F..%2Fx%3Fy",
    "/chats/a%2Fb",
  ]);
});

test("a refusal is an ApiError with the server's code and message", async () => {
  const error = { code: "host_not_allowed", message: "Not here.", variable: "V", value: "x" };
  const api = createApi(async () => Response.json({ error }, { status: 403 }), "");
  await assert.rejects(api.health(), (given) => {
    assert.ok(given instanceof ApiError);
    assert.deepEqual(gateOf(given), {
      kind: "host",
      message: "Not here.",
      variable: "V",
      value: "x",
    });
    return true;
  });
});

test("a refusal without a JSON body has the status as code", async () => {
  const api = createApi(async () => new Response("<html>", { status: 502 }), "");
  await assert.rejects(api.health(), { code: "http_502", message: "HTTP 502" });
});

test("a failed fetch is a NetworkError", async () => {
  const api = createApi(async () => {
    throw new TypeError("Failed to fetch");
  }, "");
  await assert.rejects(api.health(), NetworkError);
});

test("a chat that the server does not have is null", async () => {
  const none = createApi(async () => Response.json({}, { status: 404 }), "");
  assert.equal(await none.chat("c", {}), null);
});

test("an unknown or failing panel tool gives an error as its result", async () => {
  const tools = createPanelTools({
    fails: () => {
      throw new Error("broken");
    },
    works: () => 3,
  });
  assert.deepEqual(await tools.run("fails", {}), { error: "broken" });
  assert.deepEqual(await tools.run("works", {}), { output: 3 });
  assert.match(/** @type {any} */ (await tools.run("toString", {})).error, /no tool named/);
});

test("wake ends a wait", async () => {
  const pause = createPause();
  const paused = pause.wait(60_000);
  pause.wake();
  await paused;
});

/** @param {any[]} nodes @param {any} [more] */
function reader(nodes, more = {}) {
  /** @type {(() => void)[]} */
  const listeners = [];
  const app = {
    rootGraph: { id: "g", nodes, serialize: () => ({ nodes: nodes.length }) },
    canvas: { selected_nodes: { 5: {}, "7:2": {} } },
    extensionManager: { workflow: { activeWorkflow: { filename: "flux.json", key: "k" } } },
    ...more,
  };
  const api = {
    addEventListener: (/** @type {string} */ _name, /** @type {() => void} */ listener) => {
      listeners.push(listener);
    },
  };
  return {
    read: createWorkflowReader(createHost(app, api)),
    change: () => listeners.forEach((each) => each()),
  };
}

test("a workflow snapshot has graph, selection and a revision that counts changes", () => {
  const { read, change } = reader([{ type: "KSampler" }]);
  assert.deepEqual(read.snapshot(), {
    id: "k",
    name: "flux",
    revision: 1,
    graph: { nodes: 1 },
    selection: [5, "7:2"],
  });
  change();
  assert.equal(read.snapshot()?.revision, 2);
});

test("without a graph, or if reading it fails, there is no snapshot and no summary", () => {
  const broken = {
    get nodes() {
      throw new Error("boom");
    },
    serialize: () => {
      throw new Error("boom");
    },
  };
  for (const rootGraph of [null, broken]) {
    const { read } = reader([], { rootGraph });
    assert.equal(read.snapshot(), undefined);
    assert.equal(read.summary(), null);
  }
});

test("models named by a template that no list offers are missing", () => {
  const { read } = reader([
    {
      type: "UNETLoader",
      properties: { models: [{ name: "a.safetensors" }, { name: "b.safetensors" }] },
      widgets: [{ options: { values: ["sub\\b.safetensors"] } }],
    },
    { type: "KSampler" },
  ]);
  assert.deepEqual(read.summary(), {
    id: "k",
    name: "flux",
    nodes: 2,
    missingNodes: 0,
    missingModels: 1,
    generates: true,
  });
});
