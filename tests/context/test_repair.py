"""Histories that no provider would accept, made valid."""

import pytest
from hypothesis import given
from plugin.assistant.context.repair import repair
from plugin.assistant.context.validator import faults
from plugin.assistant.messages.conversion import INTERRUPTED
from plugin.assistant.messages.prompt import PromptMessage

from .histories import HISTORIES, Messages, a_round, answer, calling, law, result, system, user


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
def test_any_history_with_a_user_message_becomes_valid(history: Messages) -> None:
    made = repair((user(), *history)).messages
    assert faults(made) == ()


@law
@given(HISTORIES)
def test_repairing_twice_changes_nothing_more(history: Messages) -> None:
    once = repair(history).messages
    again = repair(once)
    assert again.messages == once
    assert again.changes == 0


def test_a_valid_history_comes_back_as_the_same_messages() -> None:
    history = (system(), user(), *a_round("a", "b"), answer(), user())
    made = repair(history)
    assert all(new is old for new, old in zip(made.messages, history, strict=True))
    assert made.changes == 0


def test_a_message_that_stands_twice_is_no_repair() -> None:
    same = user()
    assert repair((same, answer(), same)).changes == 0


def test_a_result_without_a_call_is_left_out() -> None:
    made = repair((user(), result("gone"), answer()))
    assert made.messages == (user(), answer())
    assert made.changes == 1


def test_a_result_before_its_call_is_no_answer_to_it() -> None:
    made = repair((user(), result("a", "early"), calling("a")))
    assert "early" not in [message.text for message in made.messages]


def test_an_aborted_call_gets_a_result_that_says_so() -> None:
    made = repair((user(), calling("a", "b"), result("b", "done"), user("more"))).messages
    assert ids(made) == [("a", "b"), ("-> a",), ("-> b",)]
    assert INTERRUPTED in made[2].text
    assert made[2].failed
    assert made[3].text == "done"


def test_results_are_put_into_the_order_of_their_calls() -> None:
    made = repair((user(), calling("a", "b"), result("b", "2"), result("a", "1")))
    assert [message.text for message in made.messages[2:]] == ["1", "2"]
    assert made.changes == 1


def test_a_result_behind_a_later_message_is_brought_back_to_its_call() -> None:
    made = repair((user(), calling("a"), user("more"), result("a", "late"))).messages
    assert [message.text for message in made[1:]] == ["", "late", "more"]


def test_a_result_answers_the_newest_call_with_its_id() -> None:
    made = repair((user(), calling("a"), user("more"), calling("a"), result("a", "now"))).messages
    assert INTERRUPTED in made[2].text
    assert made[-1].text == "now"


def test_a_second_result_of_one_call_is_left_out() -> None:
    made = repair((user(), calling("a"), result("a", "first"), result("a", "second"))).messages
    assert [message.text for message in made[2:]] == ["first"]


def test_an_id_used_in_two_rounds_gets_a_suffix_in_the_later_one() -> None:
    history = (user(), calling("a"), result("a", "1"), calling("a"), result("a", "2"))
    made = repair(history).messages
    assert ids(made) == [("a",), ("-> a",), ("a-2",), ("-> a-2",)]
    assert [message.text for message in made if message.role == "tool"] == ["1", "2"]


def test_an_id_used_twice_in_one_answer_gets_a_suffix_and_its_own_result() -> None:
    history = (user(), calling("a", "a"), result("a", "1"), result("a", "2"))
    made = repair(history).messages
    assert ids(made) == [("a", "a-2"), ("-> a",), ("-> a-2",)]
    assert [message.text for message in made[2:]] == ["1", "2"]


def test_a_suffix_never_meets_an_id_that_is_in_use() -> None:
    made = repair((user(), calling("a", "a-2", "a", "a"))).messages
    (names,) = (name for name in ids(made) if len(name) > 1)
    assert len(set(names)) == 4


def test_what_is_renamed_stays_so_when_the_chat_goes_on() -> None:
    """A name depends on what comes before it only (R50)."""
    history = (user(), *a_round("a"), *a_round("a"))
    longer = (*history, user("more"), *a_round("a"))
    assert repair(longer).messages[: len(history)] == repair(history).messages


@pytest.mark.parametrize("empty", [user(""), answer(""), system(""), PromptMessage("user", ())])
def test_a_message_without_content_is_left_out(empty: PromptMessage) -> None:
    assert repair((empty, user())).messages == (user(),)


def test_a_call_without_an_id_gets_one() -> None:
    assert ids(repair((user(), calling("", ""))).messages)[0] == ("call", "call-2")


def test_a_thousand_calls_with_one_id_are_repaired_in_linear_work() -> None:
    """Every name is found without trying all names before it."""
    tried = 0

    class Counting(dict[str, int]):
        def __contains__(self, key: object) -> bool:
            nonlocal tried
            tried += 1
            return super().__contains__(key)

    from plugin.assistant.context import repair as module

    used = Counting()
    names = [module._free_id("a", used) for _ in range(1_000)]
    assert len(set(names)) == 1_000
    assert tried <= 2_000
