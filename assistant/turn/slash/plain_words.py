"""Plain words that are a slash command where the answer before them makes that clear: "forget that"
below what was remembered. Pure.

Below an answer that only used something they may mean anything, so they are for the model, which is
told what the user types to forget it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...messages.origin import is_event
from ...messages.parts import DataPart, Message
from ..chat_memories import KEPT
from .slash_commands import Slash

_FORGET: Final = frozenset(
    (
        *("forget that", "forget it", "forget this"),
        *("vergiss das", "vergiss es", "vergiss das wieder"),
        *("oublie ça", "oublie ca", "oublie cela", "oublie-le"),
        *("olvida eso", "olvida esto", "olvídalo", "olvidalo"),
        *("забудь это", "забудь об этом"),
        *("忘记这个", "忘记它", "忘掉这个", "忘掉它", "忘了这个", "忘了它", "忘記這個", "忘掉這個"),
        *("それを忘れて", "それは忘れて", "これを忘れて", "これは忘れて", "忘れて"),
        *("그거 잊어줘", "그건 잊어줘", "그것을 잊어줘", "이건 잊어줘", "잊어줘", "잊어버려"),
    )
)
"""The whole message, without polite words, in the languages that are looked through for what to
remember."""
_POLITE: Final = re.compile(
    r"[\s,.!。！…]|\b(?:please|okay|ok|no|bitte|por favor|пожалуйста)\b"
    r"|\bs'il (?:te|vous) pla[iî]t\b|[请請]|ください|주세요"
)

LONGEST: Final = 200
"""Characters of such words, polite ones included; longer messages are not looked through."""


def command_in_words(text: str, before: Sequence[Message]) -> Slash | None:
    """The command that a message means after the messages `before`; None for other text."""
    if len(text) > LONGEST:
        return None
    said = " ".join(_POLITE.sub(" ", text.casefold().replace("’", "'")).split())
    if said not in _FORGET:
        return None
    last = next((message for message in reversed(before) if not is_event(message)), None)
    return Slash("forget", "that") if last is not None and _tells_of_memory(last) else None


def _tells_of_memory(answer: Message) -> bool:
    """Whether an answer shows what was remembered or forgotten."""
    shown = any(isinstance(part, DataPart) and part.name == KEPT for part in answer.parts)
    return answer.role == "assistant" and (
        shown or answer.metadata.get("command") in ("remember", "forget")
    )
