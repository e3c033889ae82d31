"""Of many turns that begin together, few are prepared at a time; they begin before others end."""

import asyncio

import pytest
from plugin.assistant.turn import turn_places
from plugin.assistant.turn.turn_places import BEGIN_AT_ONCE, Places
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script

LONG = 60.0
"""Seconds; a test that waits for them fails."""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_places, "LONGEST_WAIT", LONG)
    monkeypatch.setattr(turn_places, "LONGEST_BEGIN", LONG)


async def test_a_turn_begins_when_another_has_begun() -> None:
    places = Places(100)
    first, *_ = [await places.begin() for _ in range(BEGIN_AT_ONCE)]
    left, next_one, last = [asyncio.create_task(places.begin()) for _ in range(3)]
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.wait([left])
    assert not next_one.done()
    first()
    first()  # Only the first call counts.
    await next_one
    await asyncio.sleep(0)
    assert not last.done()
    last.cancel()


async def test_no_turn_waits_long_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places(100)
    for _ in range(BEGIN_AT_ONCE):
        await places.begin()
    monkeypatch.setattr(turn_places, "LONGEST_WAIT", 0.0)
    begun = await places.begin()
    begun()
    monkeypatch.setattr(turn_places, "LONGEST_WAIT", 0.01)
    await places.begin()


async def test_a_turn_that_takes_long_to_begin_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turn_places, "LONGEST_BEGIN", 0.0)
    places = Places(100)
    for _ in range(3 * BEGIN_AT_ONCE):
        await places.begin()


async def test_a_turn_has_begun_when_its_request_is_made(chat: Chatting) -> None:
    """The provider's own time counts for nothing, and neither does a turn that is refused."""
    names = [f"go {number}" for number in range(BEGIN_AT_ONCE + 2)]
    for _ in range(BEGIN_AT_ONCE):
        assert (await chat.post({"id": "no", "trigger": "regenerate-message"})).status == 400
    chat.provider.queue(*(Script([{"text": "a"}, {"wait": name}]) for name in names))
    saying = [asyncio.create_task(chat.say("Hi", chat=f"c{name[3:]}")) for name in names]
    for name in names:
        await chat.provider.reached(name)
    for name in names:
        chat.provider.release(name)
    assert {stream.text for stream in await asyncio.gather(*saying)} == {"a"}


async def test_an_answer_ends_when_the_turns_that_wait_have_begun() -> None:
    places = Places(100)
    await places.after_beginnings()  # Nobody waits.
    first, *_ = [await places.begin() for _ in range(BEGIN_AT_ONCE)]
    await places.after_beginnings()
    left, stays = [asyncio.create_task(places.begin()) for _ in range(2)]
    await asyncio.sleep(0)
    ending = asyncio.create_task(places.after_beginnings())
    left.cancel()
    await asyncio.wait([left])
    assert not ending.done()
    first()
    await stays
    await asyncio.wait_for(ending, 10)


async def test_an_answer_ends_when_the_turn_that_waits_is_given_up() -> None:
    places = Places(100)
    for _ in range(BEGIN_AT_ONCE):
        await places.begin()
    waiting = asyncio.create_task(places.begin())
    await asyncio.sleep(0)
    ending = asyncio.create_task(places.after_beginnings())
    await asyncio.sleep(0)
    assert not ending.done()
    waiting.cancel()
    await asyncio.wait_for(ending, 10)


async def test_the_whole_text_is_there_before_the_end_waits(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = asyncio.Event()

    async def held(places: Places) -> None:
        await may_end.wait()

    monkeypatch.setattr(Places, "after_beginnings", held)
    chat.provider.queue(Script([{"text": "whole"}]))
    body = {"id": "c1", "message": chat.user("Hi")}
    async with chat.client.post("/api/chat", json=body) as response:
        seen = b""
        while b"text-end" not in seen:
            seen += await response.content.readline()
        assert b"whole" in seen
        assert b'"finish"' not in seen
        may_end.set()
        assert b'"finish"' in await response.content.read()
