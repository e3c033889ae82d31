"""The fixed rule for shortening a request that many assistants use, as a reference for the engine.

The rule sends the full system message on the first turn, and one sentence on later turns; a
placeholder instead of the results before the last 2 rounds; and the last 24 messages, without a
first message that is a result without its call. The rule has no token limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plugin.agent_prompts import CONTINUATION
from plugin.bench.measures import Messages

KEPT_ROUNDS = 2
KEPT_MESSAGES = 24
OMITTED = '{"_omitted": true, "note": "Earlier tool result omitted to save context"}'


def request(history: Messages) -> list[Mapping[str, Any]]:
    """The messages that the rule sends after `history`; system messages of `history` stay."""
    rounds = [at for at, message in enumerate(history) if message.get("tool_calls")]
    kept_from = rounds[-KEPT_ROUNDS] if len(rounds) >= KEPT_ROUNDS else 0
    replaced = [
        {**message, "content": OMITTED} if message["role"] == "tool" and at < kept_from else message
        for at, message in enumerate(history)
    ]
    system = [message for message in replaced if message["role"] == "system"]
    rest = [message for message in replaced if message["role"] != "system"][-KEPT_MESSAGES:]
    if rest and rest[0]["role"] == "tool":
        rest = rest[1:]
    return [*system, *rest]


def request_with_rules(history: Messages, full: str) -> list[Mapping[str, Any]]:
    """The request with a system message: `full` while no assistant message stands before the last
    user message, then the continuation."""
    spoken = [message for message in history if message["role"] != "system"]
    users = [at for at, message in enumerate(spoken) if message["role"] == "user"]
    before = spoken[: users[-1]] if users else []
    first_turn = not any(message["role"] == "assistant" for message in before)
    text = full if first_turn else CONTINUATION
    return [{"role": "system", "content": text}, *request(spoken)]
