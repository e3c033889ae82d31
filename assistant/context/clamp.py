"""Clamps long texts: the beginning and the end stay, the middle is left out (R17).

A note in the middle says how many characters are missing. JSON stays JSON (`clamp_json`). A result
that is clamped uses its limit, within a twentieth. No code point is split: halves of surrogate
pairs are joined first.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any

from ..messages.json_text import json_text, mended
from .clamp_json import JsonClamp

HEAD_SHARE = 0.6
"""The share of the beginning, which shows what the text is; the end shows the outcome."""
LEAST_USE = 0.95
"""A clamped JSON has at least this share of its limit; else an excerpt of its text is better."""
LONGEST_JSON = 4_000_000
"""Characters of a JSON text that is taken apart; of a longer one an excerpt is sent."""
CUT = "..."
"""Ends a clamped text that has no room for a note."""


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
    """A tool result within `limit` characters: see `ResultClamp`."""
    return ResultClamp(text, handle, recall).within(limit)


class ResultClamp:
    """Clamps one tool result, to any number of limits.

    JSON objects and lists stay valid JSON, which takes two characters at least. With a `handle`,
    the JSON is wrapped to name it; the note in a text names the tool `recall` too."""

    def __init__(self, text: str, handle: str = "", recall: str = "") -> None:
        self._text = text
        self._handle = handle
        self._whole = f"{recall} {handle}".strip() if handle else ""

    def within(self, limit: int) -> str:
        """The result within `limit` characters."""
        text = self._text
        if limit <= 0 or len(text) <= limit:
            return text
        if text.lstrip()[:1] not in ("{", "["):
            return clamp_text(text, limit, self._whole)
        if len(text) > LONGEST_JSON:
            return _excerpt(text, max(limit, len("{}")), self._handle)
        if not self._compact:
            return clamp_text(text, limit, self._whole)
        return self._json_within(max(limit, len("{}")))

    def _json_within(self, limit: int) -> str:
        if len(self._compact) <= limit:
            return self._compact
        handle = self._handle
        before = json_text({"_clamped": handle, "value": 0}).removesuffix("0}") if handle else ""
        after = "}" if handle else ""
        shorter = self._json.within(limit - len(before) - len(after), clamp_text)
        wrapped = before + shorter + after
        if LEAST_USE * limit <= len(wrapped) <= limit:
            return wrapped
        excerpt = _excerpt(self._text, limit, handle)
        return wrapped if len(excerpt) < len(wrapped) <= limit else excerpt

    @cached_property
    def _value(self) -> Any:
        """The JSON value; None where the text is none."""
        try:
            return json.loads(self._text)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def _compact(self) -> str:
        """The JSON value as compact text; empty where the text is no JSON."""
        return "" if self._value is None else json_text(self._value)

    @cached_property
    def _json(self) -> JsonClamp:
        return JsonClamp(self._value, self._compact)


def _excerpt(text: str, limit: int, handle: str) -> str:
    """A JSON object with an excerpt of `text`, for values that cannot be shortened by parts."""
    room = limit
    while room > 0:
        wrapped = json_text({"_clamped": handle or True, "excerpt": clamp_text(text, room)})
        if len(wrapped) <= limit:
            return wrapped
        # Wrapping and escapes need room.
        room = min(room - 1, room * limit // len(wrapped))
    return "{}"
