"""The event loop goes on while large values are encoded and decoded.

A task that ticks measures the longest time in which the loop did nothing else. The bounds are
generous, for a busy machine: what they forbid takes several times as long.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import time
from collections.abc import AsyncIterator, Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.config import Settings
from plugin.assistant.errors import Refused
from plugin.assistant.messages.json_reading import check_values, loads
from plugin.assistant.messages.parts import Message, TextPart
from plugin.assistant.messages.ui import message_to_ui
from plugin.assistant.routes.answers import answer
from plugin.assistant.routes.body import parse_object
from plugin.assistant.routes.guard import Gate, guarded
from plugin.assistant.sessions.event_log import EventLog
from plugin.tests.routes.site import serving, site

SLACK = 0.2
"""Seconds. A thread that computes may keep the interpreter for a few milliseconds at a time."""
SHARE = 0.3
"""On a busy machine: of the time in which the work is done in one go."""
MANY = Message("m1", "assistant", tuple(TextPart(f"word {n}") for n in range(300_000)))


class Ticks:
    longest = 0.0


@contextlib.asynccontextmanager
async def ticking() -> AsyncIterator[Ticks]:
    ticks = Ticks()

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            ticks.longest = max(ticks.longest, now - last)
            last = now

    task = asyncio.create_task(tick())
    await asyncio.sleep(0.05)
    ticks.longest = 0.0
    try:
        yield ticks
        await asyncio.sleep(0.01)
    finally:
        task.cancel()


def bound(work: Callable[[], object]) -> float:
    """The longest time that the loop may stand still, for work that takes as long as `work`."""
    begun = time.perf_counter()
    work()
    return max(SLACK, SHARE * (time.perf_counter() - begun))


async def test_a_page_with_a_huge_message_is_encoded_beside_the_loop() -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        return answer({"messages": (MANY,)})

    gate = Gate(Settings())
    async with serving(web.RouteDef("GET", "/x", guarded(handler, gate), {})) as client:  # noqa: SIM117
        async with ticking() as ticks, client.get("/api/x") as response:
            content = b"".join([piece async for piece in response.content.iter_any()])
            longest = ticks.longest
    body = json.loads(content)
    assert len(body["messages"][0]["parts"]) == len(MANY.parts)
    assert longest < bound(lambda: json.dumps(message_to_ui(MANY)))


async def test_a_huge_event_is_encoded_beside_the_loop_and_in_its_place() -> None:
    events = EventLog("e1", {"chat_id": "c1"})
    got: list[bytes] = []

    async def read() -> None:
        async for piece in events.follow(0):
            got.append(piece or b"")

    async with ticking() as ticks:
        reading = asyncio.create_task(read())
        await asyncio.sleep(0)
        events.add("thread_updated", {"n": 1})
        events.add("message_added", {"message": MANY, "after": None})
        events.add("thread_updated", {"n": 2})
        events.end("")
        await reading
    content = b"".join(got).decode()
    numbers = [line[4:] for line in content.split("\n") if line.startswith("id: ")]
    assert numbers == ["1", "2", "3"]
    data = json.loads(content.split("\n\n")[1].split("\ndata: ")[1])
    assert data["message"] == message_to_ui(MANY)
    assert ticks.longest < bound(lambda: json.dumps(message_to_ui(MANY)))


def test_a_huge_event_that_nobody_reads_is_not_kept() -> None:
    events = EventLog("e1", {"chat_id": "c1"})
    events.add("thread_updated", {"n": 1})
    events.add("message_added", {"message": MANY, "after": None})
    assert events._events == [] and events._size == 0
    assert events.seq == 2 and events.holds(2) and not events.holds(1)


async def test_what_all_readers_have_is_kept_within_the_limit() -> None:
    events = EventLog("e1", {}, most_bytes=1_000_000)
    text = "x" * 2_000_000
    with events.reader(0) as reader:
        for _ in range(8):
            events.add("thread_updated", {"text": text})
        following = events.follow(reader, silence=5)
        size = 0
        while reader.seq < events.seq:
            piece = await anext(following)
            size += len(piece or b"")
        assert size > 8 * len(text)
    assert events._size <= len(text) + 200


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": [' + b"[]," * 10_000_000 + b"0]}",
        b'{"a": [' + b"1," * 10_000_000 + b"0]}",
        b'{"a": [' + b'"",' * 7_000_000 + b"0]}",
        b'{"a": ' + b'"' * 20_000_001 + b"}",
        b'{"a": "\\\\", "b": [' + b"[]," * 1_000_000 + b"0]}",
    ],
    ids=["lists", "numbers", "strings", "quotes", "after an escape"],
)
def test_a_body_of_too_many_values_is_refused_before_it_is_parsed(
    content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parse(*_: Any, **__: Any) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(json, "loads", parse)
    with pytest.raises(Refused) as refused:
        parse_object(content)
    assert (refused.value.status, refused.value.code) == (413, "too_large")


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"content": json.dumps([[], {}, ","] * 900_000)}),
        json.dumps({"text": 'a, b [c] {d} \\ " ' * 1_000_000}),
        json.dumps([0] * 1_900_000),
        json.dumps([[]] * 390_000),
    ],
    ids=["JSON in a string", "prose", "numbers", "lists"],
)
def test_what_stands_in_strings_does_not_count(text: str) -> None:
    check_values(text)


def test_the_collector_of_garbage_stays_away_while_a_text_is_decoded() -> None:
    begun: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            begun.append(len(begun))

    text = json.dumps([[number] for number in range(600_000)])
    gc.collect()
    gc.callbacks.append(note)
    try:
        assert len(loads(text)) == 600_000
    finally:
        gc.callbacks.remove(note)
    assert not begun
    assert gc.isenabled()


async def test_a_large_body_is_decoded_beside_the_loop(tmp_path: Path) -> None:
    words = {str(number): [number, str(number)] for number in range(300_000)}
    body = json.dumps({"message": {"id": "u1", "role": "user"}, "workflow": {"graph": words}})
    headers = {"Content-Type": "application/json"}
    async with site(tmp_path) as ours, ticking() as ticks:
        sent = BytesIO(body.encode())
        async with ours.client.post("/api/chat", data=sent, headers=headers) as response:
            assert response.status == 400, await response.text()
        longest = ticks.longest
    assert longest < 0.3 + 2 * bound(lambda: json.loads(body))


async def test_a_body_of_many_lists_is_refused_over_http(tmp_path: Path) -> None:
    body = b'{"message": [' + b"[]," * 3_000_000 + b"0]}"
    headers = {"Content-Type": "application/json"}
    async with site(tmp_path) as ours:
        async with ours.client.post("/api/chat", data=BytesIO(body), headers=headers) as response:
            assert response.status == 413
            assert (await response.json())["error"]["code"] == "too_large"
        content = "[" + "[]," * 3_000_000 + "0]"
        given = {"format": "trajectory", "content": content}
        sent = BytesIO(json.dumps(given).encode())
        async with ours.client.post("/api/chats/import", data=sent, headers=headers) as response:
            assert response.status == 413
