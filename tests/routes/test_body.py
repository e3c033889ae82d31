"""Bodies as JSON objects: which bytes are accepted, and how the others are refused."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.routes.body import MAX_DEPTH, parse_object

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
