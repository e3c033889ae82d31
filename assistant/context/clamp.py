"""Clamps long texts: the beginning and the end stay, the middle is left out (R17).

A note in the middle says how many characters are missing. JSON stays JSON (`clamp_json`). A result
that is clamped uses its limit, within a twentieth. No code point is split: halves of surrogate
pairs are joined first.
"""

from __future__ import annotations

import json
from typing import Any

from ..messages.json_text import json_text, mended
from .clamp_json import shortened_json

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
    """A tool result within `limit` characters; JSON objects and lists stay valid JSON, which takes
    two characters at least. With a `handle`, the JSON is wrapped to name it; the note in a text
    names the tool `recall` too."""
    whole = f"{recall} {handle}".strip() if handle else ""
    if limit <= 0 or len(text) <= limit:
        return text
    if text.lstrip()[:1] in ("{", "["):
        if len(text) > LONGEST_JSON:
            return _excerpt(text, max(limit, len("{}")), handle)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return clamp_text(text, limit, whole)
        return _clamp_json(value, text, max(limit, len("{}")), handle)
    return clamp_text(text, limit, whole)


def _clamp_json(value: Any, text: str, limit: int, handle: str) -> str:
    compact = json_text(value)
    if len(compact) <= limit:
        return compact
    before = json_text({"_clamped": handle, "value": 0}).removesuffix("0}") if handle else ""
    after = "}" if handle else ""
    shorter = shortened_json(value, compact, limit - len(before) - len(after), clamp_text)
    wrapped = before + shorter + after
    if LEAST_USE * limit <= len(wrapped) <= limit:
        return wrapped
    excerpt = _excerpt(text, limit, handle)
    return wrapped if len(excerpt) < len(wrapped) <= limit else excerpt


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
