"""Chunks -> message: what a client shows after the same chunks, as the value that we store.

`MessageFold` is the server's half of the law that the panel, the `ai` package and the log agree on
one message for one stream. It raises ValueError for a chunk that no client would accept.
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
)


class MessageFold:
    """Folds chunks onto a message. Text grows in lists, so that a long answer costs linear work."""

    def __init__(self, message: Message) -> None:
        self._message = message
        self._parts: list[Part] = list(message.parts)
        self._open: dict[tuple[str, str], int] = {}
        self._texts: dict[int, list[str]] = {}
        self._tools = {
            part.tool_call_id: index
            for index, part in enumerate(message.parts)
            if isinstance(part, ToolPart)
        }
        self._metadata: dict[str, Any] = dict(message.metadata)

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Applies one chunk; chunks that change no message are passed over."""
        kind = str(chunk["type"])
        if "messageMetadata" in chunk:
            self._metadata = merged(self._metadata, chunk["messageMetadata"])
        if kind == "start":
            self._message = replace(self._message, id=chunk.get("messageId", self._message.id))
        elif kind == "start-step":
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

    def extend(self, chunks: Iterable[Mapping[str, Any]]) -> MessageFold:
        for chunk in chunks:
            self.add(chunk)
        return self

    @property
    def message(self) -> Message:
        """The message as it stands; later chunks do not change it."""
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
        if kind == "tool-input-delta":
            self._tool(call_id, kind)
            return
        if kind in ("tool-input-start", "tool-input-available", "tool-input-error"):
            self._start_tool(call_id, kind, chunk)
            return
        index, part = self._tool(call_id, kind)
        if kind == "tool-approval-request":
            changed = replace(
                part, state="approval-requested", approval=Approval(chunk["approvalId"])
            )
        elif kind == "tool-output-available":
            changed = replace(part, state="output-available", output=chunk["output"])
        elif kind == "tool-output-error":
            changed = replace(part, state="output-error", error_text=chunk["errorText"])
        else:
            changed = replace(part, state="output-denied")
        self._parts[index] = changed

    def _start_tool(self, call_id: str, kind: str, chunk: Mapping[str, Any]) -> None:
        state, value, error = "input-streaming", None, None
        if kind == "tool-input-available":
            state, value = "input-available", chunk["input"]
        elif kind == "tool-input-error":
            state, value, error = "output-error", chunk["input"], chunk["errorText"]
        part = ToolPart(
            tool_call_id=call_id,
            tool_name=chunk["toolName"],
            state=state,  # type: ignore[arg-type]
            input=value,
            error_text=error,
            title=chunk.get("title"),
            provider_executed=chunk.get("providerExecuted") is True,
        )
        if call_id in self._tools:
            self._parts[self._tools[call_id]] = part
        else:
            self._tools[call_id] = len(self._parts)
            self._parts.append(part)

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
    """`update` laid over `base`, object by object, as clients merge metadata."""
    result = dict(base)
    for name, value in update.items():
        old = result.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[name] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def fold(message: Message, chunks: Iterable[Mapping[str, Any]]) -> Message:
    """The message after all chunks."""
    return MessageFold(message).extend(chunks).message
