"""JSON in a shape: which values are accepted, and how the others are refused."""

from typing import Annotated, Any

import pytest
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.validation import (
    NOT_GIVEN,
    Body,
    Changes,
    Flag,
    NoFields,
    Number,
    OpenBody,
    Whole,
    parsed,
)
from pydantic import Field


class Inner(Body):
    word: Annotated[str, Field(min_length=1, max_length=3)]


class Thing(Body):
    name: Annotated[str, Field(min_length=1, max_length=3)]
    note: Annotated[str, Field(max_length=3)] | None = None
    count: Annotated[Whole, Field(ge=1, le=10)] | None = None
    size: Number = 1.0
    on: Flag = False
    inner: Inner | None = None
    words: tuple[str, ...] = ()


class Open(OpenBody):
    name: str | None = None


class ThingChanges(Changes):
    name: str = NOT_GIVEN
    on: Flag = NOT_GIVEN


def refusal(shape: Any, value: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as refused:
        parsed(shape, value)
    return refused.value


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", "abcd"])
def test_text_has_its_type_and_its_length(value: object) -> None:
    assert refusal(Thing, {"name": value}).where == "name"


def test_missing_text_is_said_to_be_missing() -> None:
    assert refusal(Thing, {}).message == "name: expected a value, got nothing"


def test_optional_text_may_be_missing_null_or_empty() -> None:
    bodies: list[dict[str, Any]] = [{}, {"note": None}, {"note": ""}, {"note": "abc"}]
    found = [parsed(Thing, {"name": "x", **body}).note for body in bodies]
    assert found == [None, None, "", "abc"]


@pytest.mark.parametrize("value", [True, 1.0, "5", 0, 11, 10**30, [], {}])
def test_an_integer_is_whole_and_within_its_bounds(value: object) -> None:
    assert refusal(Thing, {"name": "x", "count": value}).where == "count"


def test_an_integer_may_be_missing_or_null() -> None:
    bodies: list[dict[str, Any]] = [{}, {"count": None}, {"count": 10}]
    found = [parsed(Thing, {"name": "x", **body}).count for body in bodies]
    assert found == [None, None, 10]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", 5, "name: expected a string, got a number"),
        ("name", "abcd", "name: expected at most 3 characters, got 4"),
        ("name", "", "name: expected a length of at least 1"),
        ("count", 1.5, "count: expected a whole number, got a number"),
        ("count", 11, "count: expected at most 10"),
        ("size", "1", "size: expected a number, got a string"),
        ("size", True, "size: expected a number, got true or false"),
        ("on", 1, "on: expected true or false, got a number"),
        ("inner", [], "inner: expected an object, got a list"),
        ("inner", {"word": 7}, "inner.word: expected a string, got a number"),
        ("words", "ab", "words: expected a list, got a string"),
        ("words", ["a", 2], "words: expected a string, got a number"),
    ],
)
def test_a_fault_is_said_in_words_and_with_its_place(field: str, value: object, said: str) -> None:
    assert refusal(Thing, {"name": "x", field: value}).message == said


def test_an_unknown_field_is_named_before_other_faults() -> None:
    found = refusal(ThingChanges, {"modle": 2, "on": 3})
    assert found.message == "modle: unknown field; expected one of name, on"
    assert refusal(NoFields, {"x": 1}).message == "x: unknown field; expected no fields"
    assert refusal(Thing, {"name": "x", "inner": {"word": "a", "x": 1}}).where == "inner.x"
    assert len(refusal(NoFields, {"x" * 500: 1}).where) == 80


def test_an_open_object_passes_other_fields_over() -> None:
    assert parsed(Open, {"name": "x", "colour": "red"}) == Open(name="x")


def test_a_change_changes_something_and_to_no_null() -> None:
    assert parsed(ThingChanges, {"on": True}).changes == {"on": True}
    assert refusal(ThingChanges, {}).message == "body: expected at least one of name, on"
    assert refusal(ThingChanges, {"name": None}).message == "name: expected a string, got null"
