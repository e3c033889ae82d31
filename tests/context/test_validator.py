"""The validator: the faults that a server would refuse."""

import pytest
from plugin.assistant.context.validator import faults
from plugin.assistant.messages.prompt import PromptMessage, ToolCall

from .histories import Messages, a_round, answer, calling, result, system, user


@pytest.mark.parametrize(
    "request_",
    [
        (user(),),
        (system(), user(), answer(), user()),
        (user(), *a_round("a", "b"), *a_round("c")),
        (user(), calling("a", "b"), result("b"), result("a")),
        (user(), calling("a"), result("a", "")),
    ],
)
def test_a_valid_request_has_no_faults(request_: Messages) -> None:
    assert faults(request_) == ()


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ((), "no message"),
        ((system(),), "no message"),
        ((user(), result("a")), "message 1: a result without its call"),
        ((user(), calling("a"), result("b"), result("a")), "message 2: a result without its call"),
        ((user(), calling("a"), user()), "message 2: 1 calls before it have no result"),
        ((user(), calling("a", "b"), result("a")), "1 calls at the end have no result"),
        ((user(), *a_round("a"), *a_round("a")), "message 3: the id 'a' is used twice"),
        ((user(), user("")), "message 1: an empty user message"),
        (
            (PromptMessage("user", "x", (ToolCall("a", "n"),)), result("a")),
            "message 0: tool calls in a user message",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(request_: Messages, fault: str) -> None:
    assert any(found.startswith(fault) for found in faults(request_))


@pytest.mark.parametrize(
    ("request_", "fault"),
    [
        ((user(), user()), "message 1: two user messages in a row"),
        ((user(), answer(), answer()), "message 2: two assistant messages in a row"),
        ((system(), answer(), user()), "message 1: an assistant message before any user message"),
        ((user(), system(), answer()), "message 1: a system message within the conversation"),
    ],
)
def test_turns_count_only_where_a_server_wants_them(request_: Messages, fault: str) -> None:
    assert faults(request_) == ()
    assert faults(request_, alternation=True) == (fault,)


def test_rounds_in_a_row_take_turns() -> None:
    assert faults((user(), *a_round("a"), *a_round("b"), answer()), alternation=True) == ()
