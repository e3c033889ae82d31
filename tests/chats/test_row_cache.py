"""The cache of rows: whose rows are kept, and how much memory they take."""

from __future__ import annotations

from plugin.assistant.chats.log.chat_log import Added, Stored
from plugin.assistant.chats.log.record import decode, encode
from plugin.assistant.chats.log.row_cache import RowCache
from plugin.assistant.messages.parts import FilePart, Message, StepStart, TextPart, ToolPart
from plugin.tests.memory import held_bytes


def turn(name: str) -> tuple[Message, Message]:
    """A question, and an answer with a call of a tool, as a row gives them."""
    call = ToolPart(f"call-{name}", "getWorkflowInfo", "output-available", {}, {"nodes": []})
    usage = {"input_tokens": 2_000, "output_tokens": 100, "cached_tokens": 0}
    metadata = {"model": "m", "provider": "p", "created": "2026-01-01", "usage": usage}
    said = TextPart(f"{name}: what it sees, and what the user can do about it. " * 4)
    messages = (
        Message(f"u-{name}", "user", (TextPart(f"{name}: why is my picture black? " * 4),)),
        Message(f"a-{name}", "assistant", (StepStart(), call, StepStart(), said), metadata),
    )
    asked, answer = (decode(encode(message)) for message in messages)
    return asked, answer


def live(cache: RowCache, chat: str, turns: int) -> None:
    """Adds turns to a chat as the store does."""
    for number in range(turns):
        messages = turn(f"{chat}-{number}")
        first = 1 + 2 * number
        chars = sum(len(encode(message)) for message in messages)
        cache.grow(chat, messages, Added(range(first, first + 2), chars, first - 1 or None))


def image(chat: str, chars: int) -> dict[int, Stored]:
    message = Message(f"m-{chat}", "user", (FilePart("image/png", "x" * chars),))
    return {1: Stored(message, chars)}


def test_the_rows_of_many_short_chats_hold_no_more_memory_than_the_limit() -> None:
    limit = 1_000_000
    cache = RowCache(limit)
    for number in range(100):
        live(cache, f"c{number}", 20)
    assert limit / 2 < held_bytes(cache._chats) < 1.1 * limit
    assert "c99" in cache.chats() and "c0" not in cache.chats()


def test_the_size_of_a_chat_that_is_read_again_is_counted_once() -> None:
    cache = RowCache(1_000_000)
    for number in range(3):
        live(cache, f"c{number}", 20)
    before = dict(cache._sizes)
    for _ in range(50):
        for chat in ("c0", "c1", "c2"):
            cache.keep(chat, cache.rows(chat))
    assert cache._sizes == before and cache.chats() == {"c0", "c1", "c2"}


def test_one_large_chat_is_kept_while_it_is_in_use() -> None:
    cache = RowCache(1_000, largest_chat=5_000)
    cache.keep("small", image("small", 100))
    cache.keep("large", image("large", 4_000))
    assert cache.chats() == {"large"}
    cache.keep("small", image("small", 100))
    assert cache.chats() == {"small"}
    cache.keep("too large", image("too large", 6_000))
    assert cache.rows("too large") == {}


def test_the_size_of_an_image_is_not_that_of_the_message_beside_it() -> None:
    cache = RowCache()
    chars = 4_000_000
    picture = image("c1", chars)[1].message
    cache.grow("c1", (picture, turn("c1")[0]), Added(range(1, 3), chars + 500))
    assert chars < cache._size < 1.1 * chars
