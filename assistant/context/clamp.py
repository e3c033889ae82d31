"""Clamps long texts: the beginning and the end stay, the middle is left out (R17).

A note in the middle says how many characters are missing. JSON stays JSON. No code point is split:
halves of surrogate pairs are joined first.
"""

from __future__ import annotations

import json
from typing import Any

from ..messages.json_text import json_text, mended

HEAD_SHARE = 0.6
"""The share of the beginning, which shows what the text is; the end shows the outcome."""
ATTEMPTS = ((400, 40), (200, 20), (100, 10), (60, 5), (30, 3))
"""Longest string (characters) and longest list (items) tried in turn until the JSON is short
enough."""
CUT = "..."
"""Ends a clamped text that has no room for a note."""
DEEPEST = 12
"""Levels of JSON that are kept; deeper values are replaced by their kind and size."""


def clamp_text(text: str, limit: int, whole: str = "") -> str:
    """`text` itself when it has at most `limit` characters, else its beginning, a note and its end
    within `limit`. The note says `whole`: how to get the whole text, such as by a tool and a
    handle."""
    if limit <= 0 or len(text) <= limit:
        return text
    text = mended(text)
    if len(text) <= limit:
        return text
    # The number of missing characters has at most as many digits as the length of the text.
    room = limit - len(_note(len(text), whole))
    if room <= 0:
        return (text[: max(0, limit - len(CUT))] + CUT)[:limit]
    head = int(room * HEAD_SHARE)
    tail = room - head
    return text[:head] + _note(len(text) - room, whole) + text[len(text) - tail :]


def _note(left_out: int, whole: str) -> str:
    return f"\n... [{left_out} characters left out{f': {whole}' if whole else ''}]\n"


def clamp_result(text: str, limit: int, handle: str = "", recall: str = "") -> str:
    """A tool result within `limit` characters; JSON objects and lists stay valid JSON, which takes
    two characters at least. With a `handle`, the JSON is wrapped to name it; the note in a text
    names the tool `recall` too."""
    whole = f"{recall} {handle}".strip() if handle else ""
    if limit <= 0 or len(text) <= limit:
        return text
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return clamp_text(text, limit, whole)
        return _clamp_json(value, text, max(limit, len("{}")), handle)
    return clamp_text(text, limit, whole)


def _clamp_json(value: Any, text: str, limit: int, handle: str) -> str:
    for longest, items in ATTEMPTS:
        try:
            shorter = _Shortening(longest, items, limit).of(value)
        except _TooLong:
            continue
        shorter = json_text({"_clamped": handle, "value": shorter} if handle else shorter)
        if len(shorter) <= limit:
            return shorter
    # Wrapping and escaping need room: try ever shorter excerpts of the text.
    room = limit
    while room > 0:
        wrapped = json_text({"_clamped": handle or True, "excerpt": clamp_text(text, room)})
        if len(wrapped) <= limit:
            return wrapped
        room = room * 3 // 4
    return "{}"


class _TooLong(Exception):
    """The shortened value is already longer than allowed."""


class _Shortening:
    """One attempt to shorten a JSON value: strings of at most `longest` characters, `items` of each
    list and object. Raises _TooLong once the JSON is sure to exceed `room` characters, so that a
    very long value costs no more than the part that is kept."""

    def __init__(self, longest: int, items: int, room: int) -> None:
        self._longest, self._items, self._room = longest, items, room

    def of(self, value: Any, depth: int = DEEPEST) -> Any:
        if isinstance(value, str):
            return self._taken(clamp_text(value, self._longest))
        if isinstance(value, list):
            return self._list(value, depth) if depth else self._taken(f"[{len(value)} items]")
        if isinstance(value, dict):
            return self._object(value, depth) if depth else self._taken(f"{{{len(value)} fields}}")
        self._room -= 1
        return value

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        kept = [self.of(item, depth - 1) for item in _ends(value, self._items)]
        left = len(value) - self._items
        if left > 0:
            kept.insert(len(kept) - self._items // 3, f"... {left} items left out")
        return kept

    def _object(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        names = _ends(list(value), self._items)
        short = {self._taken(name): self.of(value[name], depth - 1) for name in names}
        left = len(value) - self._items
        if left > 0:
            short["..."] = f"{left} fields left out"
        return short

    def _taken(self, text: str) -> str:
        self._room -= len(text) + len('""')
        if self._room < 0:
            raise _TooLong
        return text


def _ends(values: list[Any], items: int) -> list[Any]:
    """The first two thirds of `items` values and the last third."""
    if len(values) <= items:
        return list(values)
    tail = items // 3
    return values[: items - tail] + values[len(values) - tail :]
