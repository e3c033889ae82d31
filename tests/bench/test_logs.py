"""Logs of other programs are read in every form that their messages have."""

import json
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.messages.prompt import ImageContent
from plugin.bench.logs import message_of, read_log, reports_failure


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("hello", "hello"),
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "input_text", "text": "a"}], "a"),
        (["a"], "a"),
        ({"a": 1}, '{"a": 1}'),
    ],
)
def test_every_form_of_content_is_read(content: Any, text: str) -> None:
    assert message_of({"role": "user", "content": content}).text == text


def test_an_image_stays_an_image() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]
    message = message_of({"role": "user", "content": parts})
    assert message.images == (ImageContent("data:image/png;base64,AA"),)


def test_arguments_may_be_an_object() -> None:
    call = {"id": "a", "function": {"name": "set", "arguments": {"x": "é"}}}
    message = message_of({"role": "assistant", "content": None, "tool_calls": [call]})
    assert message.tool_calls[0].arguments == '{"x":"é"}'


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(ValueError, match="wizard"):
        message_of({"role": "wizard", "content": ""})


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ('{"error": "no such node"}', True),
        ('{"ok": false}', True),
        ('{"status": "failed"}', True),
        ("Error: disk full", True),
        ('{"ok": true, "error": null}', False),
        ("an error was repaired", False),
        ("{not json", False),
    ],
)
def test_a_failed_result_is_known_by_what_it_says(text: str, failed: bool) -> None:
    assert reports_failure(text) is failed


def test_a_log_may_be_a_list_an_object_or_lines(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    path = tmp_path / "log.json"
    for text in (
        json.dumps(rows),
        json.dumps({"messages": rows}),
        "\n".join(json.dumps(row) for row in rows),
    ):
        path.write_text(text, encoding="utf-8")
        assert read_log(path) == rows
