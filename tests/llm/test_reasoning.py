"""Reasoning blocks merge by (type, index), then (type, id), then (type, signature) (R38)."""

from __future__ import annotations

from typing import Any

from plugin.assistant.llm.reasoning import ReasoningBlocks


def joined(pieces: list[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    blocks = ReasoningBlocks()
    for piece in pieces:
        blocks.add(piece)
    return blocks.whole()


def test_pieces_with_one_index_become_one_block() -> None:
    pieces = [
        {"type": "reasoning.text", "index": 0, "text": "Let me "},
        {"type": "reasoning.text", "index": 0, "text": "see", "signature": None},
        {"type": "reasoning.text", "index": 0, "signature": "abc"},
    ]
    assert joined(pieces) == (
        {"type": "reasoning.text", "index": 0, "text": "Let me see", "signature": "abc"},
    )


def test_the_type_keeps_blocks_of_one_index_apart() -> None:
    pieces = [
        {"type": "reasoning.text", "index": 0, "text": "a"},
        {"type": "reasoning.encrypted", "index": 0, "data": "x"},
    ]
    assert len(joined(pieces)) == 2


def test_the_index_decides_before_the_id() -> None:
    pieces = [
        {"type": "t", "index": 0, "id": "a", "text": "0"},
        {"type": "t", "index": 1, "id": "b", "text": "1"},
        {"type": "t", "index": 1, "id": "a", "text": "!"},
    ]
    assert [block["text"] for block in joined(pieces)] == ["0", "1!"]


def test_the_id_decides_without_an_index_and_the_signature_without_both() -> None:
    pieces = [
        {"type": "t", "id": "a", "text": "1"},
        {"type": "t", "signature": "s", "text": "2"},
        {"type": "t", "id": "a", "text": "+"},
        {"type": "t", "signature": "s", "text": "-"},
    ]
    assert [block["text"] for block in joined(pieces)] == ["1+", "2-"]


def test_the_latest_signature_wins_and_is_never_joined() -> None:
    pieces = [
        {"type": "t", "index": 0, "signature": "first"},
        {"type": "t", "index": 0, "signature": "second"},
    ]
    assert joined(pieces)[0]["signature"] == "second"


def test_pieces_without_any_identity_stay_blocks_of_their_own() -> None:
    pieces = [{"type": "t", "text": "a"}, {"type": "t", "text": "b"}]
    assert joined(pieces) == (
        {"type": "t", "text": "a"},
        {"type": "t", "text": "b"},
    )


def test_the_pieces_themselves_are_not_changed() -> None:
    pieces = [{"type": "t", "index": 0, "text": "a"}, {"type": "t", "index": 0, "text": "b"}]
    joined(pieces)
    assert pieces[0] == {"type": "t", "index": 0, "text": "a"}


def test_true_is_another_index_than_one() -> None:
    indices: list[Any] = [1, True, [1]]
    assert len(joined([{"index": index, "text": "a"} for index in indices])) == 3
