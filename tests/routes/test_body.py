"""Bodies as JSON objects: what is taken, and what is said about the rest."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.routes.body import (
    MAX_DEPTH,
    only,
    optional_integer,
    optional_text,
    parse_object,
    text,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), JSON.filter(lambda value: "inf" not in repr(value))))
def test_every_object_comes_through_as_it_was(body: dict[str, Any]) -> None:
    assert parse_object(json.dumps(body).encode()) == body


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_invalid_request(content: bytes) -> None:
    with suppress(InvalidRequest):
        parse_object(content)


@given(st.dictionaries(st.text(st.characters()), st.text(st.characters())))
def test_what_comes_through_can_be_encoded(body: dict[str, str]) -> None:
    parsed = parse_object(json.dumps(body).encode("utf-8", "surrogatepass"))
    json.dumps(parsed, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "line 1, column 1"),
        (b'{"a": 1,\n "b"}', "line 2, column 5"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": 1e999}', "1e999"),
        (b'{"a": "\xff"}', "byte 7"),
        (b"[]", "not a list"),
        (b'"text"', "not a string"),
        (b"null", "not null"),
        (b"1" * 5000, "too many digits"),
        (b'{"a": ' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH, ""),
        (b'{"a": ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}", "deeper than 100"),
        (b"[" * 200_000, "deeper than 100"),
        (b'{"a":' * 200_000, "deeper than 100"),
    ],
)
def test_the_refusal_says_what_is_wrong_and_where(content: bytes, said: str) -> None:
    if not said:
        parse_object(content)
        return
    with pytest.raises(InvalidRequest) as refusal:
        parse_object(content)
    assert said in refusal.value.message


def test_a_byte_order_mark_is_no_error() -> None:
    assert parse_object(b"\xef\xbb\xbf{}") == {}


def test_half_a_character_becomes_the_replacement_character() -> None:
    parsed = parse_object(b'{"a\\ud83d": ["\\ude00", "\\ud83d\\ude00"]}')
    assert parsed == {"a\ufffd": ["\ufffd", "\U0001f600"]}


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", "abcd"])
def test_text_has_its_type_and_its_length(value: object) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        text({"name": value}, "name", most=3)
    assert refusal.value.where == "name"


def test_missing_text_is_said_to_be_missing() -> None:
    with pytest.raises(InvalidRequest, match="name: expected a string, got nothing"):
        text({}, "name", most=3)


def test_optional_text_may_be_missing_null_or_empty() -> None:
    body = {"null": None, "empty": "", "text": "abc"}
    assert [optional_text(body, name, most=3) for name in ("x", *body)] == [None, None, "", "abc"]


@pytest.mark.parametrize("value", [True, 1.0, "5", 0, 11, 10**30, [], {}])
def test_an_integer_is_whole_and_within_its_bounds(value: object) -> None:
    with pytest.raises(InvalidRequest):
        optional_integer({"n": value}, "n", low=1, high=10)


def test_an_integer_may_be_missing_or_null() -> None:
    body = {"null": None, "n": 10}
    assert [optional_integer(body, name, low=1, high=10) for name in ("x", *body)] == [
        None,
        None,
        10,
    ]


def test_an_unknown_field_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"modle: unknown field; expected one of name, model"):
        only({"name": 1, "modle": 2}, "name", "model")
