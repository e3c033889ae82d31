"""A digest: a call and its result in one line."""

import json
from typing import Any

import pytest
from plugin.assistant.context.digest import LONGEST_ABOUT, LONGEST_ERROR, digest
from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.messages.prompt import ToolCall

from .histories import result

CALL = ToolCall("c", "getUserSkill", '{"slug":"sdxl"}')


def line(text: str, *, failed: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(digest(CALL, result("c", text, failed=failed)))
    return made


def test_the_line_is_the_required_note_with_tool_and_outcome() -> None:
    assert line("plain words") == {
        "_omitted": True,
        "note": "Earlier tool result omitted to save context",
        "tool": "getUserSkill",
        "outcome": "ok",
        "about": "plain words",
    }


def test_ids_and_names_in_the_result_stay() -> None:
    body = {"slug": "sdxl", "name": "SDXL", "prompt_id": 7, "text": "x" * 999, "path": {"a": 1}}
    assert line(json.dumps(body))["about"] == {"slug": "sdxl", "name": "SDXL", "prompt_id": 7}


@pytest.mark.parametrize("text", ['{"error": "Node 7 has no input."}', "Node 7 has no input."])
def test_an_error_stays_word_for_word_and_the_call_stays_failed(text: str) -> None:
    made = line(text, failed=True)
    assert made["outcome"] == "failed"
    assert made["error"] == "Node 7 has no input."


def test_an_error_that_is_an_object_stays_json() -> None:
    assert '"code":7' in line('{"error": {"code": 7}}', failed=True)["error"]


def test_the_line_is_short_whatever_the_result() -> None:
    body = dict.fromkeys(("id", "slug", "name", "title", "type", "status"), "\x00" * 9999)
    assert len(digest(CALL, result("c", json.dumps(body)))) < 4_000
    assert len(line("e" * 99_999, failed=True)["error"]) <= LONGEST_ERROR


@pytest.mark.parametrize(
    ("handed_in", "about"),
    [({"nodes": 3}, {"nodes": 3}), ("sdxl", "sdxl"), (None, {"slug": "sdxl"})],
)
def test_a_tool_hands_in_what_its_line_says(handed_in: Any, about: Any) -> None:
    facts = ToolFacts(digest=lambda call, value: handed_in)
    made = json.loads(digest(CALL, result("c", '{"slug": "sdxl"}'), facts=facts))
    assert made["about"] == about


def test_a_text_that_a_tool_hands_in_is_clamped() -> None:
    facts = ToolFacts(digest=lambda call, value: "long " * 99)
    made = json.loads(digest(CALL, result("c", "x"), facts=facts))
    assert len(made["about"]) <= LONGEST_ABOUT
