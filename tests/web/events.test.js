// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { ApiError, NetworkError } from "../../web/services/api.js";
import { followEvents } from "../../web/services/events.js";
import { eventually } from "./fakes.js";

/** @typedef {import("../../web/types.js").ChatEvent} ChatEvent */

const snapshot = (/** @type {number} */ seq, epoch = "e") => ({ seq, type: "snapshot", epoch });
const change = (/** @type {number} */ seq, epoch = "e") => ({ seq, type: "changed", epoch });

/**
 * Follows connections that send the given events and then end; the last connection stays open.
 * @param {(ChatEvent[] | Error)[]} connections
 * @param {(event: ChatEvent) => boolean} [take]
 */
async function follow(connections, take = () => true) {
  /** @type {any[]} */
  const asked = [];
  /** @type {number[]} */
  const taken = [];
  /** @type {unknown[]} */
  const said = [];
  const following = followEvents({
    async open(position) {
      asked.push(position);
      const next = connections[asked.length - 1];
      if (next instanceof Error) throw next;
      const encoder = new TextEncoder();
      return new Response(
        new ReadableStream({
          start(controller) {
            for (const event of next ?? []) {
              controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
            }
            if (asked.length < connections.length) controller.close();
          },
        }),
      );
    },
    wait: () => new Promise((resolve) => setImmediate(resolve)),
    take(event) {
      taken.push(event.seq);
      return take(event);
    },
    onLost: (lost) => said.push(lost),
    onRefused: (error) => said.push(error.code),
  });
  await eventually(() => asked.length === connections.length || following.stopped());
  await new Promise((resolve) => setTimeout(resolve, 5));
  following.stop();
  return { asked, taken, said };
}

test("events are delivered in order, after a lost connection from the last one on", async () => {
  const { asked, taken } = await follow([[snapshot(4), change(5)], [change(6)]]);
  assert.deepEqual(taken, [4, 5, 6]);
  assert.deepEqual(asked, [null, { seq: 5, epoch: "e" }]);
});

test("an event is not delivered twice", async () => {
  const { taken } = await follow([[snapshot(4), change(5)], [change(4), change(5), change(6)]]);
  assert.deepEqual(taken, [4, 5, 6]);
});

for (const [what, next] of [
  ["a gap", change(7)],
  ["another epoch", change(6, "new")],
]) {
  test(`${what} requests a new snapshot`, async () => {
    const { asked, taken } = await follow([[snapshot(4), change(5), next], [snapshot(9)]]);
    assert.deepEqual(taken, [4, 5, 9]);
    assert.deepEqual(asked, [null, null]);
  });
}

test("an event that does not fit the state requests a new snapshot", async () => {
  const { asked } = await follow([[snapshot(1), change(2)], [snapshot(3)]], ({ seq }) => seq !== 2);
  assert.deepEqual(asked, [null, null]);
});

test("data that is no event requests a new snapshot", async () => {
  const broken = /** @type {any} */ ("nonsense");
  const { asked } = await follow([[snapshot(1), broken], [snapshot(3)]]);
  assert.deepEqual(asked, [null, null]);
});

test("after the event closed the next connection continues after the last event", async () => {
  const closed = /** @type {any} */ ({ type: "closed", reason: "too_slow" });
  const { asked, said } = await follow([[snapshot(1), closed], [change(2)]]);
  assert.deepEqual(asked, [null, { seq: 1, epoch: "e" }]);
  assert.deepEqual(said, [false, false]);
});

test("onLost is called with true until the server answers", async () => {
  const { said, taken } = await follow([new NetworkError(), new NetworkError(), [snapshot(1)]]);
  assert.deepEqual([said, taken], [[true, true, false], [1]]);
});

test("status 503 is tried again, status 404 ends the following", async () => {
  const full = new ApiError(503, { code: "full" });
  assert.deepEqual((await follow([full, [snapshot(1)]])).taken, [1]);
  const no = await follow([new ApiError(404, { code: "not_found" }), [snapshot(1)]]);
  assert.deepEqual([no.said, no.taken], [["not_found"], []]);
});
