"""A backend over HTTP that knows ComfyUI's own nodes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.tests.chatting import Chatting
from plugin.tests.turn.edits.panels import editing


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with editing(tmp_path) as chat:
        await chat.client.post("/api/chats", json={"id": "c1"})
        yield chat
