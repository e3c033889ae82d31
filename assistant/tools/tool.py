"""One tool as data: name, schema, when and where it is offered, and the code that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from ..comfy_port import ComfyPort
from ..errors import ToolError
from ..messages.changes import Change
from ..messages.prompt import ToolCall
from ..workflow.view import Snapshot
from .parameters import NO_PARAMETERS, Parameters
from .ports import ChatHistory, Skills

Kind = Literal["reads", "edits", "acts"]
"""Reads change nothing; edits can be undone in one step; acts ask the user first."""
Place = Literal["server", "panel"]
Role = Literal["chat"]
"""The kind of chat that a turn belongs to."""
ToolGroup = Literal["lookup", "edit", "run", "memory", "tasks", "supply", "skills"]
"""What `loadTools` loads at once."""

EVERY_WINDOW = 0
SMALL_WINDOW = 8_192
FULL_WINDOW = 16_384
"""Tokens of the model's window from which a tool is offered (docs/contracts/workflow-tools.md)."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may look at while it runs: the user's skills, the turn's workflow, the chat's
    whole log (None without one), and ComfyUI (None where nothing stands for it)."""

    skills: Skills
    workflow: Snapshot = field(default_factory=Snapshot)
    history: ChatHistory | None = None
    comfyui: ComfyPort | None = None


Run = Callable[[Any, ToolContext], Awaitable[Any]]
Digest = Callable[[ToolCall, Any], Any]
"""(call, its result as JSON) -> what the one line says that stands for the result later; None: the
general line serves."""
Changes = Callable[[ToolCall, Any], Iterable[Change]]
"""(call, its result as JSON) -> what a call that succeeded changed in the workflow."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`title` is what people read while it runs ("Read the workflow"); `run` is None in the panel.

    `parallel`: a read that may run at the same time as the reads next to it. `window`: the smallest
    window, in tokens, from which the tool is offered without being loaded; in a smaller one
    `loadTools` offers its `group`, so each group costs such a window words. `roles`: the kinds of
    chat that it is offered in. A result is JSON or text. `run` raises ToolError for what the model
    can do something about.
    """

    name: str
    title: str
    description: str
    kind: Kind
    parameters: Parameters = NO_PARAMETERS
    place: Place = "server"
    run: Run | None = None
    parallel: bool = False
    window: int = FULL_WINDOW
    group: ToolGroup = field(kw_only=True)
    roles: tuple[Role, ...] = ("chat",)
    digest: Digest | None = None
    changes: Changes | None = None

    @property
    def asks_first(self) -> bool:
        return self.kind == "acts"

    def parse(self, value: Any) -> Any:
        """The checked arguments; raises ToolError naming each wrong field."""
        try:
            return self.parameters.parse(value)
        except ToolError as error:
            raise ToolError(f"The arguments of {self.name} are wrong. {error.message}") from None

    def schema(self) -> dict[str, Any]:
        """The tool as the provider's `tools` field has it, in a stable order (R10)."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": self.parameters.schema,
            },
        }
