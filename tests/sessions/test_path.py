"""What readers get of a turn that brings many messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.sessions.live_chat import LiveChat
from plugin.tests.chatting import chatting


@pytest.mark.parametrize(("count", "events"), [(3, 3), (301, 0)])
async def test_a_long_list_of_messages_comes_as_a_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, events: int
) -> None:
    """An event for each of 60,000 messages stopped all requests for more than a second."""
    added, found = LiveChat.added, []

    def noted(live: LiveChat, *given: Any) -> None:
        found.append(given)
        added(live, *given)

    monkeypatch.setattr(LiveChat, "added", noted)
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello", "Again")
        sent = [
            {**chat.user(f"Text {number}"), "role": "assistant" if number % 2 else "user"}
            for number in range(count)
        ]
        assert (await chat.post({"id": "c1", "messages": sent})).text == "Hello"
        assert len(found) == events
        assert (await chat.say("More")).text == "Again"
        stored = await chat.stored()
        texts = [message["parts"][-1]["text"] for message in stored["messages"][-4:]]
        assert texts == [f"Text {count - 1}", "Hello", "More", "Again"]
