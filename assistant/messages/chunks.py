"""The chunks of UI message stream v1, and their bytes (`docs/contracts/ui-message-stream.md`).

There is one function for each chunk that we send, and no other module writes a chunk's fields.
Every chunk is valid for `ai` v6 and v7; information of our own is sent only as `data-*` and in
`messageMetadata`. A chunk holds JSON values only, so that the message folded from it here equals
the message that clients fold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .json_text import json_text, json_value

Chunk = dict[str, Any]

HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "connection": "keep-alive",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
DONE = b"data: [DONE]\n\n"
KEEP_ALIVE = b": keep-alive\n\n"
SERVER_BLOCK = "server-block"
"""The name of the data parts that hold blocks of a provider's own."""


def encode(chunk: Mapping[str, Any]) -> bytes:
    """The chunk as one server-sent event."""
    return b"data: " + json_text(chunk).encode() + b"\n\n"


def start(message_id: str, metadata: Mapping[str, Any]) -> Chunk:
    return {"type": "start", "messageId": message_id, "messageMetadata": dict(metadata)}


def start_step() -> Chunk:
    return {"type": "start-step"}


def finish_step() -> Chunk:
    return {"type": "finish-step"}


def text_start(part_id: str) -> Chunk:
    return {"type": "text-start", "id": part_id}


def text_delta(part_id: str, delta: str) -> Chunk:
    return {"type": "text-delta", "id": part_id, "delta": delta}


def text_end(part_id: str) -> Chunk:
    return {"type": "text-end", "id": part_id}


def reasoning_start(part_id: str) -> Chunk:
    return {"type": "reasoning-start", "id": part_id}


def reasoning_delta(part_id: str, delta: str) -> Chunk:
    return {"type": "reasoning-delta", "id": part_id, "delta": delta}


def reasoning_end(part_id: str, kept: Mapping[str, Any] | None = None) -> Chunk:
    """`kept` is sent back to the provider with this reasoning; it becomes provider metadata."""
    chunk: Chunk = {"type": "reasoning-end", "id": part_id}
    if kept:
        chunk["providerMetadata"] = {"assistant": dict(kept)}
    return chunk


def tool_input_start(call_id: str, name: str, title: str, *, on_server: bool) -> Chunk:
    return _tool("tool-input-start", call_id, on_server, toolName=name, title=title)


def tool_input_delta(call_id: str, delta: str) -> Chunk:
    return {"type": "tool-input-delta", "toolCallId": call_id, "inputTextDelta": delta}


def tool_input_available(
    call_id: str, name: str, title: str, value: Any, *, on_server: bool
) -> Chunk:
    chunk = _tool("tool-input-available", call_id, on_server, toolName=name, title=title)
    chunk["input"] = json_value(value)
    return chunk


def tool_input_error(call_id: str, name: str, title: str, value: Any, error: str) -> Chunk:
    chunk = _tool("tool-input-error", call_id, True, toolName=name, title=title)
    chunk.update(input=json_value(value), errorText=error)
    return chunk


def tool_approval_request(call_id: str, approval_id: str) -> Chunk:
    return {"type": "tool-approval-request", "approvalId": approval_id, "toolCallId": call_id}


def tool_output_available(call_id: str, output: Any, *, on_server: bool) -> Chunk:
    chunk = _tool("tool-output-available", call_id, on_server)
    chunk["output"] = json_value(output)
    return chunk


def tool_output_error(call_id: str, error: str, *, on_server: bool) -> Chunk:
    return _tool("tool-output-error", call_id, on_server, errorText=error)


def tool_output_denied(call_id: str) -> Chunk:
    return {"type": "tool-output-denied", "toolCallId": call_id}


def _tool(kind: str, call_id: str, on_server: bool, **fields: str) -> Chunk:
    chunk: Chunk = {"type": kind, "toolCallId": call_id, **fields, "dynamic": True}
    if on_server:
        chunk["providerExecuted"] = True
    return chunk


def data(name: str, value: Any, *, part_id: str | None = None, transient: bool = False) -> Chunk:
    chunk: Chunk = {"type": f"data-{name}", "data": value}
    if part_id is not None:
        chunk["id"] = part_id
    if transient:
        chunk["transient"] = True
    return chunk


def notice(code: str, message: str) -> Chunk:
    """A short remark for the user; it stays in the message."""
    return data("notice", {"code": code, "message": message})


def source_url(source_id: str, url: str, title: str | None) -> Chunk:
    chunk: Chunk = {"type": "source-url", "sourceId": source_id, "url": url}
    if title is not None:
        chunk["title"] = title
    return chunk


def file(media_type: str, url: str) -> Chunk:
    return {"type": "file", "mediaType": media_type, "url": url}


def server_block(part_id: str, kind: str, content: Any) -> Chunk:
    """A block of the provider's own, for people; the same id again replaces it."""
    return data(SERVER_BLOCK, {"kind": kind, "content": json_value(content)}, part_id=part_id)


def message_metadata(metadata: Mapping[str, Any]) -> Chunk:
    return {"type": "message-metadata", "messageMetadata": dict(metadata)}


def finish(reason: str, metadata: Mapping[str, Any]) -> Chunk:
    return {"type": "finish", "finishReason": reason, "messageMetadata": dict(metadata)}


def abort(reason: str) -> Chunk:
    return {"type": "abort", "reason": reason}


def error(text: str) -> Chunk:
    return {"type": "error", "errorText": text}
