"""Facts about tools that the context receives, since it names no tool itself: names for its texts,
digests, and changes of the workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..messages.changes import Change
from ..messages.prompt import ToolCall


def _no_digest(call: ToolCall, value: Any) -> Any:
    return None


@dataclass(frozen=True, slots=True)
class Shown:
    """What the result of a read shows: `what` names the thing, and a view with a larger `rank`
    shows more of it."""

    what: str
    rank: int = 0


def _shows_nothing(call: ToolCall, text: str) -> Shown | None:
    return None


def _no_changes(call: ToolCall, value: Any) -> Iterable[Change]:
    return ()


@dataclass(frozen=True, slots=True)
class ToolFacts:
    """`recall` is the name of the tool that returns the content of a handle, `search` of the tool
    that searches the chat; "" without one. `kept` are the names of the tools whose results stay
    whole until the turn ends, such as skills: the model asked for them to use them now.

    Both functions get a call and its result, as JSON where it is JSON, else as text. `digest`
    returns the content of the line that replaces the result in later requests, None for the general
    content. `changes` returns the changes that a successful call made to the workflow, in order.
    `shows` gets a call and the text of its result, and returns what a view shows, so that a newer
    view of the same takes its place; None for any other result.
    """

    recall: str = ""
    search: str = ""
    kept: frozenset[str] = frozenset()
    digest: Callable[[ToolCall, Any], Any] = _no_digest
    changes: Callable[[ToolCall, Any], Iterable[Change]] = _no_changes
    shows: Callable[[ToolCall, str], Shown | None] = _shows_nothing


NO_FACTS = ToolFacts()
