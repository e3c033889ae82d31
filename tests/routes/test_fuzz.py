"""No value from outside raises anything but an error that a client can read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.errors import AssistantError
from plugin.assistant.routes.route import Route
from plugin.assistant.routes.table import ROUTES
from plugin.assistant.routes.turns import TurnBody
from plugin.assistant.validation import adapter, parsed

ODD_TEXTS = ("", " ", "\0", "..", "a/b", "\u202e", "\u2488", "x" * 5_000, "data:image/svg+xml,<")
ODD_NUMBERS = (0, -1, 2**63, 10**400, 1e308, -0.0, True)
BODIES = [route for route in ROUTES if route.shapes[0] is not None]
QUERIES = [route for route in ROUTES if route.shapes[1] is not None]


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


def words_of(schema: Any) -> Iterator[str]:
    """The names of fields and the allowed values in a JSON Schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from (str(one) for one in schema.get("enum", ()))
        yield from [schema["const"]] if isinstance(schema.get("const"), str) else []
        for inner in schema.values():
            yield from words_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from words_of(inner)


MESSAGE_WORDS = (
    *("id", "role", "parts", "metadata", "type", "text", "state", "user", "assistant", "system"),
    *("file", "url", "mediaType", "dynamic-tool", "toolName", "toolCallId", "input", "output"),
    *("approval", "approved", "approval-requested", "input-available", "data-skill", "data"),
)


def near(shape: Any) -> st.SearchStrategy[Any]:
    """Objects that have the fields and the words of a shape, and much that does not fit."""
    words = st.sampled_from(sorted({*words_of(adapter(shape).json_schema()), *MESSAGE_WORDS}))
    text = words | st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
    scalars = st.none() | text | st.sampled_from(ODD_NUMBERS) | st.integers() | st.floats()
    values = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=6),
        max_leaves=25,
    )
    return st.dictionaries(text, values, max_size=6)


@pytest.mark.parametrize("route", BODIES, ids=named)
@given(data=st.data())
@settings(max_examples=40)
def test_a_body_is_parsed_or_refused(route: Route, data: st.DataObject) -> None:
    shape = route.shapes[0]
    body = data.draw(near(shape))
    with suppress(AssistantError):
        value = parsed(shape, body)
        if isinstance(value, TurnBody):
            value.turn_request()


@pytest.mark.parametrize("route", QUERIES, ids=named)
@given(data=st.data())
@settings(max_examples=40)
def test_a_query_is_parsed_or_refused(route: Route, data: st.DataObject) -> None:
    shape = route.shapes[1]
    names = sorted(adapter(shape).json_schema()["properties"])
    texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=30) | st.integers().map(str)
    query = data.draw(st.dictionaries(st.sampled_from(names), texts))
    with suppress(AssistantError):
        parsed(shape, query)
