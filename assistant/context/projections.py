"""What a chat has committed to leave out: rows over ranges of its log (R28, R51).

A projection never changes the log. Each range carries a hash of the rows that it covers; a chat
that was edited or branched inside a range drops it, and what came after it, and is planned anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .log import ChatLog, Group
from .summary.state import Summary, extended


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows from `first` up to `end` are not sent; `summary` stands for them and for those of
    every cut before. `digest` is the hash of the covered rows."""

    first: int
    end: int
    digest: str
    summary: Summary | None


@dataclass(frozen=True, slots=True)
class Projections:
    """`cuts` follow each other without a gap. Results of rows before `masked` are lines (only where
    prompts are cached; elsewhere their position decides). `head_row` is the pinned first request.
    """

    cuts: tuple[Cut, ...] = ()
    masked: int = 0
    head_row: int | None = None

    @property
    def end(self) -> int:
        """The first row that is not covered by a cut."""
        return self.cuts[-1].end if self.cuts else 0

    @property
    def summary(self) -> Summary | None:
        return self.cuts[-1].summary if self.cuts else None

    def with_cut(
        self, log: ChatLog, covered: Sequence[Group], *, summarise: bool, most_head: int
    ) -> Projections:
        """The projections after a cut of `covered`, the first groups after the last cut.

        The first cut pins the first request, if it has at most `most_head` tokens (R22).
        """
        spoken = [group for group in covered if group.role != "system"]
        end = covered[-1].end
        first, head_row = self.end, self.head_row
        if not self.cuts:
            first = spoken[0].first if spoken else end
            if spoken and spoken[0].role == "user" and spoken[0].tokens <= most_head:
                head_row, first = spoken[0].first, spoken[0].end
                spoken = spoken[1:]
        summary = extended(self.summary, spoken, first, end) if summarise else None
        cut = Cut(first, end, log.digest(first, end), summary)
        return replace(self, cuts=(*self.cuts, cut), head_row=head_row)


def valid(projections: Projections, log: ChatLog) -> Projections:
    """The projections that still fit the log: those before the first range that was edited."""
    fitting: list[Cut] = []
    for cut in projections.cuts:
        if cut.end > len(log) or log.digest(cut.first, cut.end) != cut.digest:
            break
        fitting.append(cut)
    if len(fitting) == len(projections.cuts) and projections.masked <= len(log):
        return projections
    head_row = projections.head_row if fitting else None
    return Projections(tuple(fitting), min(projections.masked, len(log)), head_row)
