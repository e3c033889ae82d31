// @ts-check
/**
 * Follows a stream of numbered events for as long as it is wanted: takes each event once and in
 * order, asks for what it missed after a cut, and for a fresh snapshot after a gap. What an event
 * means is left to `state/`.
 */

import { ApiError } from "./api.js";
import { readEvents, StreamFormatError } from "./sse.js";

/** @typedef {import("../types.js").ChatEvent} ChatEvent */
/** @typedef {{seq: number, epoch: string}} Position of the last event that was taken */

/** Milliseconds between tries to connect again; the last one repeats. */
const DELAYS = [300, 1000, 2000, 4000, 8000];
/** Milliseconds without a byte after which a connection counts as dead: three heartbeats. */
const SILENCE = 45_000;
/** Refusals that pass: the server is full, or just starting. */
export const PASSING = new Set([408, 425, 429, 502, 503, 504]);

/**
 * @typedef {object} Source
 * @property {(position: Position | null, signal: AbortSignal) => Promise<Response>} open
 * @property {(milliseconds: number) => Promise<void>} wait may end early when the network is back
 * @property {(event: ChatEvent) => boolean} take false: it does not fit what was known
 * @property {(lost: boolean) => void} onLost whether the server cannot be reached
 * @property {(error: ApiError) => void} onRefused the server said no; nothing follows any more
 */

/** @typedef {ReturnType<typeof followEvents>} Following */

/**
 * @param {Source} source
 * @param {Position | null} [from] where an earlier following ended
 */
export function followEvents(source, from = null) {
  let stopped = false;
  let renewing = false;
  let position = from;
  let attempt = 0;
  let connection = new AbortController();

  /** One connection, to its end. */
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
      // A connection that breaks is made anew before anyone is told.
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

  /** @param {ChatEvent} event @returns {boolean} false: the connection is of no more use */
  function follow(event) {
    if (event.type === "closed") return false;
    const next = event.type === "snapshot" || isNext(event);
    if (!next && position?.epoch === event.epoch && event.seq <= position.seq) return true;
    if (next && source.take(event)) {
      position = { seq: event.seq, epoch: event.epoch };
      return true;
    }
    // Something is missing: begin with what the server knows.
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
    /** @returns {Position | null} of the last event that was taken */
    stop() {
      stopped = true;
      connection.abort();
      return position;
    },
    /** A fresh snapshot, whatever is known; at once, unless the server is away. */
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
