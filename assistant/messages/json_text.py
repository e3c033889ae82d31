"""Writes values as JSON that every reader and every UTF-8 stream accepts.

Values come from models, clients and tools. Some hold NaN, which is not JSON, some an unpaired
surrogate, which UTF-8 cannot encode, some a thousand levels of nesting. No value may break a
stream, a request or the log.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from math import isfinite
from typing import Any

DEEPEST = 64
"""Levels of a model's arguments or a tool's output that are kept; JSON writers fail near 1000."""


def json_value(value: Any, levels: int = DEEPEST) -> Any:
    """`value` as JSON values: NaN and infinities become None, values deeper than `levels` become
    `"..."`, and objects of other types their `str`."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if value is None or isinstance(value, (str, int)):
        return value
    if levels <= 0:
        return "..."
    if isinstance(value, Mapping):
        return {str(name): json_value(item, levels - 1) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_value(item, levels - 1) for item in value]
    return str(value)


def json_text(value: Any) -> str:
    """Compact JSON; NaN and infinities are null, unpaired surrogates are escaped."""
    try:
        text = dump(value, _plain)
    except (ValueError, RecursionError):
        value = json_value(value)
        text = dump(value, _plain)
    return text if is_utf8(text) else dump(value, _plain, ascii_only=True)


def is_utf8(text: str) -> bool:
    """False when `text` holds a surrogate, which UTF-8 cannot encode."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mended(text: str) -> str:
    """`text` without surrogates: the two halves of a pair joined, a single half as U+FFFD.

    Servers that split answers between UTF-16 units send the two halves in two pieces.
    """
    if is_utf8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def dump(value: Any, plain: Callable[[Any], Any], *, ascii_only: bool = False) -> str:
    """Compact JSON; `plain`, a function of a module, makes a value of a kind that JSON knows.
    Raises ValueError for NaN and infinities, RecursionError for deep values."""
    return _encoder(plain, ascii_only).encode(value)


@cache
def _encoder(plain: Callable[[Any], Any], ascii_only: bool) -> json.JSONEncoder:
    """To make an encoder takes as long as to encode a short value."""
    return json.JSONEncoder(
        ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"), default=plain
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
