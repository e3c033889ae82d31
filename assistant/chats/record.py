"""A message as the text of a row, and back; times as text.

The text is canonical: equal messages give equal text, on every machine (R52).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from ..errors import InvalidRequest, StoreError
from ..messages.parts import Message
from ..messages.ui import message_from_ui, message_to_ui


def canonical(value: Any) -> str:
    """`value` as JSON text without spaces, keys sorted."""
    text = json.dumps(
        value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=_plain
    )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half a surrogate pair, as a client may cut one: no UTF-8, but JSON can escape it.
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_plain)
    return text


def encode(message: Message) -> str:
    """The text of a row. Raises InvalidRequest for a message that JSON cannot hold."""
    try:
        return canonical(message_to_ui(message))
    except RecursionError:
        raise InvalidRequest("the message is nested too deeply", where="message") from None


def decode(body: str) -> Message:
    """The message of a row. Raises StoreError for a text that we cannot have written."""
    try:
        return message_from_ui(json.loads(body))
    except (ValueError, InvalidRequest) as error:
        raise StoreError("A saved message cannot be read; the chat's file is damaged.") from error


def time_text(moment: datetime) -> str:
    """ISO 8601 in UTC. Raises ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError("a stored time needs a zone")
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _plain(value: Any) -> Any:
    """Read-only mappings and tuples are JSON objects and lists too."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in a chat's log")
