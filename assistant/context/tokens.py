"""Estimated tokens, without a tokenizer.

A tokenizer cuts a text into runs (a word, some digits, punctuation, a line break) and runs into
tokens. The estimate counts the same runs. Its rates were fitted to OpenAI's o200k vocabulary over
prose, code, JSON, CJK and other scripts; it is within a few percent on a mixture, and errs on the
high side, because a request that is too long fails and one that is a little short does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage

CHARS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""What a message costs besides its content: role and separators (OpenAI's cookbook counts 3 to
4)."""
IMAGE_TOKENS = 800
"""About what a 1024 x 1024 image costs; sizes are not known without decoding."""

MARGIN = 1.08
"""The estimate is raised by this much, so that a mixture of texts is hardly ever underestimated."""
LONGEST_WHOLE = 60_000
"""Characters; of longer texts samples are counted, so that a giant costs no more than this."""
SAMPLES = 4

_RUN = re.compile(
    r"(?P<word>[A-Z]?[a-z]+|[A-Z]+)|(?P<digits>[0-9]+)|(?P<line>\n\s*)|(?P<space>[ \t]{2,})"
    r"|(?P<other>[^\x00-\x7f]+)|(?P<marks>[^A-Za-z0-9\s\x80-\U0010ffff]+)"
)
_WHOLE_WORD = 6
"""Letters; a longer word is more than one token more and more often."""
_RATES = {"word": 1.0, "letter": 0.14, "digits": 1.3, "line": 1.5, "space": 1.5}
_MARKS = (0.43, 0.23)
"""A run of punctuation, and each character of it."""
_FIRST_DENSE = "\u2e80"
_DENSE = 1.1
"""A character of CJK or Hangul; between the vocabularies cl100k and o200k."""
_OTHER = 0.45
"""A letter of Cyrillic, Arabic, accented Latin and the like."""

Count = Callable[[str], int]


def text_tokens(text: str) -> int:
    """Estimated tokens of a text; 0 for the empty text only, and never under a quarter of its
    characters."""
    if not text:
        return 0
    size = len(text)
    if size > LONGEST_WHOLE:
        part = LONGEST_WHOLE // SAMPLES
        step = (size - part) // (SAMPLES - 1)
        sampled = sum(_estimate(text[n * step : n * step + part]) for n in range(SAMPLES))
        estimate = sampled * size / LONGEST_WHOLE
    else:
        estimate = _estimate(text)
    return max(1, -(-size // CHARS_PER_TOKEN), int(estimate * MARGIN) + 1)


def _estimate(text: str) -> float:
    total = 0.0
    for run in _RUN.finditer(text):
        kind = run.lastgroup
        length = run.end() - run.start()
        if kind == "word":
            total += _RATES["word"] + _RATES["letter"] * max(0, length - _WHOLE_WORD)
        elif kind == "digits":
            total += _RATES["digits"] * -(-length // 3)
        elif kind == "marks":
            total += _MARKS[0] + _MARKS[1] * length
        elif kind == "other":
            dense = sum(1 for character in run.group() if character >= _FIRST_DENSE)
            total += _DENSE * dense + _OTHER * (length - dense)
        else:
            total += _RATES[str(kind)]
    return total


def message_chars(message: PromptMessage) -> int:
    """Characters of a message that the model reads: text, call names and arguments."""
    calls = sum(len(call.name) + len(call.arguments) for call in message.tool_calls)
    return len(message.text) + calls


def message_tokens(message: PromptMessage) -> int:
    """Estimated tokens of a whole message."""
    tokens = MESSAGE_TOKENS + text_tokens(message.text) + IMAGE_TOKENS * len(message.images)
    for call in message.tool_calls:
        tokens += MESSAGE_TOKENS + text_tokens(call.name) + text_tokens(call.arguments)
    if message.reasoning:
        tokens += text_tokens(json_text(message.reasoning))
    return tokens


def schema_text(tools: tuple[Mapping[str, Any], ...]) -> str:
    """The tool schemas as the canonical text that is counted (R10)."""
    return json_text(tools) if tools else ""


@lru_cache(maxsize=64)
def schema_tokens(text: str) -> int:
    """The tokens of a schema text: the same in every request of a chat."""
    return text_tokens(text)
