"""Estimated tokens, without a tokenizer.

English prose and code run at about four characters a token; CJK and other dense scripts at about
one. The estimate errs on the high side for dense scripts, because a request that is too long fails
and one that is a little short does not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..messages.prompt import PromptMessage

CHARS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""What a message costs besides its content: role and separators (OpenAI's cookbook counts 3 to
4)."""
IMAGE_TOKENS = 800
"""About what a 1024 x 1024 image costs; sizes are not known without decoding."""
FIRST_DENSE = "\u2e80"
"""From here on a character is counted as a token: CJK, Hangul, emoji."""


def text_tokens(text: str) -> int:
    """Estimated tokens of a text; 0 for the empty text only."""
    if text.isascii():
        return -(-len(text) // CHARS_PER_TOKEN)
    dense = sum(1 for character in text if character >= FIRST_DENSE)
    return dense + -(-(len(text) - dense) // CHARS_PER_TOKEN)


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
        tokens += text_tokens(json.dumps(message.reasoning, ensure_ascii=False, default=str))
    return tokens


def schema_text(tools: tuple[Mapping[str, Any], ...]) -> str:
    """The tool schemas as the canonical text that is counted (R10)."""
    if not tools:
        return ""
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
