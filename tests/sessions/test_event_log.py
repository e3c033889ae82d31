"""The log of events: numbers, readers, and readers that are too slow."""

import asyncio
import gc
from typing import Any

import pytest
from plugin.assistant.sessions.event_log import DELETED, NEWEST, EventLog, new_epoch
from plugin.tests.memory import held_bytes

from .stage import events_in


def log(**limits: int) -> EventLog:
    return EventLog("e1", {"chat_id": "c1"}, **limits)


async def all_after(events: EventLog, seq: int) -> list[dict[str, Any]]:
    """The events that a reader after `seq` gets, up to now."""
    found: list[dict[str, Any]] = []
    async for piece in events.follow(seq, silence=0):
        if piece is None:
            break
        found += events_in(piece)
    return found


async def test_each_event_has_the_next_number_and_says_what_it_is_about() -> None:
    events = log()
    for word in ("a", "b", "c"):
        events.add("thread_updated", {"word": word})
    assert [event["seq"] for event in await all_after(events, 0)] == [1, 2, 3]
    assert (await all_after(events, 2)) == [
        {"seq": 3, "type": "thread_updated", "chat_id": "c1", "epoch": "e1", "word": "c"}
    ]


async def test_every_number_can_be_replayed_from() -> None:
    events = log()
    for number in range(1, 30):
        events.add("thread_updated", {"n": number})
    for seen in range(30):
        assert [event["n"] for event in await all_after(events, seen)] == list(range(seen + 1, 30))


async def test_what_comes_later_reaches_every_reader() -> None:
    events = log()
    got: list[list[int]] = [[], [], []]

    async def read(into: list[int]) -> None:
        async for piece in events.follow(0):
            assert piece is not None
            into += [event["n"] for event in events_in(piece) if event["type"] == "thread_updated"]

    readers = [asyncio.create_task(read(into)) for into in got]
    for number in range(5):
        events.add("thread_updated", {"n": number})
        await asyncio.sleep(0)
    assert events.readers == 3
    events.end("")
    await asyncio.gather(*readers)
    assert got == [[0, 1, 2, 3, 4]] * 3
    assert events.readers == 0


async def test_a_reader_that_falls_behind_is_cut_off_with_the_reason() -> None:
    events = log(most_events=8)
    slow = events.follow(0)
    events.add("thread_updated", {"n": 0})
    first = await anext(slow)
    assert first is not None
    for number in range(20):
        events.add("thread_updated", {"n": number})
    last = await anext(slow)
    assert last is not None
    assert events_in(last) == [{"type": "closed", "reason": "too_slow"}]
    assert [piece async for piece in slow] == []
    assert not events.holds(1)
    assert events.holds(events.seq)


async def test_memory_is_bounded_by_bytes_but_the_newest_event_is_always_there() -> None:
    events = log(most_bytes=1_000)
    for _ in range(200):
        events.add("thread_updated", {"word": "x" * 100})
    assert len(events._events) <= NEWEST + 1
    events.add("thread_updated", {"word": "y" * 5_000})
    [event] = await all_after(events, events.seq - 1)
    assert event["word"] == "y" * 5_000


@pytest.mark.parametrize("read", [False, True])
async def test_the_bytes_of_small_events_are_those_that_they_hold(read: bool) -> None:
    most = 1_000_000
    events = log(most_bytes=most, most_events=1_000_000)
    for number in range(20_000):
        chunk = {"type": "text-delta", "id": f"text-{number // 40}", "delta": f"word-{number} "}
        events.add("stream_delta", {"message_id": f"msg-{number // 40}", "chunk": chunk})
        if read:
            assert await all_after(events, events.seq - 1)
    assert most / 4 < held_bytes(events._events) < 1.1 * most


async def test_a_log_that_was_let_go_of_goes_on_with_the_next_number() -> None:
    events = log()
    for number in range(3):
        events.add("thread_updated", {"n": number})
    events.let_go()
    assert events._events == [] and not events.holds(2) and events.holds(3)
    events.add("thread_updated", {"n": 3})
    assert [event["n"] for event in await all_after(events, 3)] == [3]


async def test_a_log_that_is_read_lets_nothing_go() -> None:
    events = log()
    events.add("thread_updated", {"n": 0})
    with events.reader(0):
        events.let_go()
        assert [event["n"] for event in await all_after(events, 0)] == [0]


async def test_an_event_with_an_image_reaches_a_reader_after_the_next_event() -> None:
    events = log(most_bytes=1_000)
    events.add("thread_updated", {"word": "before"})
    reading = events.follow(0, silence=0)
    assert await anext(reading)
    events.add("thread_updated", {"word": "y" * 5_000})
    events.add("thread_updated", {"word": "after"})
    piece = await anext(reading)
    assert piece is not None
    assert [event.get("seq") for event in events_in(piece)] == [2, 3]


async def test_a_number_of_another_time_is_not_held() -> None:
    events = log()
    events.add("thread_updated", {})
    assert not events.holds(2)
    assert events.holds(0)


async def test_an_end_is_told() -> None:
    events = log()
    events.add("thread_updated", {"n": 1})
    events.end(DELETED)
    assert (await all_after(events, 0))[-1] == {"type": "closed", "reason": "deleted"}


def test_epochs_differ() -> None:
    assert new_epoch() != new_epoch()


async def test_a_flood_of_deltas_leaves_nothing_to_the_collector_of_garbage() -> None:
    """What the collector walks through makes it look at everything in the process, again and
    again."""
    events = log()
    await all_after(events, 0)
    gc.collect()
    before = len(gc.get_objects())
    for number in range(2_000):
        chunk = {"type": "text-delta", "id": "s1-0", "delta": f"word {number} "}
        events.add("stream_delta", {"message_id": "m1", "chunk": chunk})
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    [*_, last] = await all_after(events, 0)
    assert last == {
        "seq": 2_000,
        "type": "stream_delta",
        "chat_id": "c1",
        "epoch": "e1",
        "message_id": "m1",
        "chunk": {"type": "text-delta", "id": "s1-0", "delta": "word 1999 "},
    }
