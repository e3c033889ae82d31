"""Which tools there are, and what the provider is told of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .history_tools import RECALL_TOOLS
from .skill_tools import SKILL_TOOLS
from .tool import Tool
from .workflow_tools import WORKFLOW_TOOLS


class Toolset:
    """The tools of an installation, by name. Raises ValueError for a name used twice."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ValueError(f"two tools are named {tool.name!r}")
            self._tools[tool.name] = tool
        self._schemas = tuple(tool.schema() for tool in self._tools.values())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    @property
    def schemas(self) -> tuple[Mapping[str, Any], ...]:
        """The provider's `tools` field: always the same bytes (R10)."""
        return self._schemas


def standard_toolset() -> Toolset:
    """All tools that this version has."""
    return Toolset((*WORKFLOW_TOOLS, *SKILL_TOOLS, *RECALL_TOOLS))
