"""A message as the text of a row, and back; times as text.

The text is canonical: equal messages give equal text, on every machine. But the arguments and
results of tools keep the order of their keys, so that a request has the same bytes after a restart
(R52).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, Final

from ...errors import InvalidRequest, StoreError
from ...messages.json_text import is_utf8
from ...messages.parts import Message
from ...messages.ui import message_from_ui, message_to_ui

EARLIEST: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)
"""No message is older: clocks that were never set begin here."""
AS_IT_CAME: Final = frozenset(("input", "output"))
"""The values of a part whose keys keep their order."""
_UNREADABLE = "A saved message cannot be read; the chat's file is damaged."


def canonical(value: Any) -> str:
    """`value` as JSON text without spaces, keys sorted: equal values give equal text."""
    return _json(value, sort_keys=True)


def _json(value: Any, *, sort_keys: bool) -> str:
    def dump(*, ascii_only: bool) -> str:
        return json.dumps(
            value,
            ensure_ascii=ascii_only,
            sort_keys=sort_keys,
            separators=(",", ":"),
            default=_plain,
        )

    text = dump(ascii_only=False)
    # A client may cut a surrogate pair in half. UTF-8 cannot encode the half, but JSON can
    # escape it.
    return text if is_utf8(text) else dump(ascii_only=True)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, (list, tuple)) else value


def encode(message: Message) -> str:
    """The text of a message. Raises InvalidRequest for a message that JSON cannot hold."""
    return message_text(message_to_ui(message))


def message_text(body: Mapping[str, Any]) -> str:
    """The text of a message's JSON value. Raises InvalidRequest where it is too deep."""
    try:
        parts = [
            {name: value if name in AS_IT_CAME else _sorted(value) for name, value in part.items()}
            for part in body.get("parts", ())
        ]
        return _json({**_sorted({**body, "parts": ()}), "parts": parts}, sort_keys=False)
    except RecursionError:
        raise InvalidRequest("the message is nested too deeply", where="message") from None


def decode(body: str) -> Message:
    """The message of a row, without its attachments (`attachments`). Raises StoreError for a text
    that this code cannot have written."""
    try:
        return message_from_ui(parsed(body))
    except InvalidRequest as error:
        raise StoreError(_UNREADABLE) from error


def parsed(body: str) -> dict[str, Any]:
    """The JSON object of a row. Raises StoreError as `decode` does."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise StoreError(_UNREADABLE) from error
    if not isinstance(found, dict):
        raise StoreError(_UNREADABLE)
    return found


def time_text(moment: datetime) -> str:
    """ISO 8601 in UTC. Raises ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError("a stored time needs a zone")
    return moment.astimezone(timezone.utc).isoformat(timespec="milliseconds")


def stored_time(value: object) -> datetime | None:
    """The time of a column; None for a value that `time_text` cannot have written."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        return found if found and time_text(found) else None
    except (ValueError, OverflowError):
        return None


def believed(moment: datetime | None, now: datetime) -> datetime:
    """The time that a file gives for a message or a chat; `now` where it gives none, and where the
    time is before `EARLIEST` or after `now`."""
    return moment if moment is not None and EARLIEST <= moment <= now else now


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _plain(value: Any) -> Any:
    """JSON of a mapping that is no dict."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no place in a chat's log")
