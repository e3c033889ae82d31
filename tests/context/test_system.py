"""Which system message a request gets (R1-R3)."""

import pytest
from plugin.assistant.context.system import SystemText, has_system, is_first_turn, with_system

from .histories import Messages, a_round, answer, system, user

OURS = SystemText("We help.", "full")


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
    assert is_first_turn(history) is first


@pytest.mark.parametrize("kind", ["full", "continuation", "compact"])
def test_ours_of_either_kind_goes_in_front_where_the_client_sent_none(kind: str) -> None:
    ours = SystemText("We help.", kind)  # type: ignore[arg-type]
    assert with_system((user(),), ours) == (system("We help."), user())


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_client_s_own_holds_wherever_it_stands(place: int) -> None:
    messages = [user("one"), user("two")]
    messages.insert(place, system("Speak Latin."))
    assert has_system(messages)
    assert with_system(tuple(messages), OURS) == tuple(messages)


def test_none_is_added_where_there_is_none_to_add() -> None:
    assert with_system((user(),), None) == (user(),)
    assert with_system((user(),), SystemText("", "full")) == (user(),)
