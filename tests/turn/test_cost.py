"""The cost of requests in the report, in words, and in a message's metadata."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.assistant.context.report_words import dollars
from plugin.assistant.turn.measure import cost_in
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, text, tool_call

USAGE = {"prompt_tokens": 1_000, "completion_tokens": 100}


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path, {"LLM_PRICES": "10/1/50"}) as running:
        yield running


async def test_a_report_says_what_the_request_and_the_chat_cost(chat: Chatting) -> None:
    chat.provider.queue(text("One.", usage=USAGE))
    await chat.say("Hi")
    chat.provider.queue(
        Script([tool_call("listUserSkills")], usage=USAGE), text("Two.", usage=USAGE)
    )
    stream = await chat.say("And?")
    costs = [chunk["data"]["cost"] for chunk in stream.of("data-context")]
    assert costs[0] is None
    assert costs[1] == {"currency": "USD", "request": 0.015, "chat": 0.03}
    assert costs[3] == {"currency": "USD", "request": 0.015, "chat": 0.045}
    stored = await chat.stored()
    assert stored["messages"][-1]["metadata"]["cost"] == {"currency": "USD", "amount": 0.03}


async def test_context_says_it_in_words(chat: Chatting) -> None:
    chat.provider.queue(text("One.", usage=USAGE))
    await chat.say("Hi")
    stream = await chat.say("/context")
    assert "That request cost about $0.0150, the chat so far $0.0150." in stream.text


async def test_a_local_server_has_no_price(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue(text("One.", usage=USAGE))
        stream = await chat.say("Hi")
        assert [chunk["data"]["cost"] for chunk in stream.of("data-context")] == [None, None]
        assert "cost" not in stream.message.metadata
        assert "$" not in (await chat.say("/context")).text


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0, "$0.00"), (0.00001, "less than $0.0001"), (0.0042, "$0.0042"), (1234.5, "$1,234.50")],
)
def test_an_amount_is_said_as_people_read_it(amount: float, words: str) -> None:
    assert dollars(amount) == words


@pytest.mark.parametrize(
    "cost", [None, 3, {"amount": "3"}, {"amount": -1}, {"amount": float("nan")}, {"amount": True}]
)
def test_what_a_client_says_of_the_cost_is_checked(cost: object) -> None:
    assert cost_in({"cost": cost}) is None
