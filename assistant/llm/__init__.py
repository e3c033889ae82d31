"""Talking to LLM servers: the only code that knows the openai client.

Importing this package does not import `openai`; the first request does.
"""

from .book import ProviderBook, provider_from
from .check import check
from .client import Client
from .discovery import Discovery, UsualPort
from .models import Model
from .provider import Provider
from .reasoning import merge_reasoning_blocks
from .request import LLMRequest
from .resolver import Resolver, silently_cut
from .stream_events import (
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

__all__ = [
    "Client",
    "Discovery",
    "Event",
    "Finish",
    "FinishReason",
    "LLMRequest",
    "Model",
    "ModelName",
    "Notice",
    "Provider",
    "ProviderBook",
    "ReasoningDelta",
    "Resolver",
    "TextDelta",
    "ToolCallDelta",
    "ToolCallStart",
    "Usage",
    "UsualPort",
    "check",
    "merge_reasoning_blocks",
    "provider_from",
    "silently_cut",
]
