"""Estimated tokens, without a tokenizer.

Tokenizers work on the bytes of UTF-8. English prose and code run at about four bytes a token; other
scripts at three or fewer, which makes one token of a CJK character. The estimate errs on the high
side there, because a request that is too long fails and one that is a little short does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..messages.json_text import json_text
from ..messages.prompt import PromptMessage

CHARS_PER_TOKEN = 4
MESSAGE_TOKENS = 4
"""What a message costs besides its content: role and separators (OpenAI's cookbook counts 3 to
4)."""
IMAGE_TOKENS = 800
"""About what a 1024 x 1024 image costs; sizes are not known without decoding."""
BYTES_PER_TOKEN = 3
"""Of characters outside ASCII."""


def text_tokens(text: str) -> int:
    """Estimated tokens of a text; 0 for the empty text only."""
    if text.isascii():
        return -(-len(text) // CHARS_PER_TOKEN)
    ascii_bytes = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8", "surrogatepass")) - ascii_bytes
    return -(-ascii_bytes // CHARS_PER_TOKEN) + -(-other_bytes // BYTES_PER_TOKEN)


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
