/**
 * Reads streams as a real client does and prints what it ends up with.
 *
 *     node read_stream.mjs ai <folder whose node_modules has `ai`> <streams.json>
 *     node read_stream.mjs panel <the panel's folder, web/> <streams.json>
 *
 * The file holds [{bytes: base64, pieces: [length, ...], message: UIMessage | null}]; `pieces` are
 * the lengths in which the bytes arrive, the rest comes as one. Printed is, for each, {message,
 * errors}: the last UI message and what was reported as an error, in order.
 */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [reader, folder, file] = process.argv.slice(2);
const read = reader === "ai" ? await aiReader(folder) : await panelReader(folder);
const readings = [];
for (const { bytes, pieces, message } of JSON.parse(readFileSync(file, "utf8"))) {
  readings.push(await read(Buffer.from(bytes, "base64"), pieces, message));
}
process.stdout.write(JSON.stringify(readings));

/** @param {Buffer} bytes @param {number[]} pieces */
function response(bytes, pieces) {
  const body = new ReadableStream({
    start(controller) {
      let at = 0;
      for (const length of [...pieces, Infinity]) {
        const piece = bytes.subarray(at, at + length);
        if (piece.length) controller.enqueue(new Uint8Array(piece));
        at += piece.length;
      }
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** @param {string} root */
async function aiReader(root) {
  const require = createRequire(join(root, "package.json"));
  const { DefaultChatTransport, readUIMessageStream } = await import(
    pathToFileURL(require.resolve("ai")).href
  );

  /** @param {boolean} terminateOnError */
  async function once(bytes, pieces, message, terminateOnError) {
    const transport = new DefaultChatTransport({ fetch: async () => response(bytes, pieces) });
    const stream = await transport.sendMessages({
      chatId: "chat",
      trigger: "submit-message",
      messages: [],
      messageId: undefined,
      abortSignal: undefined,
    });
    const errors = [];
    const onError = (error) => errors.push(error.message);
    const base = message ? { message: structuredClone(message) } : {};
    let last = message;
    const messages = readUIMessageStream({ ...base, stream, onError, terminateOnError });
    for await (const snapshot of messages) last = snapshot;
    return { message: last, errors };
  }

  return async (bytes, pieces, message) => {
    const reading = await once(bytes, pieces, message, false);
    // Ending at the first error drops what was read before it, so that is a reading of its own.
    const ended = await once(bytes, pieces, message, true).then(
      () => false,
      () => true,
    );
    if (ended !== reading.errors.length > 0) throw new Error("The two readings disagree.");
    return reading;
  };
}

/** @param {string} web */
async function panelReader(web) {
  const load = (path) => import(pathToFileURL(join(web, path)).href);
  const { readEvents } = await load("services/sse.js");
  const { initialFold } = await load("state/fold-state.js");
  const { settleInputs } = await load("state/fold-tool.js");
  const { fold } = await load("state/reducer.js");
  return async (bytes, pieces, message) => {
    let state = initialFold(message);
    const errors = [];
    try {
      const { signal } = new AbortController();
      for await (const { data } of readEvents(response(bytes, pieces).body, { signal })) {
        if (data === "[DONE]") break;
        const chunk = JSON.parse(data);
        if (chunk.type === "error") errors.push(chunk.errorText);
        else state = fold(state, chunk);
      }
    } catch (error) {
      errors.push(error.message);
    }
    return { message: settleInputs(state).message, errors };
  };
}
