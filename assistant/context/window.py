"""The model's window, what of it a prompt may use, and what reading it costs (R20).

All sizes are tokens; prices are relative to one token of fresh input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .tokens import TextTokens

DEFAULT_WINDOW = 32_768
"""Assumed where neither a setting nor the server says: small enough for most local set-ups."""
MOST_RESERVE = 4_096
"""What an answer is left at most (R20)."""
MARGIN_SHARE = 0.05
"""Kept free, because the estimate of tokens is one."""
COMPACT_BELOW = 16_384
"""Under this window the compact system message and tool set serve, and no model is asked for
summaries."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a token of the prompt costs: `read` where it was cached, `write` where it was not."""

    read: float = 1.0
    write: float = 1.0


PRICES: Mapping[str, Prices] = {
    "none": Prices(),
    "automatic": Prices(read=0.1),
    "automatic-half": Prices(read=0.5),
    "explicit": Prices(read=0.1, write=1.25),
    "local": Prices(read=0.02),
}
"""By kind of provider: no cache; automatic prefix caches at a tenth or half of the price; an
explicit cache with a dearer first write; a local server's KV cache, whose reading is nearly free.
"""


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


@dataclass(frozen=True, slots=True)
class Budget:
    """What a plan must fit. `alternation`: the server wants user and assistant in turns. `exact` is
    set when the limit is of messages alone, with nothing kept free. `factor` is the model's count
    of tokens divided by our estimate; `count` is its own count, where there is one (`exact`)."""

    window: Window = field(default_factory=Window)
    alternation: bool = False
    prices: Prices = PRICES["automatic"]
    exact: bool = False
    factor: float = 1.0
    count: TextTokens | None = None

    @classmethod
    def of_messages(cls, tokens: int) -> Budget:
        """A limit of the messages alone: no reserve, no margin, no tools."""
        return cls(Window(tokens, known=True), exact=True)

    @property
    def prompt(self) -> int:
        return self.window.tokens if self.exact else self.window.prompt
