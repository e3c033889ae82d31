"""JSON in pieces, so that a large value is never encoded in one go.

`json.dumps` keeps the interpreter until it has the whole text: 20 MB stop every thread for a tenth
of a second. `pieces` makes the same text bit by bit, so a thread that runs it lets the event loop
go on. Values may hold `Message` objects, which are encoded as `messages.ui` writes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, get_args

from .json_text import DEEPEST, dump, json_value
from .parts import Message, Part
from .ui import message_to_ui, part_to_ui

PIECE: Final = 128 * 1024
"""The weight of a piece. A heavier value is encoded in a thread: one piece takes about a
millisecond, so that the event loop may encode it itself."""
VALUE: Final = 16
"""The weight of a value beside its characters: encoding a number costs about as much as 16
characters of text."""
BATCH: Final = 4
"""Pieces that a thread makes at a time; each batch costs a change of threads."""
LEVELS: Final = DEEPEST + 8
"""Levels that are encoded: those of a message's values and those around a message."""

_PARTS: Final = get_args(Part)
_SIMPLE: Final = frozenset((int, float, bool, type(None)))
_CONTAINERS: Final = frozenset((dict, list, tuple))
_ENDING: Final = len("null}")


def is_large(value: Any) -> bool:
    """Whether `value` has to be encoded in a thread."""
    return weight(value, PIECE) > PIECE


def weight(value: Any, most: int) -> int:
    """About what encoding `value` costs, in characters; stops counting beyond `most`."""
    total = 0
    waiting: list[Iterable[Any]] = [(value,)]
    while waiting and total <= most:
        for item in waiting.pop():
            total += VALUE
            kind = type(item)
            if kind is str:
                total += len(item)
            elif kind not in _SIMPLE:
                inner = item if kind in _CONTAINERS else _plain(item)
                if type(inner) is dict or isinstance(inner, Mapping):
                    total += sum(map(len, map(str, inner)))
                    inner = inner.values()
                elif not isinstance(inner, (list, tuple)):
                    continue
                if total + VALUE * len(inner) > most:
                    return total + VALUE * len(inner)
                waiting.append(inner)
    return total


def whole(value: Any) -> bytes:
    """Compact JSON of `value` in one go; NaN and infinities are null, unpaired surrogates are
    escaped."""
    try:
        text = dump(value, _json_value)
    except (ValueError, RecursionError):
        value = json_value(_unfolded(value))
        text = dump(value, _json_value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return dump(value, _json_value, ascii_only=True).encode()


def pieces(value: Any, levels: int = LEVELS) -> Iterator[bytes]:
    """The bytes of `whole(value)`, in pieces of about `PIECE`."""
    value = _plain(value)
    if not value or weight(value, PIECE) <= PIECE:
        yield whole(value)
        return
    if isinstance(value, str):
        yield from _string(value)
    elif levels <= 0 or not isinstance(value, (Mapping, list, tuple)):
        yield whole(json_value(value, 0))
    elif isinstance(value, Mapping):
        yield from _object(value, levels)
    else:
        yield from _list(value, levels)


async def pieces_in_thread(
    value: Any, head: bytes = b"", tail: bytes = b""
) -> AsyncGenerator[bytes, None]:
    """`pieces` between `head` and `tail`, made in threads as fast as they are taken; a value that
    is not large comes in one piece."""
    if not is_large(value):
        yield head + whole(value) + tail
        return
    made = pieces(value)
    content = head + await asyncio.to_thread(_batch, made)
    while batch := await asyncio.to_thread(_batch, made):
        yield content
        content = batch
    yield content + tail


def _batch(made: Iterator[bytes]) -> bytes:
    return b"".join(islice(made, BATCH))


async def large(value: Any) -> bytes:
    """The bytes of `whole(value)`, made in a thread."""
    return await asyncio.to_thread(lambda: b"".join(pieces(value)))


def _string(text: str) -> Iterator[bytes]:
    yield b'"'
    for start in range(0, len(text), PIECE):
        yield whole(text[start : start + PIECE])[1:-1]
    yield b'"'


def _object(value: Mapping[Any, Any], levels: int) -> Iterator[bytes]:
    lead = b"{"
    for heavy, items in _grouped(value.items()):
        if heavy:
            [(name, item)] = items
            yield lead + whole({name: None})[1:-_ENDING]
            yield from pieces(item, levels - 1)
        else:
            yield lead + whole(dict(items))[1:-1]
        lead = b","
    yield b"}"


def _list(value: Sequence[Any], levels: int) -> Iterator[bytes]:
    lead = b"["
    for heavy, items in _grouped(value):
        if heavy:
            yield lead
            yield from pieces(items[0], levels - 1)
        else:
            yield lead + whole(items)[1:-1]
        lead = b","
    yield b"]"


def _grouped(items: Iterable[Any]) -> Iterator[tuple[bool, list[Any]]]:
    """Neighbouring items that weigh a piece together, and each heavier item alone, marked True."""
    group: list[Any] = []
    size = 0
    for given in items:
        item = part_to_ui(given) if isinstance(given, _PARTS) else given
        own = weight(item, PIECE)
        if group and size + own > PIECE:
            yield False, group
            group, size = [], 0
        if own > PIECE:
            yield True, [item]
        else:
            group.append(item)
            size += own
    if group:
        yield False, group


def _plain(value: Any) -> Any:
    """A message or a part as an object of JSON; the parts of a message stay as they are."""
    if isinstance(value, Message):
        body: dict[str, Any] = {"id": value.id, "role": value.role}
        if value.metadata:
            body["metadata"] = value.metadata
        return {**body, "parts": value.parts}
    return part_to_ui(value) if isinstance(value, _PARTS) else value


def _unfolded(value: Any) -> Any:
    """`value` with its messages as JSON values."""
    if isinstance(value, Message):
        return message_to_ui(value)
    if isinstance(value, _PARTS):
        return part_to_ui(value)
    if isinstance(value, Mapping):
        return {name: _unfolded(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unfolded(item) for item in value]
    return value


def _json_value(value: Any) -> Any:
    if isinstance(value, (Message, *_PARTS)):
        return _plain(value)
    return dict(value) if isinstance(value, Mapping) else str(value)
