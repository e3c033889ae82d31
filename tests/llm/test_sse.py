"""The bytes of a stream, cut into the data of its events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.llm.caps import CapReached
from plugin.assistant.llm.sse import EventSplitter
from plugin.tests.growth import MOST_GROWTH, growth

MOST = 10_000


def split(*pieces: bytes, most: int = MOST) -> list[bytes]:
    splitter = EventSplitter(most)
    return [data for piece in pieces for data in splitter.feed(piece)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_an_event_is_its_data(end: bytes) -> None:
    lines = (b": hello", b"", b"event: x", b"id: 7", b"data: one", b"", b"data:two", b"", b"retry")
    assert split(end.join(lines)) == [b"one", b"two"]


def test_several_lines_of_data_are_joined() -> None:
    assert split(b"data: a\ndata\ndata:  b\n\n") == [b"a\n\n b"]


def test_an_event_without_data_is_none() -> None:
    assert split(b"event: ping\n\ndata:\n\ndata: a\n\n\n\n") == [b"a"]


def test_what_the_stream_ends_within_is_left_out() -> None:
    assert split(b"data: a\n\ndata: b\n") == [b"a"]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert split(b"\xef\xbb\xbfdata: a\n\n") == [b"a"]
    assert split(b"\xef", b"\xbb\xbfdata: a\n\n") == [b"a"]


@given(
    st.lists(st.sampled_from([b"data: x", b"data:y", b":", b"", b"event: e", b"dat", b"data"])),
    st.lists(st.sampled_from([b"\n", b"\r\n", b"\r"]), min_size=1),
    st.data(),
)
def test_where_the_bytes_are_cut_changes_nothing(
    lines: list[bytes], ends: list[bytes], data: st.DataObject
) -> None:
    body = b"".join(line + ends[n % len(ends)] for n, line in enumerate([*lines, b"", b"data: z"]))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert split(*pieces) == split(body)
    assert split(*(body[n : n + 1] for n in range(len(body)))) == split(body)


@pytest.mark.parametrize(
    "flood", [b"x" * 999, b"data: " + b"x" * 93 + b"\n", b"data:\n", b"\xff" * 99]
)
def test_an_event_is_held_up_to_the_cap(flood: bytes) -> None:
    splitter = EventSplitter(MOST)
    fed = 0

    def feed() -> None:
        nonlocal fed
        while fed <= MOST * 6:
            list(splitter.feed(flood))
            fed += len(flood)

    with pytest.raises(CapReached):
        feed()


def test_each_event_has_the_whole_cap() -> None:
    event = b"data: " + b"x" * (MOST - 10) + b"\n\n"
    assert len(split(*[event] * 5)) == 5


@pytest.mark.parametrize("unit", ["x", "data: x\n", "\n", "\r", "\r\n", ":\n", "data: x\n\n"])
@pytest.mark.parametrize("size", [1, 100, 65_536])
def test_it_takes_linear_time(unit: str, size: int) -> None:
    def work(text: str) -> None:
        body = text.encode()
        splitter = EventSplitter(10**9)
        for place in range(0, len(body), size):
            list(splitter.feed(body[place : place + size]))

    assert growth(work, unit, 50_000) < MOST_GROWTH
