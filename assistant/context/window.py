"""The model's window and what of it a prompt may use (R20, design: Windows). All in tokens."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_WINDOW = 32_768
"""Assumed where neither a setting nor the server says: small enough for most local set-ups."""
MOST_RESERVE = 4_096
"""What an answer is left at most (R20)."""
MARGIN_SHARE = 0.05
"""Kept free, because the estimate of tokens is one."""
COMPACT_BELOW = 16_384
"""Under this window the compact system message and tool set serve (design: Windows)."""


@dataclass(frozen=True, slots=True)
class Window:
    """`tokens` is the model's window; `known` is False when it is only the default."""

    tokens: int = DEFAULT_WINDOW
    known: bool = False

    @property
    def reserve(self) -> int:
        """What stays free for the answer: a quarter of the window, at most 4096."""
        return min(MOST_RESERVE, self.tokens // 4)

    @property
    def margin(self) -> int:
        return int(self.tokens * MARGIN_SHARE)

    @property
    def prompt(self) -> int:
        """What system message, tools and history may have together."""
        return self.tokens - self.reserve - self.margin

    @property
    def compact(self) -> bool:
        return self.tokens < COMPACT_BELOW


def window_of(reported: int | None) -> Window:
    """The window that a setting or the server gives, else the default."""
    return Window(reported, known=True) if reported else Window()
