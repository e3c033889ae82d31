// @ts-check
/**
 * Incremental parser of server-sent events. The bytes may be split anywhere, also inside of a
 * character.
 */

/**
 * @typedef {object} SentEvent
 * @property {string} data
 * @property {string} event type; "" if the server sent none
 * @property {string} id "" if the server sent none
 */

/** The data of an event is no JSON event: the rest of the stream is not read. */
export class StreamFormatError extends Error {}

/**
 * Comments (heartbeats) and `retry:` lines are skipped; several `data:` lines of one event are
 * joined with a line feed, as the standard says.
 *
 * @returns {{push(bytes: Uint8Array): SentEvent[]}} `push` returns the events that these bytes
 *   complete; an event without its final blank line is dropped, as the standard says
 */
export function createEventReader() {
  const decoder = new TextDecoder();
  let rest = "";
  /** @type {string[]} */
  let data = [];
  let event = "";
  let id = "";

  /** @param {string} line @param {SentEvent[]} events */
  function takeLine(line, events) {
    if (line === "") {
      if (data.length) events.push({ data: data.join("\n"), event, id });
      data = [];
      event = "";
      id = "";
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id") id = value;
  }

  return {
    push(bytes) {
      /** @type {SentEvent[]} */
      const events = [];
      rest += decoder.decode(bytes, { stream: true });
      let start = 0;
      for (;;) {
        const found = rest.slice(start).search(/[\r\n]/);
        if (found < 0) break;
        const end = start + found;
        const carriageReturn = rest[end] === "\r";
        // A carriage return at the very end may be the first half of CR LF: wait for more bytes.
        if (carriageReturn && end + 1 === rest.length) break;
        takeLine(rest.slice(start, end), events);
        start = end + (carriageReturn && rest[end + 1] === "\n" ? 2 : 1);
      }
      rest = rest.slice(start);
      return events;
    },
  };
}

/**
 * Reads the events of a response to its end.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @param {{signal: AbortSignal, onBytes?: () => void}} how `signal` ends the reading; `onBytes`
 *   is called for all received bytes, heartbeats included
 * @returns {AsyncGenerator<SentEvent, void>}
 */
export async function* readEvents(body, { signal, onBytes = () => undefined }) {
  const reader = body.getReader();
  // Some hosts' fetch ignores the signal after the response has begun.
  const end = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", end);
  const events = createEventReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return;
      onBytes();
      yield* events.push(value);
    }
  } finally {
    signal.removeEventListener("abort", end);
    // The consumer may stop early (a chat was closed): close the connection.
    end();
  }
}
