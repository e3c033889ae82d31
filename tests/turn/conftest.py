"""Fixtures of the tests of turns: a backend over HTTP, and further tools for it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.turn.tools import Bench


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as chat:
        yield chat


@pytest.fixture
async def bench(chat: Chatting) -> Bench:
    """The tools of `tools.py`, in the backend of `chat`."""
    bench = Bench()
    bench.install(chat)
    return bench
