"""Which of the history is sent."""

from plugin.assistant.context.history import from_first_user, limit_messages, limit_tokens

from .histories import a_round, answer, joined, rounds, system, user

CHAT = joined([(user(str(n)), answer(str(n))) for n in range(10)])


def test_the_newest_messages_stay() -> None:
    kept = limit_messages((*CHAT, user("now")), 5)
    assert [message.text for message in kept.messages] == ["8", "8", "9", "9", "now"]
    assert kept.left_out == 16


def test_zero_keeps_all() -> None:
    assert limit_messages(CHAT, 0).messages is CHAT


def test_a_history_within_the_limit_stays_as_it_is() -> None:
    assert limit_messages(CHAT, len(CHAT)).messages == CHAT


def test_system_messages_stay_and_do_not_count() -> None:
    kept = limit_messages((system("a"), *CHAT, system("b"), user("now")), 2)
    assert [message.text for message in kept.messages] == ["a", "9", "b", "now"]


def test_a_round_is_never_split() -> None:
    history = (user("old"), *a_round("a", "b", "c"), answer(), user("now"))
    kept = limit_messages(history, 4)
    assert [message.role for message in kept.messages] == ["assistant", "user"]


def test_an_older_group_does_not_slip_in_past_one_that_did_not_fit() -> None:
    history = (user("small"), *a_round("a", "b", "c", "d"), user("now"))
    assert [message.text for message in limit_messages(history, 2).messages] == ["now"]


def test_the_last_user_message_and_the_open_round_win_over_the_limit() -> None:
    history = (user("now"), *rounds(20), *a_round("x", "y", "z"))
    kept = limit_messages(history, 1)
    assert kept.messages == (history[0], *history[-4:])


def test_a_question_far_back_stays_with_the_rounds_that_fit() -> None:
    history = (user("old"), answer(), user("now"), *rounds(20))
    kept = limit_messages(history, 5)
    assert kept.messages == (user("now"), *rounds(20)[-4:])


def test_tokens_are_limited_in_whole_groups_too() -> None:
    history = (*CHAT, user("now"), *a_round("a"))
    kept = limit_tokens(history, 50, lambda message: 10)
    assert kept.messages == (CHAT[-2], CHAT[-1], user("now"), *a_round("a"))


def test_no_room_at_all_keeps_what_is_protected() -> None:
    assert limit_tokens((*CHAT, user("now")), -5, lambda message: 10).messages == (user("now"),)


def test_answers_that_lost_their_question_can_be_left_out() -> None:
    kept = from_first_user((system(), answer(), *a_round("a"), user("now"), answer()))
    assert kept.messages == (system(), user("now"), answer())
    assert kept.left_out == 3


def test_a_history_that_begins_with_the_user_stays_as_it_is() -> None:
    assert from_first_user((system(), *CHAT)).messages == (system(), *CHAT)
