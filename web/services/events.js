// @ts-check
/**
 * Follows a stream of numbered events until it is stopped: delivers each event once and in order,
 * resumes after a lost connection, and requests a new snapshot after a gap in the numbers. Folding
 * the events is left to `state/`.
 */

import { ApiError } from "./api.js";
import { readEvents, StreamFormatError } from "./sse.js";

/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {{seq: number, epoch: string}} Position of the last delivered event */

/** Milliseconds before each attempt to connect again; the last value repeats. */
const DELAYS = [300, 1000, 2000, 4000, 8000];
/** Milliseconds without a byte after which a connection counts as lost: three heartbeats. */
const SILENCE = 45_000;
/** HTTP statuses after which a request is worth repeating: the server is busy or starting. */
export const PASSING = new Set([408, 425, 429, 502, 503, 504]);

/**
 * @typedef {object} Source
 * @property {(position: Position | null, signal: AbortSignal) => Promise<Response>} open
 * @property {(milliseconds: number) => Promise<void>} wait ends early when the network is back
 * @property {(event: ChatEvent) => boolean} take returns false for an event that does not
 *   fit the state
 * @property {(lost: boolean) => void} onLost whether the server cannot be reached
 * @property {(error: ApiError) => void} onRefused the server refused; following has ended
 */

/** @typedef {ReturnType<typeof followEvents>} Following */

/**
 * @param {Source} source
 * @param {Position | null} [from] returned by `stop` of an earlier call
 */
export function followEvents(source, from = null) {
  let stopped = false;
  let renewing = false;
  let position = from;
  let attempt = 0;
  let connection = new AbortController();

  /** Opens one connection and reads it to its end. */
  async function connect() {
    connection = new AbortController();
    const { signal } = connection;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let silence;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => connection.abort(), SILENCE);
    };
    let opened = false;
    try {
      heard();
      const response = await source.open(position, signal);
      if (stopped || !response.body) return;
      opened = true;
      source.onLost(false);
      for await (const { data } of readEvents(response.body, { signal, onBytes: heard })) {
        if (stopped || renewing || !follow(parseEvent(data))) return;
      }
    } catch (error) {
      if (error instanceof ApiError && !PASSING.has(error.status)) refuse(error);
      else if (error instanceof StreamFormatError) position = null;
      // After a connection broke, `onLost` is called only if the next attempt fails.
      else if (!opened && !renewing && !stopped) source.onLost(true);
    } finally {
      clearTimeout(silence);
      if (opened && position) attempt = 0;
    }
  }

  /** @param {ApiError} error */
  function refuse(error) {
    if (stopped) return;
    stopped = true;
    source.onRefused(error);
  }

  /** @param {ChatEvent} event @returns {boolean} false: the connection must be closed */
  function follow(event) {
    if (event.type === "closed") return false;
    const next = event.type === "snapshot" || isNext(event);
    if (!next && position?.epoch === event.epoch && event.seq <= position.seq) return true;
    if (next && source.take(event)) {
      position = { seq: event.seq, epoch: event.epoch };
      return true;
    }
    // An event is missing or does not fit: begin again with a snapshot.
    position = null;
    return false;
  }

  /** @param {ChatEvent} event */
  const isNext = (event) =>
    position !== null && event.epoch === position.epoch && event.seq === position.seq + 1;

  async function run() {
    while (!stopped) {
      if (renewing) position = null;
      renewing = false;
      await connect();
      if (stopped || renewing) continue;
      await source.wait(DELAYS[Math.min(attempt, DELAYS.length - 1)]);
      attempt += 1;
    }
  }

  void run();

  return {
    stopped: () => stopped,
    /** @returns {Position | null} of the last delivered event */
    stop() {
      stopped = true;
      connection.abort();
      return position;
    },
    /** Connects again for a new snapshot, at once. */
    renew() {
      renewing = true;
      connection.abort();
    },
  };
}

/** @param {string} data @returns {ChatEvent} @throws {StreamFormatError} */
function parseEvent(data) {
  let event;
  try {
    event = JSON.parse(data);
  } catch {
    throw new StreamFormatError(`expected a JSON event, got ${data.slice(0, 80)}`);
  }
  if (typeof event?.type !== "string") {
    throw new StreamFormatError(`expected an event with a type, got ${data.slice(0, 80)}`);
  }
  return event;
}
