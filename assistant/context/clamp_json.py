"""Clamps JSON to a number of characters and uses them (R17).

What gives first is what a reader misses least: the longest strings, each down to the same level;
where that is not enough, lists lose their middle, the longest first; then objects lose fields, and
say how many. What the shorter value leaves free goes back to the strings.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any

from ..messages.json_text import is_utf8, json_text, mended

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

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

ClampText = Callable[[str, int], str]


def shortened_json(value: Any, room: int, clamp: ClampText) -> str:
    """`value` as JSON of at most `room` characters, or as close as it can be shortened. `clamp`
    shortens a string to a number of characters."""
    thin = value
    base, strings, plain = _measured(value)
    if not plain:
        thin = _thinned(value)
        base, strings, _ = _measured(thin)
    if base + sum(min(size, LEAST_STRING) for size in strings) > room:
        floored = _with_strings(thin, LEAST_STRING, clamp)
        thin = _restored(_Fitting().of(floored, room))
        base, strings, _ = _measured(thin)
    return _levelled(thin, base, strings, room, clamp)


def fair_share(sizes: Sequence[int], total: int) -> int:
    """The largest limit such that `sizes`, each cut to the limit, add up to at most `total`."""
    left = max(0, total)
    for position, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - position)
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _levelled(value: Any, base: int, sizes: list[int], room: int, clamp: ClampText) -> str:
    """The JSON of `value` with its longest strings cut to one level, so that it fits `room`."""
    best = ""
    spare = room - base
    for _ in range(PASSES):
        text = json_text(_with_strings(value, max(2, fair_share(sizes, spare)), clamp))
        if not len(best) < len(text) <= room:
            break
        best = text
        if len(text) >= WELL_USED * room:
            break
        spare += room - len(text)
    return best or text


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


def _measured(value: Any) -> tuple[int, list[int], bool]:
    """The characters of `value` without its strings, those of each string, and whether nothing has
    to be thinned: no more than `DEEPEST` levels, and no halves of surrogate pairs."""
    text = _COMPACT.encode(value)
    strings: list[int] = []
    level, levels = [value], 0
    while level:
        below: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is dict:
                below += one.values()
            elif kind is list:
                below += one
            elif isinstance(one, str):
                strings.append(_chars(one))
        levels += bool(below)
        level = below
    return len(text) - sum(strings), strings, levels <= DEEPEST and is_utf8(text)


def _scalar_size(value: Any) -> int:
    """The characters of a value that is no string, list or object."""
    return len(repr(value)) if type(value) in (int, float) else len(json_text(value))


class _Shortened(str):
    """A shortened string that knows the whole one."""

    whole: str

    @classmethod
    def of(cls, text: str, whole: str) -> _Shortened:
        made = cls(text)
        made.whole = whole
        return made


def _with_strings(value: Any, most: int, clamp: ClampText) -> Any:
    """`value` with each string within `most` characters of JSON."""
    if isinstance(value, str):
        # No character has more than six in JSON.
        return value if 6 * len(value) + 2 <= most else _cut(value, most, clamp)
    if isinstance(value, list):
        return [_with_strings(item, most, clamp) for item in value]
    if isinstance(value, dict):
        return {name: _with_strings(item, most, clamp) for name, item in value.items()}
    return value


def _cut(text: str, most: int, clamp: ClampText) -> str:
    whole = _chars(text)
    if whole <= most:
        return text
    limit = max(1, (most - 2) * len(text) // whole) if whole > 2 * len(text) else max(1, most - 2)
    short = clamp(text, limit)
    while _chars(short) > most and limit > 1:
        # The ends of a text may have more escapes than all of it.
        limit = max(1, min(limit - 1, limit * (most - 2) // _chars(short)))
        short = clamp(text, limit)
    return _Shortened.of(short, text)


def _restored(value: Any) -> Any:
    """`value` with whole strings again."""
    if isinstance(value, _Shortened):
        return value.whole
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if isinstance(value, dict):
        return {name: _restored(item) for name, item in value.items()}
    return value


class _Fitting:
    """Shortens the lists and objects of one value. The size of each is computed once, when it is
    first asked for."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        # Keeps what was measured alive, so that no other value gets its id.
        self._measured: list[Any] = []

    def of(self, value: Any, room: int) -> Any:
        """`value` within `room` characters, or the text of its size."""
        if self._size(value) <= room or not isinstance(value, (list, dict)):
            return value
        if room < LEAST_VALUE:
            return _size_of(value)
        return self._list(value, room) if isinstance(value, list) else self._object(value, room)

    def _size(self, value: Any) -> int:
        kind = type(value)
        if kind is not list and kind is not dict:
            return _chars(value) if isinstance(value, str) else _scalar_size(value)
        known = self._sizes.get(id(value))
        if known is None:
            # Writing a value takes a fraction of the time of going through it.
            known = self._sizes[id(value)] = len(_COMPACT.encode(value))
            self._measured.append(value)
        return known

    def _sizes_in(self, value: list[Any] | dict[str, Any]) -> list[int]:
        """The sizes of what a list or an object holds, in its order."""
        return [self._size(one) for one in (value.values() if type(value) is dict else value)]

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
        names = list(value)
        sizes = dict(zip(names, self._sizes_in(value), strict=True))
        least = {
            name: min(size, LEAST_VALUE) if type(value[name]) in (list, dict) else size
            for name, size in sizes.items()
        }
        costs = {name: _chars(name) + 2 + least[name] for name in names}
        free, left = room - 1, 0
        if sum(costs.values()) > free:
            free -= _chars("...") + 2 + _chars(f"{len(names)} fields left out")
            head, tail = _ends(list(costs.values()), free)
            left = len(names) - head - tail
            names = names[:head] + names[len(names) - tail :] if tail else names[:head]
        free -= sum(costs[name] for name in names)
        short = {name: value[name] for name in names}
        # Each within its share; the short ones leave theirs to the long ones.
        for place, name in enumerate(sorted(names, key=sizes.__getitem__)):
            share = least[name] + max(0, free) // (len(names) - place)
            if sizes[name] <= share:
                free -= sizes[name] - least[name]
                continue
            short[name] = self.of(value[name], share)
            free -= self._size(short[name]) - least[name]
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
