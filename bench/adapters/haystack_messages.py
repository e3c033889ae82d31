"""Converts OpenAI messages to haystack's and back, and runs a compactor anew for each request."""

from typing import Any

from harness import Row, serve
from haystack.dataclasses import ChatMessage
from haystack.token_counters import ApproximateTokenCounter


def into(history: list[Row]) -> list[ChatMessage]:
    filled = [{**row, "content": row.get("content") or ""} for row in history]
    return [ChatMessage.from_openai_dict_format(row) for row in filled]


def back(messages: list[ChatMessage]) -> list[Row]:
    return [message.to_openai_dict_format() for message in messages]


def serve_compactor(compactor: Any) -> None:
    counter = ApproximateTokenCounter()

    def trim(history: list[ChatMessage], limit: int) -> list[ChatMessage]:
        return compactor.compact(history, limit, counter) or history

    serve(trim, into, back)
