// @ts-check
/**
 * Server-sent events, read as they arrive: bytes in (cut anywhere, also inside a character), chunks
 * of the UI message stream out. Knows the framing and `[DONE]`, not what a chunk means.
 */

/** @typedef {import("../types.js").Chunk} Chunk */

/** What the server sends as the last event, also after an error. */
export const DONE = "[DONE]";

/** A data line that is not JSON: the stream cannot be trusted any further. */
export class StreamFormatError extends Error {}

/**
 * An incremental reader of event data. Comments (keep-alives), `event:`, `id:` and `retry:` lines
 * are skipped; several `data:` lines of one event are joined with a line feed, as the standard
 * says.
 *
 * @returns {{push(bytes: Uint8Array): string[], end(): string[]}} the data of every event that
 *   became complete with these bytes; `end` gives what an unterminated last event still holds
 */
export function createEventReader() {
  const decoder = new TextDecoder();
  let rest = "";
  /** @type {string[]} */
  let data = [];

  /** @param {string} line @param {string[]} events */
  function takeLine(line, events) {
    if (line === "") {
      if (data.length) events.push(data.join("\n"));
      data = [];
    } else if (line.startsWith("data:")) {
      data.push(line.slice(line.startsWith("data: ") ? 6 : 5));
    }
  }

  /** @param {string} text @param {boolean} last */
  function take(text, last) {
    /** @type {string[]} */
    const events = [];
    rest += text;
    let start = 0;
    for (;;) {
      const found = rest.slice(start).search(/[\r\n]/);
      if (found < 0) break;
      const end = start + found;
      const carriageReturn = rest[end] === "\r";
      // A carriage return at the very end may be the first half of CR LF: wait for the next bytes.
      if (carriageReturn && end + 1 === rest.length && !last) break;
      takeLine(rest.slice(start, end), events);
      start = end + (carriageReturn && rest[end + 1] === "\n" ? 2 : 1);
    }
    rest = rest.slice(start);
    return events;
  }

  return {
    push: (bytes) => take(decoder.decode(bytes, { stream: true }), false),
    end() {
      const events = take(decoder.decode(), true);
      if (rest) takeLine(rest, events);
      rest = "";
      takeLine("", events);
      return events;
    },
  };
}

/**
 * The chunks of a streaming answer.
 *
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<Chunk, boolean>} yields chunks; returns true when the stream ended with
 *   `[DONE]`, false when it was cut before
 * @throws {StreamFormatError} for data that is not a chunk; and whatever the network throws
 */
export async function* readChunks(body) {
  const reader = body.getReader();
  const events = createEventReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      for (const data of done ? events.end() : events.push(value)) {
        if (data === DONE) return true;
        yield parseChunk(data);
      }
      if (done) return false;
    }
  } finally {
    // The consumer may stop early (a chat was closed): let the connection go.
    reader.cancel().catch(() => undefined);
  }
}

/** @param {string} data @returns {Chunk} */
function parseChunk(data) {
  let chunk;
  try {
    chunk = JSON.parse(data);
  } catch {
    throw new StreamFormatError(`expected a JSON chunk, got ${data.slice(0, 80)}`);
  }
  if (typeof chunk?.type !== "string") {
    throw new StreamFormatError(`expected a chunk with a type, got ${data.slice(0, 80)}`);
  }
  return chunk;
}
