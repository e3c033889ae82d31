"""The cache of rows: whose rows are kept, and how much memory they take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats.log.chat_log import Added, Stored
from plugin.assistant.chats.log.paths import RowRange, begins_with, rows_of
from plugin.assistant.chats.log.read_path import NOT_READ, ReadPath
from plugin.assistant.chats.log.record import decode, encode
from plugin.assistant.chats.log.row_cache import RowCache
from plugin.assistant.messages.origin import EVENT_METADATA
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


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 12), st.integers(0, 12))
def test_a_path_begins_with_another_where_its_rows_do(
    follows: list[bool], short: int, long: int
) -> None:
    """Paths through rows that follow each other, or leave some out."""
    rows: list[int] = []
    for at in follows:
        rows.append((rows[-1] if rows else 0) + (1 if at else 3))
    known, path = rows[:short], rows[:long]
    assert rows_of(ranges(path)) == tuple(path)
    assert begins_with(ranges(path), ranges(known)) == (path[: len(known)] == known)
    if path[: len(known)] == known:
        after = known[-1] if known else 0
        assert rows_of(ranges(path), after) == tuple(path[len(known) :])
    other = [*known[:-1], (known[-1] if known else 0) + 2]
    assert begins_with(ranges(path), ranges(other)) == (path[: len(other)] == other)


def test_a_path_that_goes_on_is_not_made_anew() -> None:
    cache = RowCache()
    live(cache, "c1", 2)
    first = NOT_READ.longer((RowRange(1, 4),), messages_of(cache, "c1"))
    cache.keep("c1", cache.rows("c1"), first)
    cache.grow("c1", turn("more"), Added(range(5, 7), 100, 4))
    rows = {row: one for row, one in cache.rows("c1").items() if row > 4}
    read = cache.path("c1").longer((RowRange(1, 6),), tuple(one.message for one in rows.values()))
    cache.keep("c1", rows, read, cache.path("c1"))
    assert cache.path("c1").messages == messages_of(cache, "c1")
    assert list(cache.rows("c1")) == [1, 2, 3, 4, 5, 6]


def test_another_branch_takes_the_place_of_the_rows_after_it() -> None:
    cache = RowCache()
    live(cache, "c1", 2)
    cache.keep("c1", cache.rows("c1"), NOT_READ.longer((RowRange(1, 4),), messages_of(cache, "c1")))
    before = cache.path("c1")
    cache.grow("c1", turn("more"), Added(range(5, 7), 100, 4))
    other = {7: Stored(turn("other")[0], 100)}
    read = before.longer((RowRange(1, 4), RowRange(7, 7)), (other[7].message,))
    cache.keep("c1", other, read, before)
    assert list(cache.rows("c1")) == [1, 2, 3, 4, 7]
    assert messages_of(cache, "c1") == cache.path("c1").messages
    cache.grow("c1", turn("cut"), Added(range(8, 10), 100, 2))
    assert (list(cache.rows("c1")), cache.path("c1")) == ([1, 2, 8, 9], NOT_READ)


def test_a_chat_that_was_dropped_meanwhile_is_not_kept_in_part() -> None:
    cache = RowCache()
    live(cache, "c1", 2)
    cache.keep("c1", cache.rows("c1"), NOT_READ.longer((RowRange(1, 4),), messages_of(cache, "c1")))
    before, newer = cache.path("c1"), {5: Stored(turn("newer")[0], 100)}
    cache.forget("c1")
    cache.keep("c1", newer, before.longer((RowRange(1, 5),), (newer[5].message,)), before)
    assert (cache.rows("c1"), cache.path("c1")) == ({}, NOT_READ)


def test_what_is_said_is_the_path_itself_while_there_are_no_events() -> None:
    asked, answer = turn("c1")
    event = Message("e1", "user", (TextPart("A run has ended."),), EVENT_METADATA)
    path = NOT_READ.longer((RowRange(1, 1),), (asked,))
    assert path.said is path.messages
    path = path.longer((RowRange(1, 2),), (event,)).longer((RowRange(1, 3),), (answer,))
    assert path == ReadPath((RowRange(1, 3),), (asked, event, answer), (asked, answer))


def messages_of(cache: RowCache, chat: str) -> tuple[Message, ...]:
    return tuple(one.message for one in cache.rows(chat).values())


def ranges(rows: list[int]) -> tuple[RowRange, ...]:
    """The rows as ranges, the oldest first."""
    found: list[RowRange] = []
    for row in rows:
        if found and found[-1].last == row - 1:
            found[-1] = RowRange(found[-1].first, row)
        else:
            found.append(RowRange(row, row))
    return tuple(found)


def test_the_size_of_an_image_is_not_that_of_the_message_beside_it() -> None:
    cache = RowCache()
    chars = 4_000_000
    picture = image("c1", chars)[1].message
    cache.grow("c1", (picture, turn("c1")[0]), Added(range(1, 3), chars + 500))
    assert chars < cache._size < 1.1 * chars
