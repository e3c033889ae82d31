"""Estimates tokens without a tokenizer.

A tokenizer cuts a text into runs (a word, some digits, punctuation, a line break) and runs into
tokens. The estimate counts the same runs. Its rates were fitted to OpenAI's o200k vocabulary over
prose, code, JSON, CJK and other scripts. It is within a few percent on a mixture of these, and errs
on the high side, because a request that is too long fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage, to_openai

TextTokens = Callable[[str], int]
"""Text -> its tokens: the estimate of this module, or an exact count (`exact`)."""

CHARS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""Tokens of a message's role and separators (OpenAI's cookbook counts 3 to 4)."""
IMAGE_TOKENS = 800
"""About the tokens of a 1024 x 1024 image; the size is not known without decoding."""

MARGIN = 1.1
"""The estimate is multiplied by this, so that a mixture of texts is hardly ever underestimated."""
LONGEST_WHOLE = 60_000
"""Characters; of a longer text only samples of this total length are counted."""
SAMPLES = 4

_LOWER, _UPPER, _DIGIT, _GAP, _BREAK, _MARK = b"aA0 n."
_LONG_WORD = re.compile(rb"a{7,}|A{7,}")
SHORTEST_BLOB = 120
_BLOB_RUN = re.compile(rb"[aA0]{%d,}" % SHORTEST_BLOB)
_DENSE_RUN = re.compile(r"[\u2e80-\U0010ffff]+")


def _class_of(code: int) -> int:
    character = chr(code)
    if character.islower():
        return _LOWER
    if character.isupper():
        return _UPPER
    if character.isdigit():
        return _DIGIT
    if character == "\n":
        return _BREAK
    return _GAP if character.isspace() or code < 32 else _MARK


_CLASSES = bytes(_class_of(code) if code < 128 else _MARK for code in range(256))
"""Maps ASCII characters to their classes, for `bytes.translate`."""


def _but(classes: bytes) -> bytes:
    """A table for `bytes.translate` that keeps `classes` and replaces all others by `-`."""
    return bytes(code if code in classes else ord("-") for code in range(256))


_WORDS, _DIGITS, _MARKS = _but(b"aA"), _but(b"0"), _but(b".")

WORD = 1.0
LETTER = 0.14
"""Each letter of a word after the sixth."""
WHOLE_WORD = 6
DIGITS = 1.3
"""Each three digits of a number, or the one or two last ones."""
LINE = 1.5
SPACE = 1.5
MARKS = 0.43
MARK = 0.23
"""A run of punctuation, and each character of it."""
DENSE = 1.1
"""A character of CJK or Hangul; between the vocabularies cl100k and o200k."""
BLOB = 0.2
"""Added for each character of base64 and similar text, which has no words."""
OTHER = 0.45
"""A letter of Cyrillic, Arabic, accented Latin and the like."""


SHORTEST_KEPT, LONGEST_KEPT = 2_000, 50_000
"""Characters of the texts whose tokens are kept: 64 of them have 3 MB at most."""


def text_tokens(text: str) -> int:
    """Estimated tokens of a text: at least a quarter of its characters; 0 only for the empty
    text."""
    if not text:
        return 0
    if SHORTEST_KEPT <= len(text) <= LONGEST_KEPT:
        return _kept_tokens(text)
    return _text_tokens(text)


@lru_cache(maxsize=64)
def _kept_tokens(text: str) -> int:
    """The same for a text that is likely to be asked about again, such as a system message."""
    return _text_tokens(text)


def _text_tokens(text: str) -> int:
    size = len(text)
    if size > LONGEST_WHOLE:
        part = LONGEST_WHOLE // SAMPLES
        step = (size - part) // (SAMPLES - 1)
        sampled = sum(_estimate(text[n * step : n * step + part]) for n in range(SAMPLES))
        estimate = sampled * size / LONGEST_WHOLE
    else:
        estimate = _estimate(text)
    return max(1, -(-size // CHARS_PER_TOKEN), round(estimate * MARGIN))


def _estimate(text: str) -> float:
    plain = text.encode("ascii", "ignore")
    classes = b"n" + plain.translate(_CLASSES)
    letters = classes.translate(_WORDS)
    words = letters.count(b"-a") + letters.count(b"-A") + letters.count(b"aA")
    numbers = classes.translate(_DIGITS).count(b"-0")
    marks = classes.translate(_MARKS).count(b"-.")
    long_words = _LONG_WORD.findall(classes)
    total = (
        WORD * words
        + LETTER * (sum(map(len, long_words)) - WHOLE_WORD * len(long_words))
        + DIGITS * (classes.count(b"0") + 1.7 * numbers) / 3
        + LINE * (classes.count(b"n") - 1)
        + SPACE * (classes.count(b".  ") + classes.count(b"a  "))
        + MARKS * marks
        + MARK * classes.count(b".")
    )
    if len(plain) >= SHORTEST_BLOB:
        total += BLOB * sum(map(len, _BLOB_RUN.findall(classes)))
    other = len(text) - len(plain)
    if other:
        dense = sum(map(len, _DENSE_RUN.findall(text)))
        total += DENSE * dense + OTHER * (other - dense)
    return total


def message_chars(message: PromptMessage) -> int:
    """The number of characters of a message's text, call names and arguments."""
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.text) + calls


def message_tokens(message: PromptMessage, count: TextTokens | None = None) -> int:
    """Tokens of a whole message. An estimate is at least a quarter of the message's characters as
    JSON, since some servers and gateways count so."""
    of = count or text_tokens
    tokens = MESSAGE_TOKENS + of(message.text)
    for call in message.tool_calls:
        tokens += MESSAGE_TOKENS + of(call.name) + of(call.arguments)
    if message.reasoning:
        tokens += of(json_text(message.reasoning))
    tokens += IMAGE_TOKENS * len(message.images)
    if message.images or count is not None:
        return tokens
    return max(tokens, len(json_text(to_openai(message))) // CHARS_PER_TOKEN + 1)


def schema_text(tools: tuple[Mapping[str, Any], ...]) -> str:
    """The tool schemas as canonical JSON, whose tokens are counted (R10)."""
    return json_text(tools) if tools else ""


@lru_cache(maxsize=64)
def schema_tokens(text: str, count: TextTokens | None = None) -> int:
    """The tokens of a schema text. Cached, since all requests of a chat have the same schemas."""
    return (count or text_tokens)(text)
