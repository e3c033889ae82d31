"""The body of a request, and its change after a server refused a setting."""

from __future__ import annotations

from typing import Any

import pytest
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest, adapted, body_of
from plugin.assistant.messages.prompt import PromptMessage

OPENAI = Provider("p", "https://api.openai.com/v1", "gpt-5")
LOCAL = Provider("p", "http://127.0.0.1:11434/v1", "qwen3")
REQUEST = LLMRequest((PromptMessage("user", "Hi"),), max_output_tokens=9)
BODY = {"model": "m", "temperature": 1, "seed": 2, "max_tokens": 9, "stream_options": {}}


def test_openai_s_own_host_gets_the_newer_name_of_the_limit() -> None:
    assert body_of(OPENAI, REQUEST)["max_completion_tokens"] == 9
    assert "max_tokens" not in body_of(OPENAI, REQUEST)


def test_every_other_host_gets_the_name_that_all_know() -> None:
    assert body_of(LOCAL, REQUEST)["max_tokens"] == 9


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("Unsupported value: 'temperature' does not support 0.7 with this model.", "temperature"),
        ("Unrecognized request argument supplied: seed", "seed"),
        ("body.stream_options: Extra inputs are not permitted", "stream_options"),
    ],
)
def test_a_refused_setting_is_left_out(words: str, gone: str) -> None:
    change = adapted(BODY, words)
    assert change == ({key: value for key, value in BODY.items() if key != gone}, gone)


def test_the_limit_is_renamed_in_its_place() -> None:
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    change = adapted(BODY, words)
    assert change is not None
    assert list(change[0]) == [
        "model",
        "temperature",
        "seed",
        "max_completion_tokens",
        "stream_options",
    ]


@pytest.mark.parametrize(
    "words",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 32000.",
        "temperature must be between 0 and 1",
        "Unsupported parameter: 'top_k'",
        "Unsupported parameter: 'reasoning_effort'",
        "",
    ],
)
def test_a_body_that_no_change_would_help_is_left_alone(words: str) -> None:
    assert adapted(BODY, words) is None


def test_mending_ends_because_each_change_leaves_less_to_change() -> None:
    words = "unsupported: temperature, seed, stream_options, reasoning_effort, max_tokens"
    body: dict[str, Any] = BODY
    changes = 0
    while change := adapted(body, words):
        body, _ = change
        changes += 1
    assert changes == 3
