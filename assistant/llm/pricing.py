"""What a request cost in US dollars, where that is known.

Prices are data with a date and a source (`prices.json`): of a host's own models, by their names.
They change, and then ours are wrong; `LLM_PRICES` says better. A model that is not there has no
price, and a server of the user's own costs nothing that we know of: no money is shown for either.
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
"""A version of a model, which costs what the model does."""


def cost_of(
    provider: Provider, usage: Usage | None, given: Mapping[str, Rates] | None = None
) -> float | None:
    """US dollars for one request; None where its tokens or their price are not known. `given` are
    the user's own prices, by the name of a model, "" for any."""
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
    # A prompt that is longer has another price.
    if row is None or input_tokens > row.get("up_to", input_tokens):
        return None
    return Rates(row["input"], row["cached"], row["output"], row.get("write"))


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Host -> model -> prices."""
    hosts: Mapping[str, Mapping[str, Mapping[str, float]]]
    hosts = json.loads(FILE.read_text(encoding="utf-8"))["hosts"]
    return hosts
