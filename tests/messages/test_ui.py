"""Parsing UI message JSON into messages, and writing it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.messages.parts import (
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
)
from plugin.assistant.messages.ui import (
    LONGEST_ID,
    message_from_ui,
    message_to_ui,
    messages_from_ui,
)

from .strategies import MESSAGES


def body(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "m1", "role": "user", "parts": list(parts), **fields}


def tool(**fields: Any) -> dict[str, Any]:
    return {
        "type": "dynamic-tool",
        "toolName": "getUserSkill",
        "toolCallId": "c",
        "state": "input-available",
        **fields,
    }


@settings(max_examples=100)
@given(MESSAGES)
def test_any_message_is_read_back_equal(message: Message) -> None:
    sent = json.loads(json.dumps(message_to_ui(message)))
    expected = json.loads(json.dumps(message_to_ui(message)))  # pairs of surrogates joined
    assert message_to_ui(message_from_ui(sent)) == expected
    assert message_from_ui(message_to_ui(message)) == message


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "x", "state": "streaming"}, TextPart("x")),
        (
            {"type": "reasoning", "text": "x", "providerMetadata": {"a": {}}},
            ReasoningPart("x", {"a": {}}),
        ),
        (
            {"type": "file", "mediaType": "a/b", "url": "u", "filename": "f"},
            FilePart("a/b", "u", "f"),
        ),
        ({"type": "step-start"}, StepStart()),
        ({"type": "data-skill", "data": 1, "id": "i"}, DataPart("skill", 1, "i")),
        ({"type": "source-url", "url": "u"}, OpaquePart({"type": "source-url", "url": "u"})),
        ({"type": "of-tomorrow", "x": [1]}, OpaquePart({"type": "of-tomorrow", "x": [1]})),
        (tool(), ToolPart("c", "getUserSkill", "input-available")),
        (
            {"type": "tool-a-b", "toolCallId": "c", "state": "output-available", "output": 0},
            ToolPart("c", "a-b", "output-available", output=0),
        ),
        (tool(rawInput="{"), ToolPart("c", "getUserSkill", "input-available", input="{")),
        (
            tool(state="approval-responded", approval={"id": "a", "approved": False}),
            ToolPart("c", "getUserSkill", "approval-responded", approval=Approval("a", False)),
        ),
    ],
)
def test_a_part_is_read(part: dict[str, Any], expected: object) -> None:
    assert message_from_ui(body(part)).parts == (expected,)


def test_an_output_counts_only_where_the_state_says_so() -> None:
    part = message_from_ui(body(tool(state="output-error", output="x", errorText="no"))).parts[0]
    assert part == ToolPart("c", "getUserSkill", "output-error", error_text="no")


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (None, "message:"),
        ([], "message:"),
        (body(role="tool"), "message.role"),
        (body(role=["user"]), "message.role"),
        ({"role": "user"}, "message.parts"),
        (body(parts={}), "message.parts"),
        (body(metadata=[]), "message.metadata"),
        (body(id=7), "message.id"),
        (body(id=""), "message.id"),
        (body(id="x" * (LONGEST_ID + 1)), "message.id"),
        (body(id="a\nb"), "message.id"),
        (body(id="\ud800"), "message.id"),
        (body("text"), "message.parts[0]"),
        (body({}), "message.parts[0].type"),
        (body({"type": "text"}), "message.parts[0].text"),
        (body({"type": "file", "mediaType": "a/b"}), "message.parts[0].url"),
        (body({"type": "reasoning", "text": "", "providerMetadata": 1}), "providerMetadata"),
        (body(tool(state="done")), "message.parts[0].state"),
        (body(tool(state=None)), "message.parts[0].state"),
        (body(tool(toolCallId="")), "message.parts[0].toolCallId"),
        (body(tool(toolName=1)), "message.parts[0].toolName"),
        (body(tool(approval="yes")), "message.parts[0].approval"),
        (body(tool(approval={"id": "a", "approved": "yes"})), "approval"),
        (body(tool(input=float("nan"))), "message:"),
        (body(tool(input=json.loads("[" * 200 + "]" * 200))), "message:"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(wrong: Any, where: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        message_from_ui(wrong)
    assert where in caught.value.message
    caught.value.message.encode()


@pytest.mark.parametrize("wrong", [None, {}, "x", []])
def test_a_request_needs_a_list_with_a_message(wrong: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"^messages: expected"):
        messages_from_ui(wrong)


def test_an_id_used_twice_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"^messages\[1\]\.id"):
        messages_from_ui([body(), body()])


def test_messages_without_ids_get_stable_ones_of_their_own() -> None:
    bare = {"role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    first, second = messages_from_ui([bare, bare])
    assert first.id != second.id
    assert messages_from_ui([bare, bare]) == (first, second)
