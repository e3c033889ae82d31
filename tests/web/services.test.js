// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, createApi, NetworkError } from "../../web/services/api.js";
import { claimClientId } from "../../web/services/client-id.js";
import { createHost } from "../../web/services/host.js";
import { createPanelTools } from "../../web/services/panel-tools.js";
import { createPause } from "../../web/services/pause.js";
import { createPanelStorage, newId } from "../../web/services/storage.js";
import {
  createWorkflowIds,
  createWorkflowReader,
  fingerprint,
  MOST_BYTES,
  offCanvas,
  onCanvas,
} from "../../web/services/workflow.js";
import { gateOf } from "../../web/state/gate.js";

test("stored values last as long as the page where the browser blocks its storage", () => {
  const storage = createPanelStorage("", () => {
    throw new DOMException("blocked");
  });
  storage.set("chat", "c1");
  assert.equal(storage.get("chat"), "c1");
  storage.set("chat", null);
  assert.equal(storage.get("chat"), null);
});

test("a value that another tab has removed is gone, and one that was not stored lasts", () => {
  /** @type {Map<string, string>} */
  const kept = new Map();
  let room = 10;
  const open = () =>
    /** @type {any} */ ({
      getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
      removeItem: (/** @type {string} */ key) => kept.delete(key),
      setItem(/** @type {string} */ key, /** @type {string} */ value) {
        if (value.length > room) throw new DOMException("full", "QuotaExceededError");
        kept.set(key, value);
      },
    });
  const [one, other] = [createPanelStorage("", open), createPanelStorage("", open)];
  one.set("drafts", "hello");
  other.set("drafts", null);
  assert.equal(one.get("drafts"), null);
  assert.equal(one.set("drafts", "a long hello"), false);
  assert.deepEqual([one.get("drafts"), other.get("drafts")], ["a long hello", null]);
  room = 20;
  assert.equal(one.set("drafts", "a longer hello"), true);
  other.set("drafts", null);
  assert.equal(one.get("drafts"), null);
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
    ["/chats/subscribe?chat_id=c&client_id=panel-1&canvas=1&epoch=e", { "Last-Event-ID": "7" }],
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

test("a command whose answer breaks off is not refused: its end is a NetworkError", async () => {
  const broken = () =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"queued"'));
          controller.error(new TypeError("network error"));
        },
      }),
    );
  for (const answer of [broken, () => new Response('{"queued"')]) {
    const api = createApi(async () => answer(), "");
    await assert.rejects(api.command("c", { type: "abort" }), NetworkError);
  }
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

test("a workflow counts as changed when it changes, and when another one is open or is renamed", () => {
  /** @type {(action: {name: string, after: (run: () => void) => void}) => void} */
  let onAction = () => assert.fail("nobody watches the host's actions");
  /** @type {(() => void)[]} */
  const done = [];
  const after = (/** @type {() => void} */ run) => void done.push(run);
  const workflow = { $onAction: (/** @type {typeof onAction} */ watch) => void (onAction = watch) };
  const api = new EventTarget();
  let changes = 0;
  createHost({ extensionManager: { workflow } }, api).onGraphChanged(() => (changes += 1));
  api.dispatchEvent(new Event("graphChanged"));
  assert.equal(changes, 1);
  for (const name of ["openWorkflow", "renameWorkflow", "isActive"]) onAction({ name, after });
  // Before an action has ended, the host's record is the old one.
  assert.deepEqual([changes, done.length], [1, 2]);
  for (const run of done) run();
  assert.equal(changes, 3);
  createHost({}, null).onGraphChanged(() => assert.fail());
});

/** @param {any[]} nodes @param {any} [more] */
function reader(nodes, more = {}) {
  const app = {
    rootGraph: { id: "g", nodes, serialize: () => ({ nodes: nodes.length }) },
    canvas: { selected_nodes: { 5: {}, "7:2": {} } },
    extensionManager: { workflow: { activeWorkflow: { filename: "flux.json", key: "k" } } },
    ...more,
  };
  return createWorkflowReader(createHost(app, {}), (_open, path) => `id of ${path}`);
}

test("a workflow snapshot has id, name, graph and selection", () => {
  const read = reader([{ type: "KSampler" }]);
  assert.deepEqual(read.snapshot(), {
    id: "id of k",
    name: "flux",
    graph: { nodes: 1, extra: { on_canvas: true } },
    selection: [5, "7:2"],
  });
  assert.deepEqual(read.name(), { id: "id of k", name: "flux" });
});

test("the mark of an open canvas is taken away again", () => {
  const graph = { nodes: [], extra: { ds: { scale: 1 } } };
  const marked = onCanvas(graph);
  assert.deepEqual(marked.extra, { ds: { scale: 1 }, on_canvas: true });
  assert.deepEqual(offCanvas(marked), graph);
  assert.deepEqual(graph.extra, { ds: { scale: 1 } });
});

