"""Talking to LLM servers: the only code that knows the openai client.

Importing this package does not import `openai`; the first request does.
"""

from .client import Client
from .events import (
    Event,
    Finish,
    FinishReason,
    ModelName,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from .provider import Provider
from .reasoning import merge_reasoning_blocks
from .request import LLMRequest

__all__ = [
    "Client",
    "Event",
    "Finish",
    "FinishReason",
    "LLMRequest",
    "ModelName",
    "Notice",
    "Provider",
    "ReasoningDelta",
    "TextDelta",
    "ToolCallDelta",
    "ToolCallStart",
    "Usage",
    "merge_reasoning_blocks",
]
