"""JSON that others wrote costs no more than its text is worth."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.messages.foreign_json import (
    MOST_LEVELS,
    MOST_MARKS,
    foreign_json,
    many_values,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text(st.sampled_from('[]{},"\\ü\n x'), max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=40,
)


@given(VALUES)
def test_ordinary_json_is_read_as_it_is(value: Any) -> None:
    assert foreign_json(json.dumps(value)) == value


@given(VALUES)
def test_long_json_is_read_as_it_is(value: Any) -> None:
    """Long texts and texts with many brackets take other ways."""
    padded = [value, "x" * 2_000, ["[{,"] * 200, [[]] * 100]
    assert foreign_json(json.dumps(padded)) == padded


@pytest.mark.parametrize("text", ["", "x", "[", '{"a": }', "[1,]", '"\\', "[" * 200])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        foreign_json(text)


@pytest.mark.parametrize("levels", [MOST_LEVELS, 500, 5_000, 100_000])
def test_deep_values_are_null_and_the_rest_is_read(levels: int) -> None:
    deep = "[" * levels + '"]\\"["' + "]" * levels
    found = foreign_json(f'{{"before": 1, "deep": {deep}, "after": "]}}"}}')
    assert (found["before"], found["after"]) == (1, "]}")
    value, depth = found["deep"], 1
    while value:
        value, depth = value[0], depth + 1
    assert depth <= MOST_LEVELS
    assert value is None


@pytest.mark.parametrize("digits", [400, 5_000, 200_000])
def test_a_huge_number_is_no_fault(digits: int) -> None:
    found = foreign_json(f'{{"n": {"9" * digits}, "m": -{"9" * digits}, "a": 7}}')
    assert found["a"] == 7
    assert found["n"] is None or found["n"] == int("9" * 400)


def test_a_text_of_many_values_is_refused_before_it_is_decoded() -> None:
    text = "[" + "[]," * 5_000_000 + "[]]"
    began = time.process_time()
    with pytest.raises(ValueError, match=f"{MOST_MARKS:,}"):
        foreign_json(text)
    # Decoding it takes seconds.
    assert time.process_time() - began < 1


def test_a_long_string_is_no_many_values() -> None:
    text = '"' + '[],{}\\"\\\\' * 400_000 + '"'
    assert len(foreign_json(text)) == 7 * 400_000
    assert not many_values(text, 10)


def test_strings_that_never_end_take_no_time() -> None:
    began = time.process_time()
    with pytest.raises(ValueError):  # noqa: PT011
        foreign_json("[" * 100 + '"' + '\\"' * 4_000_000)
    assert time.process_time() - began < 2
