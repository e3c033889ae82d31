"""Projections: the ranges that requests leave out, and whether they still fit the log."""

from collections.abc import Iterator
from dataclasses import replace

from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.projections import Projections, valid
from plugin.assistant.context.tool_facts import ToolFacts
from plugin.assistant.messages.changes import Change, ValueSet
from plugin.assistant.messages.prompt import ToolCall

from .histories import Messages, a_round, answer, joined, rounds, user

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


def test_the_ledger_follows_what_people_take_back_and_make_again() -> None:
    def facts(call: ToolCall, value: object) -> Iterator[Change]:
        yield ValueSet(call.id, "steps", 30)

    made = [*CHAT[:2], *rounds(1), *CHAT[2:4], *a_round("c1"), *CHAT[4:]]
    made[2], made[6] = (replace(made[row], source=f"a{row}") for row in (2, 6))
    log = ChatLog(made, facts=ToolFacts(changes=facts))
    kept = cut_at(log, cut_at(log, Projections(), 4), 9)

    def nodes(projections: Projections) -> list[str]:
        assert projections.summary is not None
        return [node for node, _ in projections.summary.ledger.values]

    assert nodes(kept) == ["c0", "c1"]
    without = kept.with_taken_back(log, {"a2"})
    assert nodes(without) == ["c1"]
    assert without.with_taken_back(log, ["a2"]) is without
    assert valid(without, log) is without
    assert nodes(without.with_taken_back(log, {"a2", "a6"})) == []
    assert without.with_taken_back(log, ()) == kept
    early = cut_at(log, Projections(), 4).with_taken_back(log, {"a6"})
    assert nodes(cut_at(log, early, 9)) == ["c0"], "a later cut knows it, too"
    dropped = valid(without, ChatLog(made[:5], facts=log.facts))
    assert (nodes(dropped), dropped.taken_back) == ([], ("a2",))


def test_a_mask_goes_when_a_row_in_it_was_edited() -> None:
    made = Projections().with_mask(ChatLog(CHAT), 6)
    assert valid(made, edited(7)) is made
    assert valid(made, edited(3)).mask is None