test("a graph over 20 MB is not sent, only how large it is", () => {
  const text = "é".repeat(MOST_BYTES / 2);
  const rootGraph = { id: "g", serialize: () => ({ text }) };
  const snapshot = reader([], { rootGraph }).snapshot();
  assert.equal(snapshot?.graph, null);
  assert.equal(snapshot?.too_large, MOST_BYTES + '{"text":""}'.length);
});

/** The stored values of a tab, and the page's events. */
function tab() {
  /** @type {Map<string, string>} */
  const values = new Map();
  const storage = {
    get: (/** @type {string} */ name) => values.get(name) ?? null,
    set: (/** @type {string} */ name, /** @type {string | null} */ value) =>
      value === null ? void values.delete(name) : void values.set(name, value),
  };
  let made = 0;
  const load = () => {
    const page = new EventTarget();
    const idOf = createWorkflowIds(storage, page, () => `new${(made += 1)}`);
    return { idOf, leave: () => page.dispatchEvent(new Event("pagehide")) };
  };
  return { values, load };
}

test("an open workflow keeps its id through rename and save; a copy gets a new one", () => {
  const { idOf } = tab().load();
  const open = {};
  assert.equal(idOf(open, "a.json"), "new1");
  assert.equal(idOf(open, "b.json"), "new1");
  assert.equal(idOf(new Proxy(open, { get: (_, name) => (name === "__v_raw" ? open : 0) }), "b.json"), "new1");
  assert.equal(idOf({}, "a (copy).json"), "new2");
});

test("a file that is opened anew gets a new id", () => {
  const { idOf } = tab().load();
  assert.equal(idOf({}, "a.json"), "new1");
  assert.equal(idOf({}, "a.json"), "new2");
});

test("a reload keeps the ids of open workflows, once each; a duplicated tab gets new ones", () => {
  const { values, load } = tab();
  const first = load();
  assert.equal(first.idOf({}, "a.json"), "new1");
  assert.equal(values.size, 0);
  first.leave();
  const { idOf } = load();
  assert.equal(values.size, 0);
  assert.equal(idOf({}, "a.json"), "new1");
  assert.equal(idOf({}, "a.json"), "new2");
});

test("a workflow that nobody looked at since a reload keeps its id over the next one", () => {
  const { load } = tab();
  const first = load();
  const ids = ["a.json", "b.json"].map((path) => first.idOf({}, path));
  first.leave();
  const second = load();
  second.idOf({}, "a.json");
  second.leave();
  const third = load();
  assert.deepEqual(["a.json", "b.json"].map((path) => third.idOf({}, path)), ids);
});

test("the ids of the newest hundred workflows are kept", () => {
  const { values, load } = tab();
  for (let visit = 0; visit < 3; visit += 1) {
    const page = load();
    for (let at = 0; at < 60; at += 1) page.idOf({}, `${visit}-${at}.json`);
    page.leave();
  }
  const kept = Object.keys(JSON.parse(values.get("workflows") ?? "{}"));
  assert.deepEqual([kept.length, kept[0], kept[99]], [100, "1-20.json", "2-59.json"]);
});

test("damaged stored ids are passed over", () => {
  const { values, load } = tab();
  values.set("workflows", "{oops");
  assert.equal(load().idOf({}, "a.json"), "new1");
});

test("the fingerprint of a graph has what counts, not where it lies", () => {
  const graph = (/** @type {any} */ more) => ({
    nodes: [{ id: 1, type: "KSampler", mode: 0, widgets_values: [20], pos: [0, 0], ...more }],
    links: [],
  });
  const mark = fingerprint(graph({}));
  assert.equal(fingerprint({ ...graph({ pos: [9, 9] }), extra: { ds: { scale: 2 } } }), mark);
  for (const more of [{ id: 2 }, { type: "X" }, { mode: 4 }, { widgets_values: [21] }, { title: "T" }]) {
    assert.notEqual(fingerprint(graph(more)), mark);
  }
  assert.notEqual(fingerprint({ ...graph({}), links: [[1, 1, 0, 2, 0, "MODEL"]] }), mark);
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
    const read = reader([], { rootGraph });
    assert.equal(read.snapshot(), undefined);
    if (!rootGraph) assert.equal(read.name(), undefined);
    assert.equal(read.summary(), null);
  }
});

test("models named by a template that no list offers are missing", () => {
  const read = reader([
    {
      type: "UNETLoader",
      properties: { models: [{ name: "a.safetensors" }, { name: "b.safetensors" }] },
      widgets: [{ options: { values: ["sub\\b.safetensors"] } }],
    },
    { type: "KSampler" },
  ]);
  assert.deepEqual(read.summary(), {
    id: "id of k",
    name: "flux",
    nodes: 2,
    missingNodes: 0,
    missingModels: 1,
    generates: true,
  });
});
