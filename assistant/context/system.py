"""Which system message a request gets (R1-R3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SystemKind = Literal["full", "continuation", "compact", "client"]


@dataclass(frozen=True, slots=True)
class SystemText:
    """A system message with what its report needs: the share of the user context in characters,
    the limits that were applied to it and the names of what was left out."""

    text: str
    kind: SystemKind
    user_context_chars: int = 0
    limits: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
