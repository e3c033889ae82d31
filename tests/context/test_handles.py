"""Handles, and the content that they give."""

import json

import pytest
from plugin.assistant.context.handles import json_part, range_handle, recall, rows_of
from plugin.assistant.context.log import ChatLog
from plugin.assistant.errors import NotFound

from .histories import a_round, user

LOG = ChatLog((user("a 图"), *a_round("c1", text='{"x": 1}'), user("b")))


def test_a_handle_names_a_row_or_a_range() -> None:
    assert range_handle(3, 4) == "r3"
    assert range_handle(3, 9) == "r3-8"
    assert rows_of("r3-8") == range(3, 9)
    assert rows_of(" r3 ") == range(3, 4)


@pytest.mark.parametrize("handle", ["", "3", "r", "r-1", "r1-", "r1-2-3", "r99999999999", "row 3"])
def test_what_is_no_handle_is_said(handle: str) -> None:
    with pytest.raises(NotFound, match="is no handle"):
        rows_of(handle)


def test_a_result_comes_back_byte_for_byte() -> None:
    assert recall(LOG, "r2") == '{"x": 1}'


def test_a_range_is_a_transcript_with_calls_and_arguments() -> None:
    text = recall(LOG, "r0-3")
    assert text.startswith("[r0] user: a 图\n\n[r1] assistant:\n[calls getUserSkill {}]")
    assert text.endswith("[r3] user: b")


def test_a_row_that_is_not_there_is_said() -> None:
    with pytest.raises(NotFound, match="rows r0 to r3"):
        recall(LOG, "r2-4")


def test_a_path_leads_into_json() -> None:
    text = json.dumps({"nodes": [{"id": 1}, {"id": 2, "widgets": {"seed": 7}}]})
    assert json_part(text, "nodes.1.widgets") == '{"seed":7}'
    assert json_part(text, "$.nodes[1].id") == "2"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("plain", "a", "is no JSON"),
        ('{"a": {"b": 1}}', "a.c", "no 'c' at a: b"),
        ("[1]", "4", "no '4' at the top"),
    ],
)
def test_a_path_that_leads_nowhere_says_where_it_stopped(text: str, path: str, words: str) -> None:
    with pytest.raises(NotFound, match=words):
        json_part(text, path)
