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
        ("图像生成", 5),
        ("Привет", 3),
        ("\U0001f600", 1),
        ("\ud800", 1),
    ],
)
def test_a_text_costs_by_its_runs_of_characters(text: str, tokens: int) -> None:
    assert text_tokens(text) == tokens


@law
@given(st.text(CHARACTERS))
def test_no_text_costs_less_than_a_quarter_of_its_characters(text: str) -> None:
    assert text_tokens(text) >= len(text) / 4


def test_a_giant_is_counted_by_samples() -> None:
    part = "The sampler is euler, the seed is 42. "
    whole, sampled = text_tokens(part * 1_000), text_tokens(part * 100_000)
    assert sampled == pytest.approx(100 * whole, rel=0.02)


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("The sampler is euler and the scheduler is simple, so the picture has eight steps.", 18),
        ('{"id":3,"type":"KSampler","pos":[820.5,190],"mode":0,"seed":156680208700286}', 30),
        ("def plan(self) -> Plan:\n    return Plan(messages, self._tools, report)\n", 18),
    ],
)
def test_the_estimate_is_near_the_count_of_a_tokenizer(text: str, exact: int) -> None:
    # `exact` is the count of OpenAI's o200k vocabulary.
    assert exact * 0.9 <= text_tokens(text) <= exact * 1.4


def test_a_message_costs_its_text_images_calls_and_reasoning() -> None:
    plain = PromptMessage("user", "a few words of a user who asks about one thing and another")
    assert message_tokens(plain) >= MESSAGE_TOKENS + text_tokens(plain.text)
    image = PromptMessage("user", (TextContent("four"), ImageContent("data:," + "A" * 9_999)))
    assert message_tokens(image) == MESSAGE_TOKENS + 1 + IMAGE_TOKENS
    call = PromptMessage("assistant", "", (ToolCall("c", "name", "{}"),))
    assert message_tokens(call) >= 2 * MESSAGE_TOKENS + 2
    thinking = PromptMessage("assistant", "four", reasoning={"reasoning": "x" * 400})
    assert message_tokens(thinking) > 100


def test_characters_are_those_that_the_model_reads() -> None:
    message = PromptMessage("assistant", "four", (ToolCall("an-id", "name", "{}"),))
    assert message_chars(message) == 10


def test_tool_schemas_are_counted_as_they_are_sent() -> None:
    assert schema_text(()) == ""
    assert schema_text(({"type": "function", "name": "é"},)) == '[{"type":"function","name":"é"}]'
