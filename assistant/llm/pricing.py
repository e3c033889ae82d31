"""The cost of a request in US dollars, where the prices are known.

`prices.json` holds prices by host and model name, with date and source. Prices change; the setting
`LLM_PRICES` overrides the file. Without a price, as for a local server, there is no cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from ..formats import Rates
from .provider import Provider
from .stream_events import Usage

FILE = Path(__file__).with_name("prices.json")
PER_TOKENS = 1_000_000
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})\Z")
"""The date in the name of a model's version, which costs the same as the model."""


def cost_of(
    provider: Provider, usage: Usage | None, given: Mapping[str, Rates] | None = None
) -> float | None:
    """US dollars for one request; None if its tokens or their prices are not known.

    `given` are the prices of `LLM_PRICES` by model name; "" stands for any model.
    """
    if usage is None or usage.input_tokens is None:
        return None
    rates = _given(provider.model, given or {}) or _known(provider, usage.input_tokens)
    if rates is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    written = min(usage.written_tokens or 0, usage.input_tokens - cached)
    fresh = usage.input_tokens - cached - written
    write = rates.input if rates.write is None else rates.write
    costs = (
        fresh * rates.input,
        cached * rates.cached,
        written * write,
        (usage.output_tokens or 0) * rates.output,
    )
    return sum(costs) / PER_TOKENS


def _given(model: str, given: Mapping[str, Rates]) -> Rates | None:
    return given.get(model) or given.get("")


def _known(provider: Provider, input_tokens: int) -> Rates | None:
    host = urlsplit(provider.base_url).hostname or ""
    name = _DATED.sub("", provider.model.removeprefix("models/"))
    row = _table().get(host, {}).get(name)
    # Longer prompts have another price, which the file does not hold.
    if row is None or input_tokens > row.get("up_to", input_tokens):
        return None
    return Rates(row["input"], row["cached"], row["output"], row.get("write"))


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Prices by host and model name, in US dollars for a million tokens."""
    hosts: Mapping[str, Mapping[str, Mapping[str, float]]]
    hosts = json.loads(FILE.read_text(encoding="utf-8"))["hosts"]
    return hosts
