"""How far our estimate of tokens is from a model's own count, learned from its usage. Pure.

Each model has its own tokenizer and its own chat template around the messages. The factor moves
slowly and stays within bounds, so that one odd count (a cache that reports only what is new, say)
changes little. It is rounded, so that limits do not move with every request.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

SLOWNESS = 0.25
"""The share of a new observation in the factor."""
LEAST, MOST = 0.6, 1.6
"""Bounds of the factor; beyond them the count is of something else."""
STEP = 0.05
LEAST_TOKENS = 200
"""Smaller requests say little: the template's own tokens weigh too much in them."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """`learned` is the model's count divided by ours, over its requests so far."""

    learned: float = 1.0

    @property
    def factor(self) -> float:
        """What to multiply an estimate with."""
        return round(round(self.learned / STEP) * STEP, 2)

    def with_count(self, estimated: int, counted: int | None) -> Calibration:
        """The calibration after a request; unchanged where the provider did not count."""
        if counted is None or estimated < LEAST_TOKENS:
            return self
        seen = counted / estimated
        if not LEAST <= seen <= MOST:
            return self
        return replace(self, learned=self.learned + SLOWNESS * (seen - self.learned))
