"""Exact counts of tokens for OpenAI's models, where the package `toktok-rs` is installed.

It is optional (`pip install "toktok-rs"`, the extra `exact`) and imported when the first such model
is used. Everything else is estimated by `tokens`. OpenAI's open models are not among these: servers
put templates of their own around them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from .tokens import TextTokens

_O200K = re.compile(r"(?:gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|chatgpt-4o|o[1-9])(?![a-z])")
_CL100K = re.compile(r"(?:gpt-4|gpt-3\.5)(?![a-z\d.])")


def encoding_of(model: str) -> str | None:
    """The vocabulary of one of OpenAI's models by its name, with or without the prefix that routers
    put before it; None for any other model."""
    prefix, _, name = model.lower().rpartition("/")
    if prefix not in ("", "openai"):
        return None
    if _O200K.match(name):
        return "o200k_base"
    return "cl100k_base" if _CL100K.match(name) else None


def counter_of(model: str) -> TextTokens | None:
    """What counts the tokens of a text as the model does; None where that is not to be had."""
    encoding = encoding_of(model)
    return _counter(encoding) if encoding else None


@lru_cache(maxsize=4)
def _counter(encoding: str) -> TextTokens | None:
    try:
        import toktok

        toktok.batch_count([""], encoding)
    except Exception:  # not installed, or of a version that has no such vocabulary: estimate
        return None

    def count(text: str) -> int:
        # A lone half of a surrogate pair is no text; it is sent as its replacement character.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        (tokens,) = toktok.batch_count([clean], encoding, threads=1)
        return int(tokens)

    return count
