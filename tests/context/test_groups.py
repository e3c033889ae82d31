"""What stays or goes together."""

from hypothesis import given
from plugin.assistant.context.groups import groups_of, protected

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


@law
@given(HISTORIES)
def test_the_groups_are_the_messages_in_order(history: Messages) -> None:
    groups = groups_of(history)
    assert joined(group.messages for group in groups) == history
    for group in groups:
        assert history[group.start] is group.messages[0]


def test_a_round_is_a_call_and_all_that_answers_it() -> None:
    groups = groups_of((user(), calling("a", "b"), result("a"), result("b"), answer(), user()))
    assert [len(group.messages) for group in groups] == [1, 3, 1, 1]
    assert [group.is_round for group in groups] == [False, True, False, False]
    assert [message.tool_call_id for message in groups[1].results] == ["a", "b"]


def test_the_last_user_message_and_the_newest_round_are_protected() -> None:
    history = (system(), user(), answer(), user(), *a_round("a"), *a_round("b"))
    groups = groups_of(history)
    assert protected(groups) == {3, 5}


def test_a_last_user_message_alone_is_protected() -> None:
    assert protected(groups_of((user(), answer(), user(), system()))) == {2}


def test_nothing_is_protected_where_nothing_is() -> None:
    assert protected(groups_of((system(),))) == frozenset()
