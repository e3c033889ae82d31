"""The tools of an installation: which tools a request offers, and how a tool is called.

    offered = toolset.list(Listing(window=8_192))       what a request offers
    output = await toolset.call(tool, arguments, context)

A window that is too small for all schemas gets the smaller sets of
docs/contracts/workflow-tools.md, and `loadTools`, which loads a group of the remaining tools for
the rest of the turn. The model may also call a tool that the request does not offer: the call loads
the tool's group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ToolError
from ..messages.changes import Change
from ..messages.parts import ToolPart
from ..messages.prompt import ToolCall
from .asking_tools import ASKING_TOOLS
from .edit_tools import EDIT_TOOLS
from .history_tools import HISTORY_SEARCH, HISTORY_TOOLS, RECALL_RESULT
from .memory_tools import MEMORY_TOOLS
from .parameters import Parameters
from .skill_tools import SKILL_TOOLS
from .tool import EVERY_WINDOW, FULL_WINDOW, Kind, Role, Tool, ToolContext
from .workflow_tools import WORKFLOW_TOOLS

LOAD_TOOLS = "loadTools"
GROUPS = {
    "lookup": "looks up",
    "edit": "edits workflows",
    "run": "runs workflows and follows runs",
    "memory": "remembers",
    "tasks": "plans",
    "supply": "gets models and packages",
    "skills": "reads and saves skills",
}
"""Each group of tools, and its purpose."""
EVERY_KIND: frozenset[Kind] = frozenset(("reads", "edits", "acts"))


@dataclass(frozen=True, slots=True)
class Listing:
    """What a request's tools depend on: the model's window in tokens, the kind of chat, the kinds
    of tools that the user allows, and the groups that the turn has loaded, in that order."""

    window: int = FULL_WINDOW
    role: Role = "chat"
    allowed: frozenset[Kind] = EVERY_KIND
    loaded: tuple[str, ...] = ()


class Toolset:
    """Tools by name. Raises ValueError for a name used twice."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def asks_each_time(self) -> frozenset[str]:
        """The names of the tools that no approval for the whole chat covers."""
        return frozenset(tool.name for tool in self._tools.values() if tool.asks_each_time)

    def get(self, name: str) -> Tool | None:
        """The tool of a name, offered or not."""
        return self._loader(_groups_of(self)) if name == LOAD_TOOLS else self._tools.get(name)

    def list(self, listing: Listing) -> tuple[Tool, ...]:
        """The tools to offer, in a stable order: the tools for the window, `loadTools` where the
        window leaves out tools, and the loaded groups in the order of loading."""
        known = [
            tool
            for tool in self._tools.values()
            if listing.role in tool.roles and tool.kind in listing.allowed
        ]
        offered = [tool for tool in known if tool.window <= listing.window]
        lacking = [tool for tool in known if tool.window > listing.window]
        if not lacking:
            return tuple(offered)
        loaded = (tool for name in listing.loaded for tool in lacking if tool.group == name)
        return (*offered, self._loader(_groups_of(lacking)), *loaded)

    def loaded_by(self, calls: Iterable[ToolPart], window: int) -> tuple[str, ...]:
        """The groups that the calls of a turn have loaded, in that order: by `loadTools`, or by
        calling a tool that `window` alone does not offer."""
        found: dict[str, None] = {}
        for part in calls:
            tool = self._tools.get(part.tool_name)
            if tool is not None and tool.window > window:
                found[tool.group] = None
            elif part.tool_name == LOAD_TOOLS and part.state == "output-available":
                # A client without a stored chat sends the earlier messages itself, so a call's
                # input may be any value.
                group = part.input.get("group") if isinstance(part.input, Mapping) else None
                if isinstance(group, str):
                    found[group] = None
        return tuple(found)

    async def call(self, tool: Tool, arguments: Any, context: ToolContext) -> Any:
        """The result of a tool of the server. Raises ToolError for a fault that the model can
        correct."""
        assert tool.run is not None, f"{tool.name} has no code for the server"
        return await tool.run(tool.parse(arguments), context)

    @property
    def recall_name(self) -> str:
        """The name of the tool that returns the content of a handle; "" without such a tool."""
        return RECALL_RESULT if RECALL_RESULT in self._tools else ""

    @property
    def search_name(self) -> str:
        """The name of the tool that searches the chat; "" without such a tool."""
        return HISTORY_SEARCH if HISTORY_SEARCH in self._tools else ""

    @property
    def kept_names(self) -> frozenset[str]:
        """The names of the tools whose results stay whole until the turn ends."""
        return frozenset(tool.name for tool in self._tools.values() if tool.kept)

    def digest(self, call: ToolCall, value: Any) -> Any:
        """The content of the line that replaces a result in later requests; None for the general
        content."""
        tool = self._tools.get(call.name)
        return tool.digest(call, value) if tool and tool.digest else None

    def changes(self, call: ToolCall, value: Any) -> Iterable[Change]:
        """The changes that a successful call made to the workflow; none for an unknown tool."""
        tool = self._tools.get(call.name)
        return tool.changes(call, value) if tool and tool.changes else ()

    def shows(self, call: ToolCall, text: str) -> tuple[str, int] | None:
        """What a result shows, and how much of it; None where it is no view."""
        tool = self._tools.get(call.name)
        return tool.shows(call, text) if tool and tool.shows else None

    def _loader(self, groups: tuple[str, ...]) -> Tool:
        """`loadTools` for these groups."""

        def parse(value: Any) -> str:
            if isinstance(value, dict) and set(value) == {"group"} and value["group"] in groups:
                return str(value["group"])
            raise ToolError(f"group: expected one of {', '.join(groups)}")

        async def load(group: str, _: ToolContext) -> Any:
            named = [tool.name for tool in self._tools.values() if tool.group == group]
            return {"loaded": group, "tools": named}

        about = "; ".join(f"{name} {GROUPS[name]}" for name in groups)
        schema = {
            "type": "object",
            "properties": {"group": {"type": "string", "enum": list(groups)}},
            "required": ["group"],
        }
        return Tool(
            name=LOAD_TOOLS,
            title="Loaded more tools",
            description=f"Adds tools for this turn: {about}.",
            kind="reads",
            parameters=Parameters(schema, parse),
            run=load,
            group="lookup",
            window=EVERY_WINDOW,
        )


def standard_toolset() -> Toolset:
    """All tools that this version has."""
    tools = (
        *WORKFLOW_TOOLS,
        *EDIT_TOOLS,
        *SKILL_TOOLS,
        *HISTORY_TOOLS,
        *MEMORY_TOOLS,
        *ASKING_TOOLS,
    )
    return Toolset(tools)


def _groups_of(tools: Iterable[Tool]) -> tuple[str, ...]:
    """The groups that have at least one of the tools, in the order of `GROUPS`."""
    found = {tool.group for tool in tools}
    return tuple(name for name in GROUPS if name in found)
