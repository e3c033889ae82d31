"""The system message of a request, with the facts that its report needs (R1-R3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SystemKind = Literal["full", "continuation", "compact", "client"]


@dataclass(frozen=True, slots=True)
class SystemText:
    """A system message. `user_context_chars` are the characters of the user context in it, `limits`
    the settings that shortened it, and `left_out` the names of the sections that were left out."""

    text: str
    kind: SystemKind
    user_context_chars: int = 0
    limits: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
