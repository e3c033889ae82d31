"""What the context knows of the tools."""

from __future__ import annotations

from ..context.tool_facts import Shown, ToolFacts
from ..messages.prompt import ToolCall
from ..tools.toolset import Toolset


def facts_of(toolset: Toolset) -> ToolFacts:
    """The parts of a toolset that the context uses."""

    def shows(call: ToolCall, text: str) -> Shown | None:
        found = toolset.shows(call, text)
        return None if found is None else Shown(*found)

    return ToolFacts(
        recall=toolset.recall_name,
        search=toolset.search_name,
        kept=toolset.kept_names,
        digest=toolset.digest,
        changes=toolset.changes,
        shows=shows,
    )
