"""The arguments of a call, piece by piece."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.llm.arguments import Arguments
from plugin.tests.growth import MOST_GROWTH, growth

LEAVES = st.none() | st.integers() | st.text(st.sampled_from('[]{}"\\ ü,x'), max_size=30)
OBJECTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        LEAVES,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
        max_leaves=10,
    ),
    max_size=4,
)


def is_whole(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@given(OBJECTS, st.sampled_from(["", " ", "\n\n", "x", "{}"]), st.data())
def test_they_are_complete_where_they_are_json(value: Any, rest: str, data: st.DataObject) -> None:
    text = json.dumps(value) + rest
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    arguments = Arguments()
    so_far = ""
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        arguments.add(text[begin:end])
        so_far += text[begin:end]
        assert arguments.complete == (not so_far.strip() or is_whole(so_far))
    assert arguments.text == text
    assert arguments.size == len(text)


@pytest.mark.parametrize("text", ["", "  ", "null", "12", '"{}"', "{}", " {} "])
def test_short_values_are_complete(text: str) -> None:
    arguments = Arguments()
    arguments.add(text)
    assert arguments.complete


@pytest.mark.parametrize("unit", ['{"a": "', "x", "[", "[],", '\\"', '"', '{"a":', "{}", "{} "])
def test_asking_after_each_piece_takes_linear_time(unit: str) -> None:
    def work(text: str) -> None:
        arguments = Arguments()
        for place in range(0, len(text), 10):
            arguments.add(text[place : place + 10])
            _ = arguments.complete

    assert growth(work, unit, 50_000) < MOST_GROWTH
