"""One tool as data: name, schema, when and where it is offered, and the code that runs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..comfy_port import ComfyPort
from ..errors import ToolError
from ..messages.changes import Change
from ..messages.parts import ToolPart
from ..messages.prompt import ToolCall
from ..workflow.snapshot import Snapshot
from .parameters import NO_PARAMETERS, OF_RUN, Parameters, parameters_for
from .ports import (
    ChatHistory,
    ChatMemories,
    Definitions,
    Edits,
    OneWorkflow,
    Skills,
    Workflows,
)
from .workflow_library import WorkflowLibrary

Kind = Literal["reads", "edits", "acts"]
"""Reads change nothing; edits can be undone in one step; acts ask the user first."""
Place = Literal["server", "panel", "user"]
"""Who carries a call out. A call of the user's is a question: its arguments are a
`messages.waiting.Question`, and the answer is its result."""
Role = Literal["chat"]
"""The kind of chat that a turn belongs to."""
ToolGroup = Literal["lookup", "edit", "run", "memory", "tasks", "supply", "skills"]
"""A set of tools that `loadTools` loads together."""

EVERY_WINDOW = 0
SMALL_WINDOW = 8_192
FULL_WINDOW = 16_384
"""Tokens of the model's window from which a tool is offered (docs/contracts/workflow-tools.md)."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The data that a tool may read while it runs: the user's skills, the turn's workflow and the
    graphs of its chat, the chat's whole log (None without a log), ComfyUI (None without a ComfyUI),
    its node definitions, and the workflows that can be found by name. `calls` gives the calls of
    the turn's answer so far, with their results; the call itself is one of them. `memories` is None
    where there are none. `edits` makes the turn's edits, `call_id` is the call that runs."""

    skills: Skills
    workflows: Workflows = field(default_factory=OneWorkflow)
    history: ChatHistory | None = None
    comfyui: ComfyPort | None = None
    definitions: Definitions | None = None
    library: WorkflowLibrary | None = None
    calls: Callable[[], Sequence[ToolPart]] = tuple
    memories: ChatMemories | None = None
    edits: Edits | None = None
    call_id: str = ""

    @property
    def workflow(self) -> Snapshot:
        """The turn's workflow in its newest state."""
        return self.workflows.current


@dataclass(frozen=True, slots=True)
class Asking:
    """What a person is told who decides about a call: in one sentence, what will happen. With
    `each_time` the call asks in every approval mode, and nothing that was allowed for the whole
    chat covers it. `change` is what the call would make of the workflow, as `messages.waiting` has
    it; None for a call that edits nothing."""

    text: str
    each_time: bool = False
    change: Mapping[str, Any] | None = None


Run = Callable[[Any, ToolContext], Awaitable[Any]]
Asks = Callable[[Any, ToolContext], Awaitable[Asking | None]]
"""(checked arguments, context) -> the question about a call; None: a sentence with the tool's name.
It may raise ToolError, which refuses the call before anybody is asked."""
Spends = Callable[[Any], int]
"""(checked arguments) -> the runs that a call takes from the budget of the approval mode
`budget`."""
Digest = Callable[[ToolCall, Any], Any]
"""(call, its result as JSON) -> content of the line that replaces the result in later requests
(`context.digest`); None: the line has the general content."""
Changes = Callable[[ToolCall, Any], Iterable[Change]]
"""(call, its result as JSON) -> the changes that a successful call made to the workflow."""
Shows = Callable[[ToolCall, str], tuple[str, int] | None]
"""(call, the text of its result) -> the thing that a view shows and how much of it, so that a newer
view of the same takes its place in later requests; None for any other result."""


@dataclass(frozen=True, slots=True)
class Tool:
    """`title` is the text that the panel shows while the tool runs ("Read the workflow"); `run` is
    None for a tool that the panel runs. Without `parameters`, the annotation of `run`'s first
    argument names the model of its arguments.

    `parallel`: a read that may run at the same time as the reads next to it. `window`: the smallest
    window, in tokens, from which the tool is offered without being loaded; in a smaller window
    `loadTools` offers its `group`, and each group makes its description longer. `roles`: the kinds
    of chat that it is offered in. `kept`: the result stays whole until the turn ends. A result is
    JSON or text. `run` raises ToolError for a fault that the model can correct.

    Whether a call asks a person first: by its `kind` and the chat's approval mode
    (`chats.permissions`). `asks_each_time`: every call asks, in each mode, and an approval for the
    whole chat does not cover it; `asks` decides the same for one call, by its arguments and the
    turn, and says what will happen. `spends`: the mode `budget` covers the tool.
    """

    name: str
    title: str
    description: str
    kind: Kind
    parameters: Parameters = OF_RUN
    place: Place = "server"
    run: Run | None = None
    parallel: bool = False
    window: int = FULL_WINDOW
    group: ToolGroup = field(kw_only=True)
    roles: tuple[Role, ...] = ("chat",)
    asks_each_time: bool = False
    asks: Asks | None = None
    spends: Spends | None = None
    kept: bool = False
    digest: Digest | None = None
    changes: Changes | None = None
    shows: Shows | None = None

    def __post_init__(self) -> None:
        if self.parameters is OF_RUN:
            found = NO_PARAMETERS if self.run is None else parameters_for(self.run)
            object.__setattr__(self, "parameters", found)
        if (self.run is None) == (self.place == "server"):
            raise ValueError(
                f"{self.name}: expected `run` for a tool of the server, and none in the panel"
            )

    @property
    def asks_first(self) -> bool:
        """Whether its calls ask in the default approval mode."""
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
