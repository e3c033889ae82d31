"""Projections: the ranges that requests leave out, and whether they still fit the log."""

from dataclasses import replace

from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.projections import Projections, valid

from .histories import Messages, answer, joined, rounds, user

CHAT: Messages = joined((user(f"question {n}"), answer(f"answer {n}")) for n in range(8))


def cut_at(log: ChatLog, projections: Projections, end: int, most_head: int = 0) -> Projections:
    return projections.with_cut(
        log, log.groups_between(projections.end, end), most_head=most_head, most_summary=500
    )


def two_cuts() -> Projections:
    log = ChatLog(CHAT)
    return cut_at(log, cut_at(log, Projections(), 4), 9)


def edited(row: int) -> ChatLog:
    return ChatLog((*CHAT[:row], replace(CHAT[row], content="another"), *CHAT[row + 1 :]))


def test_cuts_follow_each_other_without_a_gap() -> None:
    assert [(cut.first, cut.end) for cut in two_cuts().cuts] == [(0, 4), (4, 9)]


def test_a_summary_stands_for_all_cuts() -> None:
    summary = two_cuts().summary
    assert summary is not None
    assert (summary.first, summary.end, summary.messages) == (0, 9, 9)


def test_the_first_cut_pins_a_short_first_request() -> None:
    made = cut_at(ChatLog(CHAT), Projections(), 4, most_head=50)
    assert (made.head_row, made.answer_row) == (0, 1)
    assert made.cuts[0].first == 2


def test_an_answer_that_would_leave_nothing_to_cut_is_not_pinned() -> None:
    made = cut_at(ChatLog(CHAT), Projections(), 2, most_head=50)
    assert (made.head_row, made.answer_row) == (0, None)
    assert (made.cuts[0].first, made.cuts[0].end) == (1, 2)


def test_an_answer_after_rounds_is_pinned_and_not_summarised() -> None:
    log = ChatLog((user("Draw."), *rounds(2), answer("It is drawn in blue."), user("more")))
    made = cut_at(log, Projections(), 6, most_head=50)
    assert (made.head_row, made.answer_row) == (0, 5)
    assert made.cuts[0].first == 1
    assert made.summary is not None
    assert made.summary.last_words == ""


def test_the_request_that_is_being_answered_is_not_pinned_but_kept() -> None:
    log = ChatLog((user("the only one"), *(answer(str(n)) for n in range(6))))
    made = cut_at(log, Projections(), 4, most_head=50)
    assert made.head_row is None
    assert made.asked_row == 0


def test_projections_that_fit_come_back_as_they_are() -> None:
    made = two_cuts()
    assert valid(made, ChatLog((*CHAT, user("more")))) is made


def test_an_edit_drops_its_range_and_what_followed() -> None:
    made = two_cuts()
    assert valid(made, edited(2)) == Projections()
    kept = valid(made, edited(5))
    assert kept.cuts == made.cuts[:1]
    first = cut_at(ChatLog(CHAT), Projections(), 4)
    assert kept.summary == first.summary


def test_an_edit_behind_the_ranges_changes_nothing() -> None:
    made = two_cuts()
    assert valid(made, edited(9)) is made


def test_a_branch_before_the_end_of_a_range_drops_it() -> None:
    assert valid(two_cuts(), ChatLog(CHAT[:6])).end == 4
    assert valid(two_cuts(), ChatLog(CHAT[:3])) == Projections()


def test_a_mask_goes_when_a_row_in_it_was_edited() -> None:
    made = Projections().with_mask(ChatLog(CHAT), 6)
    assert valid(made, edited(7)) is made
    assert valid(made, edited(3)).mask is None
