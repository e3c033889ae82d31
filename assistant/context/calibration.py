"""The factor from estimated tokens to a model's own count, learned from the usage it reports. Pure.

Each model has its own tokenizer and its own chat template around the messages. The factor changes
slowly and stays within bounds, so that one wrong count (such as a cache that reports only new
tokens) changes little. It is rounded, so that limits do not change with every request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

SLOWNESS = 0.25
"""The share of a new count in the factor."""
LEAST, MOST = 0.6, 1.6
"""Bounds of the factor; a count beyond the bounds was not made of the same messages."""
STEP = 0.05
LEAST_TOKENS = 200
"""Smaller requests are ignored: the chat template's own tokens are too large a part of them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """`learned` is the model's count divided by ours, over its requests so far."""

    learned: float = 1.0

    @property
    def factor(self) -> float:
        """The factor by which to multiply an estimate."""
        return round(round(self.learned / STEP) * STEP, 2)

    def with_count(self, estimated: int, counted: int | None) -> Calibration:
        """The calibration after a request of `estimated` tokens; unchanged without a provider's
        count."""
        if counted is None or estimated < LEAST_TOKENS:
            return self
        seen = counted / estimated
        if not LEAST <= seen <= MOST:
            return self
        return replace(self, learned=self.learned + SLOWNESS * (seen - self.learned))
