"""JSON in pieces says the same as JSON in one go, and no piece is large."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.messages import json_pieces
from plugin.assistant.messages.json_pieces import is_large, pieces, pieces_in_thread, weight, whole
from plugin.assistant.messages.parts import Message, TextPart, ToolPart
from plugin.assistant.messages.ui import message_to_ui

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=40,
)


@given(JSON, st.integers(1, 100))
def test_pieces_say_the_same_as_the_whole(value: Any, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_pieces, "PIECE", size)
        made = b"".join(pieces(value))
    assert json.loads(made) == json.loads(whole(value))


def test_a_message_is_written_as_clients_see_it() -> None:
    call = ToolPart("t1", "look", "output-available", {"a": 1}, {"text": "x" * 400_000})
    message = Message("m1", "assistant", (TextPart("Hello \ud83d"), call), {"model": "m"})
    made = b"".join(pieces({"message": message, "after": None}))
    assert json.loads(made) == {"message": message_to_ui(message), "after": None}
    assert json.loads(whole(message)) == message_to_ui(message)


@pytest.mark.parametrize(
    "value",
    [
        "x" * 2_000_000,
        ["x"] * 100_000,
        {str(number): number for number in range(100_000)},
        Message("m", "assistant", (TextPart("a"),) * 50_000),
        {"deep": [{"deeper": ["\n" * 3_000_000]}]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_piece_is_large(value: Any) -> None:
    assert is_large(value)
    # A character may be written as six.
    assert max(map(len, pieces(value))) <= 6 * json_pieces.PIECE + 100


def test_what_is_heavy_is_not_counted_to_its_end() -> None:
    assert weight([1] * 1_000_000, 10**9) >= 1_000_000
    assert weight([[1] * 10] * 1_000_000, 100) <= 100 + json_pieces.VALUE * 1_000_002


async def test_pieces_of_a_thread_stand_between_head_and_tail() -> None:
    value = {"text": "x" * 3_000_000}
    made = [piece async for piece in pieces_in_thread(value, b"data: ", b"\n\n")]
    assert len(made) > 3
    assert b"".join(made) == b"data: " + whole(value) + b"\n\n"


async def test_a_small_value_comes_in_one_piece() -> None:
    assert [piece async for piece in pieces_in_thread({"a": 1}, b"<", b">")] == [b'<{"a":1}>']
