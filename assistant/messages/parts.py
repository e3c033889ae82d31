"""A chat's message as the log stores it: an id, a role and a tuple of typed parts.

The parts follow the UI messages of the AI SDK (`docs/contracts/ui-message-stream.md`), which
clients send and the panel draws. They hold no row, chat or provider: the store identifies rows, and
`prompt` has the form that providers get.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant"]
ToolState = Literal[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
]
TOOL_STATES: tuple[ToolState, ...] = (
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
)
ROLES: tuple[Role, ...] = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """A model's reasoning. `provider_metadata` is opaque and is sent back unchanged (R38)."""

    text: str
    provider_metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FilePart:
    """An attachment; `url` is usually a `data:` URL."""

    media_type: str
    url: str
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class StepStart:
    """The border between two rounds of one assistant message."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A question to the user whether a tool may act; `approved` is None until it is answered."""

    id: str
    approved: bool | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ToolPart:
    """One tool call with its state and, if it has one, its result.

    `input` is the parsed arguments, or the raw text if they were not valid JSON.
    """

    tool_call_id: str
    tool_name: str
    state: ToolState
    input: Any = None
    output: Any = None
    error_text: str | None = None
    approval: Approval | None = None
    title: str | None = None
    provider_executed: bool = False

    @property
    def settled(self) -> bool:
        """True when the call has its final result."""
        return self.state in ("output-available", "output-error", "output-denied")


@dataclass(frozen=True, slots=True)
class DataPart:
    """One of our own `data-<name>` parts, such as `data-notice` or `data-skill`."""

    name: str
    data: Any
    id: str | None = None


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part that is stored and sent to clients unchanged (sources, later SDK versions). No model
    reads it."""

    body: Mapping[str, Any]

    @property
    def source_url(self) -> str | None:
        """The address of a `source-url` part; None for all other parts."""
        url = self.body.get("url") if self.body.get("type") == "source-url" else None
        return url if isinstance(url, str) else None


Part = TextPart | ReasoningPart | FilePart | StepStart | ToolPart | DataPart | OpaquePart


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat. Ids are unique within a chat only."""

    id: str
    role: Role
    parts: tuple[Part, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All text parts, joined without separator."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def source_urls(self) -> tuple[str, ...]:
        """The addresses of the sources, in their order."""
        found = (part.source_url for part in self.parts if isinstance(part, OpaquePart))
        return tuple(url for url in found if url is not None)

    @property
    def tool_parts(self) -> tuple[ToolPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolPart))

    def data(self, name: str) -> Any:
        """The data of the last `data-<name>` part, or None."""
        found = [p.data for p in self.parts if isinstance(p, DataPart) and p.name == name]
        return found[-1] if found else None
