"""Faults injected by another project (llmock), and its verdict on our client."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.errors import ContextOverflow
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.stream_events import Finish, TextDelta, ToolCallDelta

from .conftest import ASK, Answer, answer_of
from .test_client import TOOL, WITH_TOOLS, words

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock


@pytest.fixture
async def real_client() -> AsyncIterator[Client]:
    """A client that really waits, because the verdict depends on real time."""
    client = Client(Settings(timeout_seconds=5.0))
    yield client
    await client.close()


async def ask(client: Client, llmock: LLMock, request: Any = ASK) -> Answer:
    return await answer_of(client, Provider("mock", llmock.base_url(), "gpt-4o", "k"), request)


async def test_a_rate_limit_is_waited_out_politely(real_client: Client, llmock: LLMock) -> None:
    llmock.rate_limit(times=1, retry_after=0.5).reply("Hi")
    answer = await ask(real_client, llmock)
    assert words(answer.events) == "Hi"
    llmock.assert_resilient(strict=True)


async def test_a_short_failure_is_survived(real_client: Client, llmock: LLMock) -> None:
    llmock.fail(503, times=1).reply("Hi")
    assert words((await ask(real_client, llmock)).events) == "Hi"
    llmock.assert_resilient(strict=True)


async def test_a_refused_key_is_not_tried_again(real_client: Client, llmock: LLMock) -> None:
    llmock.fail(401, times=None)
    assert (await ask(real_client, llmock)).failure.code == "key_refused"
    assert len(llmock.requests) == 1


async def test_a_truncated_stream_is_not_taken_for_an_answer(
    real_client: Client, llmock: LLMock
) -> None:
    llmock.truncate(after_chunks=3).reply("one two three four five six")
    answer = await ask(real_client, llmock)
    assert answer.failure.code == "cut"
    assert any(isinstance(event, TextDelta) for event in answer.events)


async def test_a_dropped_stream_is_told(real_client: Client, llmock: LLMock) -> None:
    llmock.disconnect(after_chunks=3).reply("one two three four five six")
    assert (await ask(real_client, llmock)).failure.code == "cut"


async def test_a_corrupted_chunk_is_told(real_client: Client, llmock: LLMock) -> None:
    llmock.corrupt(after_chunks=3).reply("one two three four five six")
    assert (await ask(real_client, llmock)).failure.code == "garbage"


async def test_a_stalled_stream_is_told(llmock: LLMock) -> None:
    client = Client(Settings(timeout_seconds=0.3))
    llmock.stall(after_chunks=3, seconds=2.0).reply("one two three four five six")
    assert (await ask(client, llmock)).failure.code == "timeout"
    await client.close()


async def test_an_overflow_is_told(real_client: Client, llmock: LLMock) -> None:
    llmock.context_overflow()
    assert isinstance((await ask(real_client, llmock)).failure, ContextOverflow)


async def test_a_tool_is_called_and_broken_arguments_are_passed_on(
    real_client: Client, llmock: LLMock
) -> None:
    llmock.call_tool(TOOL["function"]["name"], {"a": 1}).break_tool_call()  # type: ignore[index]
    answer = await ask(real_client, llmock, WITH_TOOLS)
    assert [event for event in answer.events if isinstance(event, ToolCallDelta)]
    assert answer.events[-1] == Finish("tool-calls")
