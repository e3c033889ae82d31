"""The eight delta operations of R38, and the chunk that carries each. `docs/http.md` has the same
table for clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

Operation = Literal[
    "AppendContent",
    "AppendReasoning",
    "SetToolCalls",
    "SetThinkingBlocks",
    "AddCitation",
    "AddServerContentBlock",
    "SetUsage",
    "MergeExtra",
]

_FAMILIES: Final[Mapping[str, Operation]] = {
    "text-": "AppendContent",
    "reasoning-": "AppendReasoning",
    "tool-": "SetToolCalls",
    "source-": "AddCitation",
    "data-": "AddServerContentBlock",
}
_SINGLE: Final[Mapping[str, Operation]] = {
    "file": "AddServerContentBlock",
    # The border between two rounds of one answer.
    "start-step": "AddServerContentBlock",
}


def delta_operation(chunk: Mapping[str, Any]) -> Operation | None:
    """The operation that a chunk carries; None for a chunk that changes nothing of the stored
    message (the borders of the stream, and transient chunks)."""
    kind = str(chunk["type"])
    if kind == "reasoning-end" and chunk.get("providerMetadata"):
        return "SetThinkingBlocks"
    if kind in _SINGLE:
        return _SINGLE[kind]
    if metadata := chunk.get("messageMetadata"):
        return "SetUsage" if "usage" in metadata else "MergeExtra"
    if chunk.get("transient"):
        return None
    return next((name for family, name in _FAMILIES.items() if kind.startswith(family)), None)
