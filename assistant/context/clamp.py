"""Long text made short: head and tail stay, the middle goes (R17).

What is cut says how much is missing. JSON stays JSON. No cut splits a code point, because Python's
strings are code points and lone surrogates are no text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

HEAD_SHARE = 0.6
"""The beginning says what a text is; the end has the outcome. The beginning gets a little more."""
ATTEMPTS = ((400, 40), (200, 20), (100, 10), (60, 5), (30, 3))
"""Longest string (characters) and longest list (items) tried in turn until the JSON is short
enough."""
DEEPEST = 12
"""Levels of JSON that are looked into; what lies deeper is told by its kind."""


def clamp_text(text: str, limit: int) -> str:
    """`text` itself when it has at most `limit` characters, else head, note and tail within
    `limit`."""
    if limit <= 0 or len(text) <= limit:
        return text
    note = f"\n... [{len(text) - limit} characters left out]\n"
    room = max(0, limit - len(note))
    head = int(room * HEAD_SHARE)
    tail = room - head
    return (text[:head] + note + (text[len(text) - tail :] if tail else ""))[:limit]


def clamp_result(text: str, limit: int) -> str:
    """A tool result within `limit` characters; JSON objects and lists stay valid JSON."""
    if limit <= 0 or len(text) <= limit:
        return text
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return clamp_text(text, limit)
        return _clamp_json(value, text, limit)
    return clamp_text(text, limit)


def _clamp_json(value: Any, text: str, limit: int) -> str:
    for longest, items in ATTEMPTS:
        shorter = _dump(_shorten(value, longest, items, DEEPEST))
        if len(shorter) <= limit:
            return shorter
    # Wrapping and escaping need room: try ever shorter excerpts of the text.
    room = limit
    while room > 0:
        wrapped = _dump({"_clamped": True, "excerpt": clamp_text(text, room)})
        if len(wrapped) <= limit:
            return wrapped
        room = room * 3 // 4 if room > 8 else room - 1
    return _dump({"_clamped": True})


def _shorten(value: Any, longest: int, items: int, depth: int) -> Any:
    if isinstance(value, str):
        return clamp_text(value, longest)
    if isinstance(value, list):
        if depth == 0:
            return f"[{len(value)} items]"
        kept = [_shorten(item, longest, items, depth - 1) for item in _ends(value, items)]
        if len(value) > items:
            kept.insert(-(items // 3) or len(kept), f"... {len(value) - items} items left out")
        return kept
    if isinstance(value, Mapping):
        if depth == 0:
            return f"{{{len(value)} fields}}"
        names = _ends(list(value), items)
        short = {name: _shorten(value[name], longest, items, depth - 1) for name in names}
        if len(value) > items:
            short["..."] = f"{len(value) - items} fields left out"
        return short
    return value


def _ends(values: list[Any], items: int) -> list[Any]:
    """The first two thirds of `items` values and the last third."""
    if len(values) <= items:
        return list(values)
    tail = items // 3
    return values[: items - tail] + (values[-tail:] if tail else [])


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
