"""Commands from JSON: valid commands, and errors that name the place of the fault."""

from typing import Any

import pytest
from plugin.assistant.chats import ChatParams
from plugin.assistant.errors import InvalidRequest
from plugin.assistant.sessions import commands
from plugin.assistant.sessions.commands import command_from, type_of
from plugin.assistant.turn.decisions import Decision, ToolResult
from plugin.tests.chats.examples import user
from plugin.tests.sessions.command_types import COMMAND_TYPES

MESSAGE = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}
ANSWER = {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}
TRAJECTORY = {
    "type": "comfyui-assistant-trajectory",
    "version": 1,
    "messages": [{"row": 1, "parent": None, "message": MESSAGE}],
    "head": 1,
}
EVERY: dict[str, dict[str, Any]] = {
    "user_message": {"message": MESSAGE, "priority": True},
    "retry_from_index": {"index": 0, "message": MESSAGE},
    "regenerate": {"message_id": "a1"},
    "update_message": {"message_id": "a1", "message": ANSWER},
    "remove_message": {"message_id": "a1"},
    "truncate_messages": {"message_id": "a1"},
    "switch_version": {"message_id": "a1"},
    "branch_from_chat": {"message_id": "a1"},
    "restore_from_trajectory": {"trajectory": TRAJECTORY},
    "set_params": {"params": {"provider": "Work", "temperature": 1}},
    "set_draft": {"text": "a fox"},
    "clear_draft": {},
    "abort": {},
    "compact": {"focus": " the fox "},
    "approve_tools": {"ids": ["t1"], "remember": True},
    "reject_tools": {"ids": ["t1"], "reason": "no"},
    "tool_result": {"tool_call_id": "t1", "output": {"ok": 1}},
    "cancel_queued": {"id": "u1"},
    "resume_queue": {},
    "set_workflow": {},
    "undo_edits": {"message_id": "a1"},
    "redo_edits": {"message_id": "a1"},
    "restore_workflow": {"message_id": "a1"},
    "take_over": {},
}


def test_every_command_has_an_example() -> None:
    assert set(EVERY) == set(COMMAND_TYPES)


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_every_command_is_read_and_knows_its_name(kind: str) -> None:
    assert type_of(command_from({"type": kind, **EVERY[kind]})) == kind


@pytest.mark.parametrize("kind", COMMAND_TYPES)
def test_an_unknown_field_is_refused(kind: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        command_from({"type": kind, **EVERY[kind], "colour": "red"})
    assert refused.value.where == "colour"


@pytest.mark.parametrize(
    ("body", "command"),
    [
        (
            {"type": "user_message", "message": MESSAGE},
            commands.UserMessage(user("u1"), priority=False),
        ),
        ({"type": "retry_from_index", "index": 3}, commands.RetryFromIndex(index=3)),
        ({"type": "regenerate"}, commands.Regenerate(None)),
        ({"type": "compact", "focus": " the fox "}, commands.Compact("the fox")),
        (
            {"type": "set_params", "params": {"model": "m", "temperature": None}},
            commands.SetParams(ChatParams(model="m"), frozenset(("model", "temperature"))),
        ),
        ({"type": "approve_tools", "ids": ["t"]}, Decision(("t",), approved=True)),
        ({"type": "reject_tools", "ids": ["t"]}, Decision(("t",), approved=False)),
        ({"type": "tool_result", "tool_call_id": "t", "output": None}, ToolResult("t")),
    ],
)
def test_what_a_command_means(body: dict[str, Any], command: commands.Command) -> None:
    assert command_from(body) == command


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "type"),
        ({"type": "sing"}, "type"),
        ({"type": ["abort"]}, "type"),
        ({"type": "user_message"}, "message"),
        ({"type": "user_message", "message": ANSWER}, "message"),
        ({"type": "user_message", "message": MESSAGE, "priority": 1}, "priority"),
        ({"type": "retry_from_index"}, "index"),
        ({"type": "retry_from_index", "index": 1, "message_id": "a"}, "index"),
        ({"type": "retry_from_index", "index": -1}, "index"),
        ({"type": "retry_from_index", "index": True}, "index"),
        ({"type": "truncate_messages", "index": "1"}, "index"),
        ({"type": "regenerate", "message_id": 1}, "message_id"),
        ({"type": "update_message", "message": ANSWER}, "message_id"),
        ({"type": "remove_message", "message_id": ""}, "message_id"),
        ({"type": "restore_from_trajectory", "trajectory": "x"}, "trajectory"),
        ({"type": "restore_from_trajectory", "trajectory": {}}, "content"),
        ({"type": "set_params", "params": {}}, "params"),
        ({"type": "set_params", "params": {"colour": 1}}, "params.colour"),
        ({"type": "set_params", "params": {"temperature": 3}}, "params.temperature"),
        ({"type": "set_params", "params": {"temperature": True}}, "params.temperature"),
        ({"type": "set_params", "params": {"reasoning": "lots"}}, "params.reasoning"),
        ({"type": "set_params", "params": {"reasoning": []}}, "params.reasoning"),
        ({"type": "set_params", "params": {"model": " "}}, "params.model"),
        ({"type": "set_draft"}, "text"),
        ({"type": "set_draft", "text": "x" * 200_001}, "text"),
        ({"type": "cancel_queued"}, "id"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(body: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        command_from(body)
    assert refused.value.where == where
