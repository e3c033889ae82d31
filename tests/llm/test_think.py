"""Reasoning inside text is split in the same way wherever the pieces are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.llm.think import Piece, ThinkSplitter


def split(pieces: list[str]) -> list[Piece]:
    """The pieces, with neighbours of the same kind joined."""
    splitter = ThinkSplitter()
    marked = [piece for text in pieces for piece in splitter.feed(text)] + splitter.end()
    assert all(text for _, text in marked)
    joined: list[Piece] = []
    for kind, text in marked:
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", [("text", "plain")]),
        ("<think>why</think>because", [("think", "why"), ("text", "because")]),
        ("\n<think>\nwhy</think>\n\nbecause", [("think", "why"), ("text", "because")]),
        ("<thinking>why</thinking>so", [("think", "why"), ("text", "so")]),
        ("<think>never closed", [("think", "never closed")]),
        ("<think>only</think>", [("think", "only")]),
        ("<think></think>answer", [("text", "answer")]),
        ("<think>a < b </thin k</think>c", [("think", "a < b </thin k"), ("text", "c")]),
        ("  <thi", [("text", "  <thi")]),
        ("<thinner> is no tag", [("text", "<thinner> is no tag")]),
        ("Write <think>x</think>", [("text", "Write <think>x</think>")]),
        (
            "<think>a</think>b<think>c</think>",
            [("think", "a"), ("text", "b<think>c</think>")],
        ),
    ],
)
def test_the_split_is_the_same_for_every_size_of_pieces(text: str, expected: list[Piece]) -> None:
    for size in range(1, len(text) + 1):
        assert split([text[i : i + size] for i in range(0, len(text), size)]) == expected


def test_text_after_the_reasoning_is_given_out_at_once() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("<think>a</think>b") == [("think", "a"), ("text", "b")]
    assert splitter.feed("<") == [("text", "<")]


def test_reasoning_is_given_out_before_its_tag_closes() -> None:
    assert ThinkSplitter().feed("<think>first words") == [("think", "first words")]


@given(st.lists(st.text(alphabet="<>/think \nab"), max_size=12))
def test_no_character_of_an_answer_without_the_tag_is_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    if not text.lstrip().startswith(("<think>", "<thinking>")):
        assert "".join(piece for _, piece in split(pieces)) == text
