"""Values as JSON text that any JSON reader and any UTF-8 stream accepts.

Values come from models, clients and tools: some hold NaN, which is no JSON, or half a surrogate
pair, which has no UTF-8. Neither may break a stream or a request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any


def json_text(value: Any) -> str:
    """Compact JSON; NaN and infinities are null, unpaired surrogates are escaped.

    Mappings and tuples are objects and lists; anything else that JSON does not know is its `str`.
    """
    try:
        text = _dump(value, ascii_only=False)
    except ValueError:
        value = _finite(value)
        text = _dump(value, ascii_only=False)
    return text if is_utf8(text) else _dump(value, ascii_only=True)


def is_utf8(text: str) -> bool:
    """False when `text` holds a surrogate, which no UTF-8 can carry."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def mended(text: str) -> str:
    """`text` as UTF-8 can carry it: the halves of a pair joined, a single half as U+FFFD.

    Servers that cut their answers between UTF-16 units send the two halves in two pieces.
    """
    if is_utf8(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _dump(value: Any, *, ascii_only: bool) -> str:
    return json.dumps(
        value,
        ensure_ascii=ascii_only,
        allow_nan=False,
        separators=(",", ":"),
        default=_plain,
    )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
