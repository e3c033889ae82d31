"""How many events a chat's readers get in a second, and what chats cost in memory."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from plugin.assistant.sessions.events import EventLog, new_epoch
from plugin.tests.chatting import ASSISTANT, app_of
from plugin.tests.providers import ScriptedProvider

EVENTS = 20_000
AT_ONCE = 50
"""Events between two breaths of the loop: what a fast model sends in a few milliseconds."""
DELTA = {"message_id": "m1", "chunk": {"type": "text-delta", "id": "t1", "delta": " word"}}
CHATS = 200


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
        async with ScriptedProvider() as provider:
            environ = {
                "OPENAI_BASE_URL": provider.base_url,
                "OPENAI_MODEL": "scripted",
                "ASSISTANT_DISCOVER": "0",
            }
            app = app_of(Path(folder), environ)
            assistant = app[ASSISTANT]
            await assistant.start()
            space = assistant.space_of("default")
            for number in range(CHATS):
                await space.chats.create(f"c{number}")
            gc.collect()
            tracemalloc.start()
            before, _ = tracemalloc.get_traced_memory()
            for number in range(CHATS):
                await space.sessions.of(f"c{number}")
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            await assistant.close()
    return {"idle_chat_bytes": round((after - before) / CHATS)}
