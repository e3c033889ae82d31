"""The model's window, the part of it that a prompt may use, and the prices of prompt tokens (R20).

All sizes are tokens; prices are relative to one token of fresh input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .tokens import TextTokens

DEFAULT_WINDOW = 32_768
"""Assumed when neither a setting nor the server gives the window; small enough for most local
servers."""
MOST_RESERVE = 4_096
"""Tokens that are kept free for an answer, where no setting says otherwise (R20)."""
MARGIN_SHARE = 0.05
"""The share of the window that is kept free for errors of the token estimate."""
COMPACT_BELOW = 16_384
"""A smaller window gets the compact system message and no LLM summaries."""


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a prompt token: `read` when it was cached, `write` when it was not."""

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
    """`tokens` is the model's window; `known` is False when it is only the default. `answer` is the
    number of tokens to keep free for the answer, `longest_answer` the number that the server may
    write; 0 where it is not set."""

    tokens: int = DEFAULT_WINDOW
    known: bool = False
    answer: int = MOST_RESERVE
    longest_answer: int = 0

    @property
    def reserve(self) -> int:
        """The tokens kept free for the answer: `answer`, at most a quarter of the window, and never
        less than the longest answer, as far as a quarter of the window is left for the prompt."""
        wanted = max(min(self.answer, self.tokens // 4), self.longest_answer)
        return min(wanted, self.tokens - self.tokens // 4)

    @property
    def margin(self) -> int:
        return int(self.tokens * MARGIN_SHARE)

    @property
    def prompt(self) -> int:
        """The tokens that system message, tools and history may have together."""
        return self.tokens - self.reserve - self.margin

    @property
    def compact(self) -> bool:
        return self.tokens < COMPACT_BELOW


def window_of(
    reported: int | None, answer: int = MOST_RESERVE, longest_answer: int | None = None
) -> Window:
    """The window of `reported` tokens, from a setting or the server; else the default. `answer` and
    `longest_answer` as in `Window`."""
    tokens = reported or DEFAULT_WINDOW
    return Window(tokens, bool(reported), answer, longest_answer or 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a plan. `alternation` says that the server requires user and assistant in
    turns. `exact` says that the window limits the messages alone, with nothing kept free. `factor`
    is the model's count of tokens divided by the estimate; `count` counts exactly, where that is
    possible (module `exact`)."""

    window: Window = field(default_factory=Window)
    alternation: bool = False
    prices: Prices = PRICES["automatic"]
    exact: bool = False
    factor: float = 1.0
    count: TextTokens | None = None

    @classmethod
    def of_messages(cls, tokens: int) -> Budget:
        """A budget that limits the messages alone: no reserve, no margin, no tools."""
        return cls(Window(tokens, known=True), exact=True)

    @property
    def prompt(self) -> int:
        return self.window.tokens if self.exact else self.window.prompt
