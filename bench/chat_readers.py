"""Events per second that reach the readers of a chat, and the RAM that a chat takes."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from plugin.assistant.messages.parts import Message, TextPart
from plugin.assistant.sessions.event_log import EventLog, new_epoch
from plugin.assistant.space import UserSpace
from plugin.assistant.turn.turn_request import TurnRequest
from plugin.tests.chatting import ASSISTANT, app_of
from plugin.tests.providers import Script, ScriptedProvider

EVENTS = 20_000
AT_ONCE = 50
"""Events between two yields to the event loop: as many as a fast model sends in a few
milliseconds."""
DELTA = {"message_id": "m1", "chunk": {"type": "text-delta", "id": "t1", "delta": " word"}}
IDLE_CHATS, ACTIVE_CHATS = 200, 20
QUESTION, ANSWER = "Why is my picture black? " * 4, "Let me see what the sampler says. " * 20


async def events_per_second(readers: int) -> dict[str, Any]:
    """Events that a chat takes in a second while each of `readers` gets all of them."""
    log = EventLog(new_epoch(), {"chat_id": "c1"})
    got = [0] * readers

    async def read(number: int) -> None:
        async for some in log.follow(0):
            got[number] += (some or b"").count(b"\n\n")
            if got[number] >= EVENTS:
                return

    reading = [asyncio.create_task(read(number)) for number in range(readers)]
    await asyncio.sleep(0)
    started = time.perf_counter()
    for number in range(EVENTS):
        log.add("stream_delta", DELTA)
        if number % AT_ONCE == AT_ONCE - 1:
            await asyncio.sleep(0)
    await asyncio.gather(*reading)
    spent = time.perf_counter() - started
    return {
        "events_per_second": round(EVENTS / spent),
        "delivered_per_second": round(EVENTS * readers / spent),
    }


async def memory_per_chat() -> dict[str, Any]:
    """Bytes of Python memory of a chat that is open and idle, and of one that is being answered."""
    with tempfile.TemporaryDirectory() as folder:
        provider = ScriptedProvider()
        await provider.start()
        environ = {
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_MODEL": "scripted",
            "ASSISTANT_DISCOVER": "0",
        }
        assistant = app_of(Path(folder), environ)[ASSISTANT]
        await assistant.start()
        space = assistant.space_of("default")
        tracemalloc.start()
        try:
            for number in range(IDLE_CHATS):
                await space.chats.create(f"idle-{number}")
            before = _memory()
            for number in range(IDLE_CHATS):
                await space.sessions.of(f"idle-{number}")
            idle = (_memory() - before) / IDLE_CHATS
            await _begin(space, provider, "warm")  # Loads the modules that a first turn loads.
            before = _memory()
            for number in range(ACTIVE_CHATS):
                await _begin(space, provider, f"active-{number}")
            active = (_memory() - before) / ACTIVE_CHATS
        finally:
            tracemalloc.stop()
            await assistant.close()
            await provider.stop()
    return {"idle_chat_bytes": round(idle), "active_chat_bytes": round(active)}


async def _begin(space: UserSpace, provider: ScriptedProvider, chat: str) -> None:
    """Starts a turn; returns when the turn is in the middle of its answer."""
    provider.queue(Script([{"text": ANSWER}, {"wait": chat}]))
    question = Message("u1", "user", (TextPart(QUESTION),))
    await space.sessions.start(TurnRequest(message=question, chat_id=chat))
    await provider.reached(chat)


def _memory() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
