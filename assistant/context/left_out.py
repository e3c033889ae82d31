"""The rows that a draft does not send in full, and their handles (R49)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from .draft import Draft
from .fidelity import changed_rows
from .handles import range_handle, row_handle
from .log import ChatLog
from .projections import Projections


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows of the log that are not sent in full, and the handle that gives them back."""

    handle: str
    indexes: Sequence[int]


def cut_ranges(projections: Projections) -> tuple[LeftOut, ...]:
    """The ranges that cuts cover, a handle for each cut."""
    return tuple(
        LeftOut(range_handle(cut.first, cut.end), range(cut.first, cut.end))
        for cut in projections.cuts
        if cut.end > cut.first
    )


def shortened_rows(draft: Draft) -> tuple[LeftOut, ...]:
    """The groups that an emergency dropped from the draft, and the rows of its tail that are not
    sent in full."""
    found = [
        LeftOut(range_handle(group.first, group.end), range(group.first, group.end))
        for group in draft.dropped
    ]
    for sent, whole in zip(draft.tail, draft.whole, strict=True):
        if sent is not whole:
            rows = changed_rows(sent, whole)
            found.extend(LeftOut(row_handle(row), (row,)) for row in rows)
    return tuple(found)


def unsent_rows(log: ChatLog, projections: Projections) -> tuple[LeftOut, ...]:
    """The rows that no request may have, such as results without a call, outside the cuts."""
    first = projections.cuts[0].first if projections.cuts else 0
    before = log.unsent[: bisect_left(log.unsent, first)]
    after = log.unsent[bisect_left(log.unsent, projections.end) :]
    return tuple(LeftOut(row_handle(row), (row,)) for row in (*before, *after))
