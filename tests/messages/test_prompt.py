"""Prompt messages as JSON of the OpenAI chat API."""

import json
from typing import Any

import pytest
from plugin.assistant.messages.prompt import (
    ImageContent,
    PromptMessage,
    TextContent,
    ToolCall,
    to_openai,
)


@pytest.mark.parametrize(
    ("message", "body"),
    [
        (PromptMessage("user", "Hi"), {"role": "user", "content": "Hi"}),
        (
            PromptMessage("user", (TextContent("a"), ImageContent("data:,"))),
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image_url", "image_url": {"url": "data:,"}},
                ],
            },
        ),
        (
            PromptMessage("tool", "ok", tool_call_id="c", failed=True, source="m1"),
            {"role": "tool", "content": "ok", "tool_call_id": "c"},
        ),
        (
            PromptMessage("assistant", "", (ToolCall("c", "n", '{"a":1}'),), source="m1"),
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c",
                        "type": "function",
                        "function": {"name": "n", "arguments": '{"a":1}'},
                    }
                ],
            },
        ),
        (
            PromptMessage("assistant", "x", reasoning={"reasoning_content": "Hm"}),
            {"role": "assistant", "content": "x", "reasoning_content": "Hm"},
        ),
    ],
)
def test_a_message_is_what_the_api_takes(message: PromptMessage, body: dict[str, Any]) -> None:
    assert to_openai(message) == body


def test_no_text_of_a_message_breaks_the_bytes_of_the_request() -> None:
    broken = "a\ud83d"
    messages = [
        PromptMessage("user", broken),
        PromptMessage("user", (TextContent(broken), ImageContent("data:," + broken))),
        PromptMessage(
            "assistant",
            "",
            (ToolCall(broken, "n", broken),),
            reasoning={"reasoning_details": [{broken: (broken,)}]},
        ),
        PromptMessage("tool", "x", tool_call_id=broken),
    ]
    for message in messages:
        assert "a\ufffd" in json.dumps(to_openai(message), ensure_ascii=False).encode().decode()


@pytest.mark.parametrize(
    ("message", "empty"),
    [
        (PromptMessage("user", ""), True),
        (PromptMessage("user", ()), True),
        (PromptMessage("user", (TextContent(""),)), True),
        (PromptMessage("user", (ImageContent("data:,"),)), False),
        (PromptMessage("assistant", "", (ToolCall("c", "n"),)), False),
        (PromptMessage("tool", "", tool_call_id="c"), False),
    ],
)
def test_a_message_is_empty_when_a_model_has_nothing_to_read(
    message: PromptMessage, empty: bool
) -> None:
    assert message.is_empty is empty
