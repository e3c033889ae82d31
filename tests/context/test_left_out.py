"""The handles of rows that a request does not send in full."""

from plugin.assistant.context.left_out import cut_ranges, unsent_rows
from plugin.assistant.context.log import ChatLog
from plugin.assistant.context.projections import Projections

from .histories import answer, joined, result, user

LOG = ChatLog(
    (result("early"), *joined((user(str(n)), answer(), result("gone")) for n in range(4)), user())
)


def cut(end: int, before: Projections) -> Projections:
    covered = LOG.groups_between(before.end, end)
    return before.with_cut(LOG, covered, most_head=50, most_summary=99)


def test_each_cut_has_a_handle_of_its_own() -> None:
    made = cut(9, cut(5, Projections()))
    assert [item.handle for item in cut_ranges(made)] == ["r3-4", "r5-8"]
    assert [list(item.indexes) for item in cut_ranges(made)] == [[3, 4], [5, 6, 7, 8]]


def test_rows_that_no_request_may_have_are_named_where_no_cut_covers_them() -> None:
    everywhere = [item.indexes for item in unsent_rows(LOG, Projections())]
    assert everywhere == [(0,), (3,), (6,), (9,), (12,)]
    left = [item.indexes for item in unsent_rows(LOG, cut(9, Projections()))]
    assert left == [(0,), (9,), (12,)]
