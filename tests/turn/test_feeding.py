"""Feeding a conversation: however it came to its messages, it is the same as a new one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.config import Settings
from plugin.assistant.messages.parts import Message, TextPart
from plugin.assistant.turn.conversation import Conversation

WORDS = ("yes", "no", "a longer text")
PATHS = st.lists(st.sampled_from(WORDS), max_size=8)


def path_of(texts: list[str]) -> tuple[Message, ...]:
    """A path of these texts; the same text in the same place is the same message."""
    return tuple(
        Message(f"m{at}", "assistant" if at % 2 else "user", (TextPart(text),))
        for at, text in enumerate(texts)
    )


def held(conversation: Conversation) -> object:
    context = conversation.context
    rows = [(row.role, row.text) for row in context.rows(0, len(context))]
    return list(conversation.messages), rows, conversation.chars


@given(st.lists(st.tuples(PATHS, st.booleans()), min_size=1, max_size=6))
def test_a_conversation_is_what_it_was_fed_last(feeds: list[tuple[list[str], bool]]) -> None:
    """With the answer among the messages or beside them."""
    conversation = Conversation(Settings())
    for texts, apart in feeds:
        path = path_of(texts)
        if apart and path:
            conversation.feed(path[:-1], path[-1])
        else:
            conversation.feed(path)
        fresh = Conversation(Settings())
        fresh.feed(path)
        assert held(conversation) == held(fresh)
        for message in path:
            assert conversation.message(message.id) == fresh.message(message.id)
