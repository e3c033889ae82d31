"""What the context is given about tools, since it has no tool's name: names for its texts, digests,
and changes of the workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..messages.changes import Change
from ..messages.prompt import ToolCall


def _no_digest(call: ToolCall, value: Any) -> Any:
    return None


def _no_changes(call: ToolCall, value: Any) -> Iterable[Change]:
    return ()


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """`recall` is the name of the tool that returns the content of a handle, `search` of the tool
    that searches the chat; "" without one.

    Both functions get a call and its result, as JSON where it is JSON, else as text. `digest`
    returns what the line says that stands for the result, None for the general line. `changes`
    returns what a call that succeeded changed in the workflow, in order.
    """

    recall: str = ""
    search: str = ""
    digest: Callable[[ToolCall, Any], Any] = _no_digest
    changes: Callable[[ToolCall, Any], Iterable[Change]] = _no_changes


NO_FACTS = ToolFacts()
