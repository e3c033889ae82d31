"""Clamps JSON to a number of characters and uses them (R17).

What gives first is what a reader misses least: the longest strings, each down to the same level;
where that is not enough, lists lose their middle, the longest first; then objects lose fields, and
say how many. What the shorter value leaves free goes back to the strings.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any

from ..messages.json_text import json_text, mended

LEAST_STRING = 80
"""Characters of a string's JSON that are kept while lists and objects can still be shortened."""
LEAST_VALUE = 40
"""Characters that a shortened list or object has at least; with fewer, its size stands for it."""
TAIL_PART = 3
"""Every third of the items that are kept comes from the end of a list or object."""
DEEPEST = 12
"""Levels of JSON that are kept; deeper values are replaced by their kind and size."""
PASSES = 4
"""Tries to use characters that escapes and notes left free."""
WELL_USED = 0.97
"""The share of the room at which no further try is made."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*":?')
"""A string in compact JSON; with the colon after it, it is a name."""
_NO_BRACKETS = bytes(code for code in range(256) if code not in b"[]{}")
_HALF = "\\ud"
"""How the half of a surrogate pair begins in compact JSON."""

ClampText = Callable[[str, int], str]


class JsonClamp:
    """Shortens one JSON value, to any number of lengths. `compact` is its `json_text`."""

    def __init__(self, value: Any, compact: str) -> None:
        written = _Written(compact)
        if _HALF in compact or written.is_deep:
            value = _thinned(value)
            written = _Written(json_text(value))
        self._value = value
        self._written = written
        self._fitting = _Fitting()

    def within(self, room: int, clamp: ClampText) -> str:
        """The value as JSON of at most `room` characters, or as close as it can be shortened.
        `clamp` shortens a string to a number of characters."""
        written = self._written
        if written.least > room:
            written = _Written(json_text(self._fitting.of(self._value, room)))
        return _levelled(written, room, clamp)


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The largest limit such that `sizes`, each cut to the limit, add up to at most `total`."""
    left = max(0, total)
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _levelled(written: _Written, room: int, clamp: ClampText) -> str:
    """The JSON with its longest strings cut to one level, so that it fits `room`."""
    best = ""
    spare = room - written.base
    for _ in range(PASSES):
        text = written.within(max(2, fair_share(written.sizes, spare)), clamp)
        if not len(best) < len(text) <= room:
            break
        best = text
        if len(text) >= WELL_USED * room:
            break
        spare += room - len(text)
    return best or text


class _Written:
    """Compact JSON and where its strings stand, names aside.

    It is read as text, since going through its values takes many times as long."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = _STRING.finditer(text)
        self._strings = [one.span() for one in found if text[one.end() - 1] == '"']
        self.sizes = [end - start for start, end in self._strings]
        """The characters of each string's JSON."""
        self.base = len(text) - sum(self.sizes)
        """The characters without the strings."""

    @property
    def least(self) -> int:
        """The characters with each string cut to `LEAST_STRING`."""
        return self.base + sum(min(size, LEAST_STRING) for size in self.sizes)

    @property
    def is_deep(self) -> bool:
        """Whether it may have more than `DEEPEST` levels."""
        brackets = _STRING.sub("", self._text).encode().translate(None, _NO_BRACKETS)
        for _ in range(DEEPEST):
            brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        return bool(brackets)

    def within(self, most: int, clamp: ClampText) -> str:
        """The JSON with each string within `most` characters."""
        text, last = self._text, 0
        pieces: list[str] = []
        for (start, end), size in zip(self._strings, self.sizes, strict=True):
            if size > most:
                pieces += (text[last:start], _cut(json.loads(text[start:end]), size, most, clamp))
                last = end
        return "".join((*pieces, text[last:]))


