"""Exact counts of tokens for OpenAI's models, if the package `toktok-rs` is installed.

The package is optional (`pip install "toktok-rs"`, the extra `exact`) and imported when the first
such model is used. For all other models `tokens` estimates. OpenAI's open models are estimated,
too, since servers put chat templates of their own around the messages."""

from __future__ import annotations

import re
from functools import lru_cache

from .tokens import TextTokens

_O200K = re.compile(r"(?:gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|chatgpt-4o|o[1-9])(?![a-z])")
_CL100K = re.compile(r"(?:gpt-4|gpt-3\.5)(?![a-z\d.])")


def encoding_of(model: str) -> str | None:
    """The name of the vocabulary of an OpenAI model; None for any other model. The model's name may
    have the prefix `openai/`, which routers add."""
    prefix, _, name = model.lower().rpartition("/")
    if prefix not in ("", "openai"):
        return None
    if _O200K.match(name):
        return "o200k_base"
    return "cl100k_base" if _CL100K.match(name) else None


def counter_of(model: str) -> TextTokens | None:
    """A function that counts the tokens of a text as the model does; None when there is no exact
    count for the model."""
    encoding = encoding_of(model)
    return _counter(encoding) if encoding else None


@lru_cache(maxsize=4)
def _counter(encoding: str) -> TextTokens | None:
    try:
        import toktok

        toktok.batch_count([""], encoding)
    except Exception:  # not installed, or without this vocabulary: estimate
        return None

    def count(text: str) -> int:
        # Lone surrogates are sent as replacement characters.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        (tokens,) = toktok.batch_count([clean], encoding, threads=1)
        return int(tokens)

    return count
