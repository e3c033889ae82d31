"""The conversations that stay in memory: the chats that were used last, and no more than fit."""

from __future__ import annotations

from typing import Any, cast

from plugin.assistant.chats import ChatStore
from plugin.assistant.config import Settings
from plugin.assistant.context.tool_facts import NO_FACTS
from plugin.assistant.messages.parts import FilePart, Message, TextPart
from plugin.assistant.turn.conversations import MOST_CHARS, MOST_CONVERSATIONS, Conversations


class NoEdits:
    """A store of chats that nobody edited in."""

    async def read(self, *_: Any) -> tuple[Any, ...]:
        return ()


def conversations() -> Conversations:
    return Conversations(cast(ChatStore, NoEdits()), Settings(), NO_FACTS)


def picture(name: str, chars: int) -> tuple[Message, ...]:
    url = "data:image/png;base64," + "A" * chars
    return (Message(f"u-{name}", "user", (TextPart("Look."), FilePart("image/png", url))),)


async def test_chats_with_large_pictures_do_not_stay_in_memory_together() -> None:
    kept: Any = conversations()
    quarter = MOST_CHARS // 4
    for number in range(MOST_CONVERSATIONS):
        chat = await kept.of_chat(f"c{number}", is_new=True)
        chat.feed(picture(str(number), quarter))
    await kept.of_chat("last", is_new=True)
    assert sum(one.chars for one in kept._known.values()) <= MOST_CHARS
    assert set(kept._kept) == set(kept._known) and "last" in kept._known


async def test_a_chat_that_is_larger_than_all_may_be_stays_while_it_is_used() -> None:
    kept = conversations()
    chat = await kept.of_chat("c1", is_new=True)
    chat.feed(picture("1", MOST_CHARS + 1))
    assert await kept.of_chat("c1") is chat


async def test_the_characters_of_a_chat_are_those_of_its_path() -> None:
    kept = conversations()
    chat = await kept.of_chat("c1", is_new=True)
    chat.feed((*picture("1", 1_000), *picture("2", 5_000)))
    both = chat.chars
    chat.feed(picture("1", 1_000))
    assert 1_000 < chat.chars < 2_000 < 6_000 < both
    chat.feed((*picture("1", 1_000), *picture("2", 5_000)))
    assert chat.chars == both
