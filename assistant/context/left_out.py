"""What a draft does not send in full, and the handles that give it back (R49)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .draft import Draft
from .handles import range_handle, row_handle
from .log import Group
from .projections import Projections
from .shapes import changed_rows


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows, by their positions in the log, that are not sent in full, and their handle."""

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
    """The rows of the tail that are not sent in full, or not at all."""
    found: list[LeftOut] = []
    for shaped, whole in zip(draft.tail, draft.whole, strict=True):
        rows = changed_rows(shaped, whole) if shaped is not whole else ()
        found.extend(LeftOut(row_handle(row), (row,)) for row in (*rows, *_never_sent(whole)))
    return tuple(found)


def _never_sent(group: Group) -> Iterator[int]:
    """Rows of the group's range that no request may have, such as results without a call."""
    if group.end - group.first > len(group.rows):
        yield from sorted(set(range(group.first, group.end)) - set(group.rows))
