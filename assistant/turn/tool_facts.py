"""The facts about tools that the context needs, made from a toolset."""

from __future__ import annotations

from ..context.tool_facts import ToolFacts
from ..tools.toolset import Toolset


def facts_of(toolset: Toolset) -> ToolFacts:
    return ToolFacts(
        recall=toolset.recall_name,
        search=toolset.search_name,
        digest=toolset.digest,
        changes=toolset.changes,
    )
