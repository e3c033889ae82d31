"""Formats of environment variables: the allowed text, and the value it is parsed to. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a variable.

    `takes` describes it in words that follow "must be"; `parse` turns the text into a value or
    raises ValueError or RuntimeError.
    """

    takes: str
    parse: Callable[[str], Any]


def setting(
    section: str, variable: str, default: Any, format: Format, about: str, unit: str = ""
) -> Any:
    """A field of `config.Settings` with its metadata; `unit` is that of a number, else empty."""
    metadata = {"section": section, "variable": variable, "format": format, "about": about}
    return field(default=default, metadata={**metadata, "unit": unit})


def integer(low: int, high: int) -> Format:
    """A whole number within bounds, both included."""
    takes = f"a whole number from {low} to {high:,}"
    return Format(takes, lambda text: _between(int(text), low, high))


def number(low: float, high: float) -> Format:
    """A number within bounds, both included."""
    takes = f"a number from {low:g} to {high:g}"
    return Format(takes, lambda text: _between(float(text), low, high))


def _between(value: Any, low: Any, high: Any) -> Any:
    if not low <= value <= high:  # also true for NaN
        raise ValueError(value)
    return value


def choice(*allowed: str) -> Format:
    """One of the words `allowed`, in upper or lower case."""

    def parse(text: str) -> str:
        if text.lower() not in allowed:
            raise ValueError(text)
        return text.lower()

    return Format("one of " + ", ".join(allowed), parse)


def _switch(text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError(text)


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(text)
    return text.rstrip("/")


def _list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices of a million tokens in US dollars.

    `cached` is the price of input that was read from a prompt cache, `write` of input that was
    written into it; None: the price of other input.
    """

    input: float
    cached: float
    output: float
    write: float | None = None


MOST_RATE = 100_000.0


def _rates_by_model(text: str) -> Mapping[str, Rates]:
    """Rates by model name; "" stands for any model."""
    if not text.startswith("{"):
        return {"": _rates(text)}
    body = json.loads(text)
    return {str(name): _rates(str(rates)) for name, rates in body.items()}


def _rates(text: str) -> Rates:
    read, cached, written = (_between(float(cost), 0.0, MOST_RATE) for cost in text.split("/"))
    return Rates(read, cached, written)


PRICES = Format(
    'input/cached/output such as 2.5/0.25/15, or JSON such as {"a-model": "2.5/0.25/15"}',
    _rates_by_model,
)
TEXT = Format("text", str)
SWITCH = Format("1 or 0", _switch)
URL = Format("a URL such as http://127.0.0.1:11434/v1", _url)
NAMES = Format("a list with commas", _list)
PATH = Format("a path", lambda text: Path(text).expanduser())

LONGEST_SHOWN = 60
_LIKE_A_KEY = re.compile(r"[\w-]{20,}|@")


def shown(text: str, secrets: Iterable[str] = ()) -> str:
    """The text of a variable for an error message; only its length if it may be a key, or holds one
    of the `secrets`."""
    if _LIKE_A_KEY.search(text) or any(secret in text for secret in secrets):
        return f"a text of {len(text)} characters"
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "...")


PROVIDER = "The provider"
CONTEXT = "What the model is sent"
INSTALLATION = "The installation"
MOST = 10_000_000
"""The upper bound of limits that have no natural upper bound."""


def cap(variable: str, default: int, about: str, unit: str = "bytes") -> Any:
    """A cap on what is taken from a provider, in `unit`; it cannot be switched off."""
    return setting(PROVIDER, variable, default, integer(1, 10**9), about, unit)


def mode(variable: str, options: tuple[str, ...], meaning: str) -> Any:
    """A setting of the installation with one of these values, the first by default."""
    return setting(INSTALLATION, variable, options[0], choice(*options), meaning)


def limit(variable: str, default: int, about: str, unit: str) -> Any:
    """A limit on the content of requests to the model, in `unit`; 0 switches the limit off."""
    return setting(CONTEXT, variable, default, integer(0, MOST), about, unit)


def share(variable: str, default: float, least: float, most: float, about: str) -> Any:
    return setting(CONTEXT, variable, default, number(least, most), about)
