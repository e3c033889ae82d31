"""Estimated tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.context.tokens import (
    IMAGE_TOKENS,
    MESSAGE_TOKENS,
    message_chars,
    message_tokens,
    schema_text,
    text_tokens,
)
from plugin.assistant.messages.prompt import ImageContent, PromptMessage, TextContent, ToolCall

from .histories import CHARACTERS, law


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("four", 1),
        ("five!", 2),
        ("图像生成", 4),
        ("Привет", 4),
        ("\U0001f600", 2),
        ("\ud800", 1),
    ],
)
def test_a_text_costs_by_its_bytes(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


@law
@given(st.text(CHARACTERS), st.text(CHARACTERS))
def test_a_longer_text_never_costs_less(first: str, second: str) -> None:
    assert text_tokens(first + second) >= text_tokens(first)
    assert text_tokens(first + second) <= text_tokens(first) + text_tokens(second)


def test_a_message_costs_its_text_images_calls_and_reasoning() -> None:
    assert message_tokens(PromptMessage("user", "four")) == MESSAGE_TOKENS + 1
    image = PromptMessage("user", (TextContent("four"), ImageContent("data:," + "A" * 9_999)))
    assert message_tokens(image) == MESSAGE_TOKENS + 1 + IMAGE_TOKENS
    call = PromptMessage("assistant", "", (ToolCall("c", "name", "{}"),))
    assert message_tokens(call) == 2 * MESSAGE_TOKENS + 2
    thinking = PromptMessage("assistant", "four", reasoning={"reasoning": "x" * 400})
    assert message_tokens(thinking) > 100


def test_characters_are_those_that_the_model_reads() -> None:
    message = PromptMessage("assistant", "four", (ToolCall("an-id", "name", "{}"),))
    assert message_chars(message) == 10


def test_tool_schemas_are_counted_as_they_are_sent() -> None:
    assert schema_text(()) == ""
    assert schema_text(({"type": "function", "name": "é"},)) == '[{"type":"function","name":"é"}]'