def _cut(text: str, size: int, most: int, clamp: ClampText) -> str:
    """The JSON of `text` within `most` characters; whole it has `size`."""
    limit = max(1, (most - 2) * len(text) // size) if size > 2 * len(text) else max(1, most - 2)
    short = encode_basestring(clamp(text, limit))
    while len(short) > most and limit > 1:
        # The ends of a text may have more escapes than all of it.
        limit = max(1, min(limit - 1, limit * (most - 2) // len(short)))
        short = encode_basestring(clamp(text, limit))
    return short


def _thinned(value: Any, depth: int = DEEPEST) -> Any:
    """`value` without its deepest levels and without halves of surrogate pairs."""
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, (list, dict)):
        if not depth and value:
            return _size_of(value)
        if isinstance(value, list):
            return [_thinned(item, depth - 1) for item in value]
        return {mended(name): _thinned(item, depth - 1) for name, item in value.items()}
    return value


def _size_of(value: list[Any] | dict[str, Any]) -> str:
    return f"[{len(value)} items]" if isinstance(value, list) else f"{{{len(value)} fields}}"


def _chars(text: str) -> int:
    """The characters of a string's JSON."""
    return len(encode_basestring(text))


class _Fitting:
    """Shortens the lists and objects of one value, in which a string counts as it is at most
    `LEAST_STRING` long: strings give before them."""

    def __init__(self) -> None:
        # By id; holds what was measured, so that no other value gets its id.
        self._measured: dict[int, tuple[Any, int, list[int]]] = {}

    def of(self, value: Any, room: int) -> Any:
        """`value` within `room` characters, or the text of its size."""
        if self._size(value) <= room or not isinstance(value, (list, dict)):
            return value
        if room < LEAST_VALUE:
            return _size_of(value)
        return self._list(value, room) if isinstance(value, list) else self._object(value, room)

    def _size(self, value: Any) -> int:
        kind = type(value)
        if kind is str:
            # Its JSON has two quotes more at least.
            return (
                LEAST_STRING if len(value) > LEAST_STRING - 2 else min(_chars(value), LEAST_STRING)
            )
        if kind is int or kind is float:
            return len(repr(value))
        if kind is list or kind is dict:
            return self._measure(value)[1]
        return len(json_text(value))

    def _sizes_in(self, value: list[Any] | dict[str, Any]) -> list[int]:
        """The sizes of what a list or an object holds, in its order."""
        return self._measure(value)[2]

    def _measure(self, value: list[Any] | dict[str, Any]) -> tuple[Any, int, list[int]]:
        """A list or an object, its size, and the sizes of what it holds."""
        known = self._measured.get(id(value))
        if known is None:
            inner = list(map(self._size, value.values() if type(value) is dict else value))
            # Brackets and a comma after each but the last; a colon after each name.
            size = max(len("{}"), 1 + len(value)) + sum(inner)
            if type(value) is dict:
                size += sum(map(_chars, value)) + len(value)
            known = self._measured[id(value)] = value, size, inner
        return known

    def _list(self, value: list[Any], room: int) -> list[Any]:
        """The list without its middle; of the first item that does not fit, a part."""
        note = f"... {len(value)} items left out"
        free = room - len("[]") - _chars(note)
        costs = [size + 1 for size in self._sizes_in(value)]
        head, tail = _ends(costs, free)
        kept = value[:head]
        free -= sum(costs[:head]) + sum(costs[len(value) - tail :])
        if head + tail < len(value) and free > LEAST_VALUE:
            part = self.of(value[head], free - 1)
            if isinstance(part, (list, dict)):
                kept, head = [*kept, part], head + 1
        left = len(value) - head - tail
        return [*kept, f"... {left} items left out", *value[len(value) - tail :]]

    def _object(self, value: dict[str, Any], room: int) -> dict[str, Any]:
        """The object with its longest values shortened; with fewer fields where that is not
        enough."""
        names, sizes = list(value), self._sizes_in(value)
        least = [
            min(size, LEAST_VALUE) if isinstance(one, (list, dict)) else size
            for one, size in zip(value.values(), sizes, strict=True)
        ]
        free, left = room - self._size(value) + sum(sizes) - sum(least), 0
        if free < 0:
            costs = [_chars(name) + 2 + one for name, one in zip(names, least, strict=True)]
            free = room - 1 - _chars("...") - 2 - _chars(f"{len(names)} fields left out")
            head, tail = _ends(costs, free)
            kept = [*range(head), *range(len(names) - tail, len(names))]
            left = len(names) - len(kept)
            free -= sum(costs[place] for place in kept)
        else:
            kept = list(range(len(names)))
        short = {names[place]: value[names[place]] for place in kept}
        # Each within its share; the short ones leave theirs to the long ones.
        by_size = sorted(kept, key=sizes.__getitem__)
        for others, place in zip(range(len(kept), 0, -1), by_size, strict=True):
            if sizes[place] == least[place]:
                continue
            share = least[place] + max(0, free) // others
            if sizes[place] > share:
                short[names[place]] = self.of(value[names[place]], share)
            free -= self._size(short[names[place]]) - least[place]
        if left:
            short["..."] = f"{left} fields left out"
        return short


def _ends(costs: Sequence[int], room: int) -> tuple[int, int]:
    """How many values from the beginning and from the end fit `room` together."""
    sums = [0, *accumulate(costs)]

    def cost(count: int) -> int:
        tail = count // TAIL_PART
        return sums[count - tail] + sums[-1] - sums[len(costs) - tail]

    count = bisect_right(range(len(costs)), room, key=cost) - 1
    tail = max(0, count) // TAIL_PART
    return max(0, count) - tail, tail
