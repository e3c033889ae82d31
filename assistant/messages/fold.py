"""Folds the chunks of a stream into the message that the log stores.

The panel and the `ai` package fold the same chunks into the same message; tests compare them.
`MessageFold` raises ValueError for a chunk that no client would accept. It does not parse arguments
that are still streaming: a call gets its input when the input is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .parts import (
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
    ToolState,
)

STATES: dict[str, ToolState] = {
    "tool-input-start": "input-streaming",
    "tool-input-available": "input-available",
    "tool-input-error": "output-error",
    "tool-output-available": "output-available",
    "tool-output-error": "output-error",
    "tool-output-denied": "output-denied",
    "tool-approval-request": "approval-requested",
}
"""The state of a tool call after a chunk."""
WITHOUT_PART = frozenset(("start", "message-metadata", "finish", "abort", "error"))
"""Chunks that add or change no part."""


class MessageFold:
    """Folds chunks onto a message. Texts are lists of deltas, so that folding takes linear time."""

    def __init__(self, message: Message) -> None:
        self._begin(message)

    def _begin(self, message: Message) -> None:
        self._message = message
        self._parts: list[Part] = list(message.parts)
        self._open: dict[tuple[str, str], int] = {}
        self._texts: dict[int, list[str]] = {}
        self._tools: dict[str, int] = {}
        self._step = -1  # index of the part that began the current step
        for index, part in enumerate(message.parts):
            if isinstance(part, ToolPart):
                self._tools[part.tool_call_id] = index
            elif isinstance(part, StepStart):
                self._step = index
        self._metadata: dict[str, Any] = dict(message.metadata)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Apply one chunk. Raises ValueError for a chunk that does not fit the message."""
        kind = str(chunk["type"])
        if kind == "start" and chunk.get("messageId", self._message.id) != self._message.id:
            # Another id means another answer, which clients begin with an empty message.
            self._begin(Message(chunk["messageId"], "assistant", ()))
        if chunk.get("messageMetadata"):
            self._metadata = merged(self._metadata, chunk["messageMetadata"])
        if kind == "start-step":
            self._step = len(self._parts)
            self._parts.append(StepStart())
        elif kind == "finish-step":
            self._open.clear()
        elif kind.startswith(("text-", "reasoning-")):
            self._add_text(kind, chunk)
        elif kind.startswith("tool-"):
            self._add_tool(kind, chunk)
        elif kind.startswith("data-"):
            self._add_data(kind.removeprefix("data-"), chunk)
        elif kind == "file":
            self._parts.append(FilePart(chunk["mediaType"], chunk["url"]))
        elif kind.startswith("source-"):
            self._parts.append(OpaquePart(dict(chunk)))
        elif kind not in WITHOUT_PART:
            raise ValueError(f"the unknown chunk {kind!r}")

    def extend(self, chunks: Iterable[Mapping[str, Any]]) -> MessageFold:
        for chunk in chunks:
            self.add(chunk)
        return self

    @property
    def message(self) -> Message:
        """The message after the chunks so far; later chunks do not change this value."""
        for index, texts in self._texts.items():
            part = self._parts[index]
            if len(texts) > 1 and isinstance(part, (TextPart, ReasoningPart)):
                joined = "".join(texts)
                texts[:] = [joined]
                self._parts[index] = replace(part, text=joined)
        return replace(self._message, parts=tuple(self._parts), metadata=dict(self._metadata))

    def _add_text(self, kind: str, chunk: Mapping[str, Any]) -> None:
        family, _, event = kind.partition("-")
        key = (family, chunk["id"])
        if event == "start":
            self._open[key] = len(self._parts)
            self._texts[len(self._parts)] = [""]
            self._parts.append(TextPart("") if family == "text" else ReasoningPart(""))
            return
        if key not in self._open:
            raise ValueError(f"{kind} for {chunk['id']!r}, which was not started")
        index = self._open[key]
        if event == "delta":
            self._texts[index].append(chunk["delta"])
            return
        del self._open[key]
        part = self._parts[index]
        if isinstance(part, ReasoningPart) and "providerMetadata" in chunk:
            self._parts[index] = replace(part, provider_metadata=dict(chunk["providerMetadata"]))

    def _add_tool(self, kind: str, chunk: Mapping[str, Any]) -> None:
        call_id = chunk["toolCallId"]
        if kind in ("tool-input-start", "tool-input-available", "tool-input-error"):
            self._announce_tool(call_id, kind, chunk)
            return
        index, part = self._tool(call_id, kind)
        if kind == "tool-input-delta":
            return
        if kind not in STATES:
            raise ValueError(f"the unknown chunk {kind!r}")
        changed = replace(part, state=STATES[kind])
        if kind == "tool-approval-request":
            changed = replace(changed, approval=Approval(chunk["approvalId"]))
        elif kind != "tool-output-denied":
            changed = replace(
                changed,
                output=chunk.get("output"),
                error_text=chunk.get("errorText"),
                provider_executed=part.provider_executed or bool(chunk.get("providerExecuted")),
            )
        self._parts[index] = changed

    def _announce_tool(self, call_id: str, kind: str, chunk: Mapping[str, Any]) -> None:
        """Begin a call or set its input. An id is unique within its step only."""
        index = self._tools.get(call_id, -1)
        if index <= self._step:
            index = len(self._parts)
            self._tools[call_id] = index
            self._parts.append(ToolPart(call_id, chunk["toolName"], "input-streaming"))
        part = self._parts[index]
        assert isinstance(part, ToolPart), "only tool parts are in the index"
        # As clients do: the title of a `tool-input-error` chunk is ignored.
        title = None if kind == "tool-input-error" else chunk.get("title")
        self._parts[index] = replace(
            part,
            tool_name=chunk["toolName"],
            state=STATES[kind],
            input=chunk.get("input"),
            output=None,
            error_text=chunk.get("errorText"),
            title=part.title if title is None else title,
            provider_executed=part.provider_executed or bool(chunk.get("providerExecuted")),
        )

    def _tool(self, call_id: str, kind: str) -> tuple[int, ToolPart]:
        index = self._tools.get(call_id)
        part = self._parts[index] if index is not None else None
        if index is None or not isinstance(part, ToolPart):
            raise ValueError(f"{kind} for the unknown tool call {call_id!r}")
        return index, part

    def _add_data(self, name: str, chunk: Mapping[str, Any]) -> None:
        if chunk.get("transient"):
            return
        part = DataPart(name, chunk.get("data"), chunk.get("id"))
        if part.id is not None:
            for index, earlier in enumerate(self._parts):
                if isinstance(earlier, DataPart) and earlier.name == name and earlier.id == part.id:
                    self._parts[index] = part
                    return
        self._parts.append(part)


def merged(base: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """`base` updated with `update`, nested objects merged, as clients merge metadata."""
    result = dict(base)
    for name, value in update.items():
        old = result.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[name] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def fold(message: Message, chunks: Iterable[Mapping[str, Any]]) -> Message:
    """`message` with all chunks applied. Raises ValueError as `MessageFold.add` does."""
    return MessageFold(message).extend(chunks).message
