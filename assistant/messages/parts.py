"""A chat's message as we keep it: an id, a role and a tuple of typed parts.

The shapes follow the UI messages of the AI SDK (`docs/contracts/ui-message-stream.md`), because
that is what clients send and what the panel draws. A part knows nothing of rows, chats or
providers: identity in the log is the store's concern, and what a provider is sent is `prompt`'s.
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
    """What a model thought aloud. `provider_metadata` is opaque and goes back as it came (R38)."""

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
    """One tool call with whatever is known of its outcome.

    `input` is the parsed arguments, or the raw text where they were no valid JSON.
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
        """True when nothing more will come for this call."""
        return self.state in ("output-available", "output-error", "output-denied")


@dataclass(frozen=True, slots=True)
class DataPart:
    """One of our own `data-<name>` parts, such as `data-notice` or `data-skill`."""

    name: str
    data: Any
    id: str | None = None


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A part that we keep and hand back, and do not read (sources, later SDK versions)."""

    body: Mapping[str, Any]


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
    def tool_parts(self) -> tuple[ToolPart, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolPart))

    def data(self, name: str) -> Any:
        """The data of the last `data-<name>` part, or None."""
        found = [p.data for p in self.parts if isinstance(p, DataPart) and p.name == name]
        return found[-1] if found else None
