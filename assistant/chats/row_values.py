"""The values of a chat's row, also of a damaged row.

A value that cannot be read becomes a default, and its column is named: one damaged row never hides
another, and a damaged chat can be opened. The row itself stays as it is. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from math import isfinite
from typing import Any, Final, get_args

from .chat import BranchPoint, ChatParams, ChatState, TitleSource, WorkflowName
from .log.record import stored_time
from .permissions import NEW, Permissions, permissions_from

DAMAGED_TITLE: Final = "Damaged chat"
LONGEST_TITLE: Final = 400
"""Characters; twice what the store keeps, so that no title of ours is cut."""
UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
MOST: Final = 2**53
"""The largest number of a row, or of anything that is counted: any language can hold it."""
APPROVAL: Final = "approval"
"""In the column `params`: the chat's permissions."""
_STATES: Final = frozenset(get_args(ChatState))
_SOURCES: Final = frozenset(get_args(TitleSource))


class Unreadable(Exception):
    """A text that this code cannot have written."""


def is_row(value: object) -> bool:
    """Whether the value can be the number of a row of the log."""
    return type(value) is int and 0 < value <= MOST


def is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST


def are_counts(values: Sequence[object]) -> bool:
    """Whether each value is one as of `is_count`; quicker for hundreds of them."""
    numbers: Any = values
    if not set(map(type, values)) <= {int}:
        return False
    return min(numbers, default=0) >= 0 and max(numbers, default=0) <= MOST


class RowValues:
    """The values of one row of `chats`; `damaged` are the columns that could not be read so far."""

    def __init__(self, row: Any) -> None:
        self._row = row
        self.damaged: list[str] = []

    def summary(self) -> dict[str, Any]:
        """The fields of a `ChatSummary`, but for `messages` and `damaged`."""
        row = self._row
        return {
            "id": row.id,
            "title": self.title(),
            "created": self.time("created"),
            "updated": self.time("updated"),
            "state": self._checked("state", row.state in _STATES, "idle"),
            "pinned": self._flag("pinned"),
            "unread": self._flag("unread"),
            "workflow": self._parsed("workflow", _workflow, None),
        }

    def details(self) -> dict[str, Any]:
        """The fields that a `Chat` has besides, but for `head_row`."""
        row = self._row
        return {
            # A title whose source is not known may be the user's, so nothing replaces it.
            "title_source": self._checked("title_source", row.title_source in _SOURCES, "user"),
            "allowed_tools": self._parsed("allowed_tools", _tools, ()),
            "log_chars": self._checked("log_chars", is_count(row.log_chars), 0),
            "params": self._parsed("params", _params, ChatParams()),
            "permissions": permissions_in(row.params),
            "draft": self._checked("draft", row.draft is None or isinstance(row.draft, str), None),
            "branched_from": self._parsed("branched_from", _branch_point, None),
        }

    def title(self) -> str:
        title = self._row.title
        if isinstance(title, str) and title:
            return title[:LONGEST_TITLE]
        self.damaged.append("title")
        return DAMAGED_TITLE

    def time(self, column: str) -> datetime:
        found = stored_time(getattr(self._row, column))
        if found is None:
            self.damaged.append(column)
        return found or UNKNOWN_TIME

    def _flag(self, column: str) -> bool:
        value = getattr(self._row, column)
        return bool(self._checked(column, value in (0, 1), 0))

    def _checked(self, column: str, fits: bool, default: Any) -> Any:
        if fits:
            return getattr(self._row, column)
        self.damaged.append(column)
        return default

    def _parsed(self, column: str, parse: Any, default: Any) -> Any:
        text = getattr(self._row, column)
        try:
            return parse(text)
        except (ValueError, TypeError, RecursionError, Unreadable):
            self.damaged.append(column)
            return default


def _object(text: object) -> Mapping[str, Any]:
    found = json.loads(text) if isinstance(text, str) else None
    if not isinstance(found, dict):
        raise Unreadable
    return found


def _texts(found: Mapping[str, Any], *names: str) -> list[str]:
    """The texts with these names."""
    values = [found.get(name) for name in names]
    if any(not isinstance(value, str) for value in values):
        raise Unreadable
    return [str(value) for value in values]


# Cached, since most chats have the same few texts.


@lru_cache
def _tools(text: object) -> tuple[str, ...]:
    found = json.loads(text) if isinstance(text, str) else None
    if not isinstance(found, list) or any(not isinstance(name, str) for name in found):
        raise Unreadable
    return tuple(found)


@lru_cache
def _params(text: object) -> ChatParams:
    found = {name: value for name, value in _object(text).items() if name != APPROVAL}
    number = found.get("temperature")
    fits = number is None or (type(number) in (int, float) and isfinite(number))
    names = ("provider", "model", "reasoning")
    if not fits or any(not isinstance(found.get(name), str | None) for name in names):
        raise Unreadable
    return ChatParams(**found)


@lru_cache
def permissions_in(text: object) -> Permissions:
    """The permissions in the column `params`; those of a new chat where it cannot be read."""
    try:
        found = _object(text).get(APPROVAL)
    except (ValueError, TypeError, RecursionError, Unreadable):
        return NEW
    return permissions_from(found) if isinstance(found, dict) else NEW


@lru_cache
def _workflow(text: object) -> WorkflowName | None:
    if text is None or text == "":
        return None
    found = _object(text)
    return WorkflowName(*_texts(found, "id", "name")) if found else None


@lru_cache
def _branch_point(text: object) -> BranchPoint | None:
    return BranchPoint(*_texts(_object(text), "chat_id", "message_id")) if text else None
