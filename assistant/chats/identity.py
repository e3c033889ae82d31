"""Checks of ids that clients send: ids of chats and of messages.

Each id is checked where it enters, so that other code can rely on its form
(`docs/contracts/trust-boundary.md`, rule 5). The id of a chat may become a file name, such as the
name of an export, so device names are refused; the id of a message never becomes a file name.
"""

from __future__ import annotations

import re
import uuid

from ..errors import InvalidRequest

_CHAT_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_DEVICES = frozenset(
    ["CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))]
)
"""Names that Windows opens as devices, with or without an extension."""
_WORDS = frozenset(["search", "import", "subscribe", "cleanup"])
"""Paths below /chats that are no ids."""


def chat_id(text: str) -> str:
    """`text` if it may name a chat; raises InvalidRequest."""
    if not _CHAT_ID.fullmatch(text) or not text.strip("."):
        raise InvalidRequest(
            "a chat id has 1 to 128 letters, digits, dots, dashes or underscores", where="id"
        )
    if text.partition(".")[0].upper() in _DEVICES or text in _WORDS:
        raise InvalidRequest(f"{text!r} is a reserved name; choose another chat id", where="id")
    return text


def new_chat_id() -> str:
    """A new id: 32 random hexadecimal digits."""
    return f"chat-{uuid.uuid4().hex}"


def may_name_a_chat(text: str) -> bool:
    try:
        return chat_id(text) == text
    except InvalidRequest:
        return False


def message_id(text: str) -> str:
    """`text` if a database can hold it; raises InvalidRequest. `ui` checks its length."""
    if not text or not text.isprintable():
        raise InvalidRequest("a message id has printable characters only", where="id")
    return text
