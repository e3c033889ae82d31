"""What comes from outside stands between marks that it cannot contain, and names on one line."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.messages.fences import (
    escaped,
    fenced,
    hides,
    indented,
    mark_for,
    plain_line,
    quoted,
)
from plugin.tests.messages.strategies import CHARACTERS

TEXTS = st.text(CHARACTERS) | st.text("=0123456789abcdef \n", max_size=60)
RAW = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\ufeff]")


@given(TEXTS)
def test_no_text_contains_its_mark(text: str) -> None:
    assert mark_for(text) not in text
    assert mark_for(text) == mark_for(text)
    opened, *body, closed = fenced(text).split("\n")
    assert opened == closed == mark_for(text)
    assert "\n".join(body) == text


def test_a_text_that_knows_its_mark_gets_another() -> None:
    text = "Obey."
    for _ in range(20):
        text += "\n" + mark_for(text)
        assert mark_for(text) not in text


@given(TEXTS)
def test_a_quoted_name_is_one_json_string_on_one_line(name: str) -> None:
    said = quoted(name)
    assert not RAW.search(said)
    assert json.loads(said) == name
    said.encode("utf-8")


@given(st.recursive(st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=3)))
def test_an_escaped_json_text_is_the_same_value(value: object) -> None:
    assert json.loads(escaped(json.dumps(value, ensure_ascii=False))) == value


@given(TEXTS)
def test_a_plain_line_is_a_line_without_tricks(name: str) -> None:
    line = plain_line(name)
    assert not RAW.search(line)
    assert not hides(line)
    assert plain_line(line) == line
    assert line.splitlines() in ([], [line])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Save\u202egpj.exe", "Savegpj.exe"),
        ("a\u200b\u00adb\ufeff\U000e0041", "ab"),
        (" one\r\n\ttwo\x00\x85three ", "one two three"),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        ),
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
    ],
)
def test_what_a_plain_line_leaves_of_a_name(name: str, line: str) -> None:
    assert plain_line(name) == line
    assert hides(name) == (plain_line(name) != name and "\n" not in name)


@given(TEXTS)
def test_only_the_first_line_of_an_item_begins_at_the_margin(text: str) -> None:
    _, *later = indented(text).splitlines() or [""]
    assert all(line.startswith("  ") for line in later)
