"""The log: its groups, and the repair of rows that no provider would accept (R14, R53)."""

import pytest
from hypothesis import given
from plugin.assistant.context.log import ChatLog, Group
from plugin.assistant.context.tokens import message_tokens
from plugin.assistant.context.validator import faults
from plugin.assistant.messages.conversion import INTERRUPTED
from plugin.assistant.messages.prompt import PromptMessage, to_openai

from .histories import (
    HISTORIES,
    Messages,
    a_round,
    answer,
    calling,
    joined,
    law,
    result,
    system,
    user,
)


def groups(*messages: PromptMessage) -> tuple[Group, ...]:
    return ChatLog(messages).groups_from(0)


def sent(*messages: PromptMessage) -> Messages:
    """The messages that a request may have of these rows."""
    return joined(group.messages for group in groups(*messages))


def ids(messages: Messages) -> list[tuple[str, ...]]:
    """The ids of each call, and of the call that each result answers."""
    made = []
    for message in messages:
        if message.tool_calls:
            made.append(tuple(call.id for call in message.tool_calls))
        elif message.role == "tool":
            made.append((f"-> {message.tool_call_id}",))
    return made


@law
@given(HISTORIES)
def test_any_log_with_a_user_message_is_valid(history: Messages) -> None:
    assert faults(sent(user(), *history)) == ()


@law
@given(HISTORIES)
def test_mending_what_was_mended_changes_nothing(history: Messages) -> None:
    once = sent(*history)
    again = ChatLog(once)
    assert joined(group.messages for group in again.groups_from(0)) == once
    assert again.repairs == 0


@law
@given(HISTORIES)
def test_groups_and_unsent_rows_together_are_the_log(history: Messages) -> None:
    log = ChatLog(history)
    rows = [row for group in log.groups_from(0) for row in group.rows if row is not None]
    assert sorted([*rows, *log.unsent]) == list(range(len(history)))


@law
@given(HISTORIES)
def test_appending_changes_no_group_that_was_closed(history: Messages) -> None:
    log = ChatLog(history)
    before = log.groups_from(0)
    log.append(user("more"))
    assert log.groups_from(0)[: len(before)] == before


@law
@given(HISTORIES)
def test_a_group_costs_what_its_messages_cost(history: Messages) -> None:
    for group in groups(*history):
        assert group.tokens == sum(map(message_tokens, group.messages))


def test_a_valid_log_is_sent_as_the_same_messages() -> None:
    history = (system(), user(), *a_round("a", "b"), answer(), user())
    assert all(new is old for new, old in zip(sent(*history), history, strict=True))
    assert ChatLog(history).repairs == 0


def test_a_round_is_a_call_and_all_that_answers_it() -> None:
    found = groups(user(), *a_round("a", "b"), answer(), user())
    assert [len(group) for group in found] == [1, 3, 1, 1]
    assert [group.is_round for group in found] == [False, True, False, False]
    assert [(group.first, group.end) for group in found] == [(0, 1), (1, 4), (4, 5), (5, 6)]


def test_results_are_put_into_the_order_of_their_calls() -> None:
    (_, made) = groups(user(), calling("a", "b"), result("b", "2"), result("a", "1"))
    assert [message.text for message in made.results] == ["1", "2"]
    assert made.rows == (1, 3, 2)


def test_an_aborted_call_gets_a_result_that_says_so() -> None:
    (_, made, _) = groups(user(), calling("a", "b"), result("b", "done"), user("more"))
    assert INTERRUPTED in made.results[0].text
    assert made.results[0].failed
    assert made.rows == (1, None, 2)


def test_an_open_round_takes_the_results_that_still_come() -> None:
    log = ChatLog((user(), calling("a", "b"), result("a", "1")))
    assert INTERRUPTED in log.groups_from(1)[0].results[1].text
    log.append(result("b", "2"))
    assert [message.text for message in log.groups_from(1)[0].results] == ["1", "2"]


@pytest.mark.parametrize(
    ("history", "unsent"),
    [
        ((user(), result("gone"), answer()), [1]),
        ((user(), result("a", "early"), calling("a")), [1]),
        ((user(), calling("a"), result("a"), result("a", "again")), [3]),
        ((user(), calling("a"), user("more"), result("a", "late")), [3]),
        ((user(""), user()), [0]),
        ((user(), PromptMessage("user", ())), [1]),
    ],
)
def test_what_answers_no_call_or_is_empty_stays_in_the_log_alone(
    history: Messages, unsent: list[int]
) -> None:
    log = ChatLog(history)
    assert log.unsent == unsent
    assert log.repairs >= len(unsent)


def test_an_id_used_twice_gets_a_suffix_and_its_own_result() -> None:
    made = sent(user(), calling("a", "a"), result("a", "1"), result("a", "2"), *a_round("a"))
    assert ids(made) == [("a", "a-2"), ("-> a",), ("-> a-2",), ("a-3",), ("-> a-3",)]
    assert [message.text for message in made if message.role == "tool"] == ["1", "2", "{}"]


def test_a_suffix_never_meets_an_id_that_is_in_use() -> None:
    (names, *_) = ids(sent(user(), calling("a", "a-2", "a", "a")))
    assert len(set(names)) == 4


def test_ids_are_told_apart_as_they_are_sent() -> None:
    made = sent(user(), calling("\ud800", "\ud801"), result("\ud801", "2"), result("\ud800", "1"))
    bodies = [to_openai(message) for message in made]
    names = [call["id"] for call in bodies[1]["tool_calls"]]
    assert len(set(names)) == 2
    assert [body["tool_call_id"] for body in bodies[2:]] == names


def test_a_call_without_an_id_gets_one() -> None:
    assert ids(sent(user(), calling("", "")))[0] == ("call", "call-2")


@pytest.mark.parametrize(
    ("history", "first"),
    [
        ((user(),), True),
        ((user(), *a_round("a"), *a_round("b")), True),  # the first turn's tool loop
        ((user("one"), user("two")), True),
        ((user(), answer(), user()), False),
        ((user(), *a_round("a"), user()), False),
        ((answer("Welcome!"), user()), False),
        ((system(), user()), True),
    ],
)
def test_a_turn_is_the_first_while_nothing_was_answered_before_its_question(
    history: Messages, first: bool
) -> None:
    assert ChatLog(history).first_turn is first


def test_a_hash_tells_every_row_and_their_order_apart() -> None:
    logs = [(user("a"), user("b")), (user("b"), user("a")), (user("ab"), user("")), (user("a"),)]
    assert len({ChatLog(log).content_hash(0, len(log)) for log in logs}) == len(logs)
    assert ChatLog(logs[0]).content_hash(1, 2) == ChatLog(logs[1]).content_hash(0, 1)
