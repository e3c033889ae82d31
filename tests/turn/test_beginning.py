"""Of many turns that begin together, few are prepared at a time."""

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
