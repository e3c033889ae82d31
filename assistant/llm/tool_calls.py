"""Assembles tool calls from the pieces of a stream, for all servers.

Servers differ in which fields they repeat, leave out and number; `ToolCallReader` decides to which
call a piece belongs. A name or id is taken from its first piece and never concatenated; arguments
are given on piece by piece.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..messages.json_text import json_text
from .arguments import Arguments
from .caps import CapReached, Caps, Meter, bytes_of
from .stream_events import ToolCallDelta, ToolCallStart

LONGEST_NAME = 256
"""Characters of a name or an id that are read."""
LARGEST_NUMBER = 10**18
"""A number that stands for an id or a name is smaller."""


@dataclass
class _Call:
    index: int
    sent_index: int | None = None
    sent_id: str = ""
    name: str = ""
    started: bool = False
    waiting: list[str] = field(default_factory=list)
    """Arguments that came before the name."""
    arguments: Arguments = field(default_factory=Arguments)


class ToolCallReader:
    """The calls of one answer. `made_id_prefix()` is the prefix for ids of calls without an id; it
    is called once at most, since it reads the whole request."""

    def __init__(self, made_id_prefix: Callable[[], str], caps: Caps) -> None:
        self._make_prefix = made_id_prefix
        self._most = caps.calls
        self._meter = Meter("arguments", caps.arguments)
        self._calls: list[_Call] = []
        self._ids: set[str] = set()

    @cached_property
    def _made_id_prefix(self) -> str:
        return self._make_prefix()

    @property
    def any(self) -> bool:
        return any(call.started for call in self._calls)

    def feed(self, piece: Mapping[str, Any]) -> Iterator[ToolCallStart | ToolCallDelta]:
        """The events of one entry of a delta's `tool_calls`. Raises CapReached, after the events of
        what fits."""
        function = piece.get("function")
        function = function if isinstance(function, Mapping) else {}
        name, sent_id = _text(function.get("name")), _text(piece.get("id"))
        index = piece.get("index")
        call = self._call_of(index if isinstance(index, int) else None, sent_id, name)
        call.sent_id = call.sent_id or sent_id
        call.name = call.name or name
        arguments = self._meter.take(_arguments(function.get("arguments"), call))
        if arguments:
            call.arguments.add(arguments)
            call.waiting.append(arguments)
        if call.name and not call.started:
            call.started = True
            yield ToolCallStart(call.index, self._id_for(call), call.name)
        if call.started and call.waiting:
            yield ToolCallDelta(call.index, "".join(call.waiting))
            call.waiting.clear()
        if self._meter.reached is not None:
            raise self._meter.reached

    def _call_of(self, index: int | None, sent_id: str, name: str) -> _Call:
        """The call to which a piece belongs; a new call when it belongs to none."""
        if index is not None:
            same = [call for call in self._calls if call.sent_index == index]
        else:
            same = [c for c in self._calls if sent_id and c.sent_id == sent_id] or self._calls[-1:]
        if same and not _begins_another(same[-1], sent_id, name):
            return same[-1]
        if len(self._calls) >= self._most:
            raise CapReached("calls", self._most)
        self._meter.add(bytes_of(sent_id) + bytes_of(name))
        call = _Call(len(self._calls), index)
        self._calls.append(call)
        return call

    def _id_for(self, call: _Call) -> str:
        """The server's id, or a made id if it is missing or used by another call of the answer."""
        chosen = call.sent_id
        if not chosen or chosen in self._ids:
            chosen = f"{self._made_id_prefix}{call.index}"
        self._ids.add(chosen)
        return chosen


def _begins_another(call: _Call, sent_id: str, name: str) -> bool:
    """Whether a piece with this id and name begins a new call although it has the index of `call`.

    Some servers give every call the index 0, others give each piece a new id, so neither decides
    alone: a call begins where id and name both differ, or where one of them differs and the last
    call is complete.
    """
    if not name or not call.name:
        return False
    another_id = bool(sent_id) and sent_id != call.sent_id
    if another_id and name != call.name:
        return True
    another = another_id or name != call.name or (not sent_id and call.arguments.size > 0)
    return another and call.arguments.complete


def _text(value: object) -> str:
    """An id or name as text; some servers send null or a number."""
    if isinstance(value, str):
        return value[:LONGEST_NAME]
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= LARGEST_NUMBER:
        return ""
    return str(value)


def _arguments(value: object, call: _Call) -> str:
    """The piece of arguments as JSON text. An object is complete, so its repetition is ignored."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        whole = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        whole = json_text(value)
    repeated = len(whole) == call.arguments.size and whole == call.arguments.text
    return "" if repeated else whole
