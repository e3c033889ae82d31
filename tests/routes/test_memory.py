"""Memory is given back after large requests, and only then."""

from __future__ import annotations

import asyncio

import pytest
from plugin.assistant.routes import memory
from plugin.assistant.routes.memory import LARGE_BYTES, Memory, system_trim


def waiting(memory: Memory) -> list[asyncio.Task[None]]:
    return [memory._waiting] if memory._waiting is not None else []


async def test_memory_is_given_back_once_after_much_was_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "PAUSE_SECONDS", 0.0)
    calls: list[str] = []
    given = Memory(lambda: calls.append("trim"))
    given.used(LARGE_BYTES - 1)
    assert not waiting(given)
    for _ in range(5):
        given.used(LARGE_BYTES)
    await asyncio.gather(*waiting(given))
    await asyncio.sleep(0)
    assert calls == ["trim"]
    given.used(LARGE_BYTES - 1)
    assert not waiting(given)


def test_the_systems_own_way_is_found_or_there_is_none() -> None:
    trim = system_trim()
    if trim is not None:
        trim()
