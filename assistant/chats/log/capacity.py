"""The largest size of one chat."""

from __future__ import annotations

from typing import Final

from ...errors import Refused
from ..chat import Chat

MOST_LOG_CHARS: Final = 256_000_000
"""Longest log of one chat, images included (`docs/contracts/trust-boundary.md`, rule 6)."""
FULL_RETRY_SECONDS: Final = 3600
"""A full chat stays full; `Retry-After` is there because the contract asks for it."""


def check_room(chat: Chat, added_chars: int, most_chars: int) -> None:
    """Raises Refused (`chat_full`) when the chat has no room for these characters."""
    if chat.log_chars + added_chars > most_chars:
        raise Refused(
            "This chat has reached its largest size; go on in a new chat.",
            code="chat_full",
            status=429,
            retry_after=FULL_RETRY_SECONDS,
        )
