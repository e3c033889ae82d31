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
class Covered:
    """The rows from `first` up to `end`, and the hash that they had when they were covered."""

    first: int
    end: int
    digest: str

    @classmethod
    def of(cls, log: ChatLog, first: int, end: int) -> Covered:
        return cls(first, end, log.digest(first, end))

    def fits(self, log: ChatLog) -> bool:
        return self.end <= len(log) and log.digest(self.first, self.end) == self.digest


@dataclass(frozen=True, slots=True)
class Told:
    """What a model told of all rows up to the end of `rows`; no cut covered those when it did."""

    text: str
    rows: Covered


@dataclass(frozen=True, slots=True)
class Projections:
    """`cuts` are the ranges that are not sent; they follow each other without a gap, and `summary`
    stands for all of them, in a message of at most `summary_tokens` tokens. Two rows stay whatever
    the cuts cover: `head_row` is the pinned first request, `asked_row` the request of the turn that
    the last cut went through. Results in `mask` are lines (only where prompts are cached; elsewhere
    their position decides). `made_at` is how many rows the log had when this was committed. `told`
    is what a model told for the next cut to take over; it stays while it tells of rows that are not
    cut.
    """

    cuts: tuple[Covered, ...] = ()
    summary: Summary | None = None
    summary_tokens: int = 0
    head_row: int | None = None
    asked_row: int | None = None
    mask: Covered | None = None
    made_at: int = 0
    told: Told | None = None

    @property
    def end(self) -> int:
        """The first row that is not covered by a cut."""
        return self.cuts[-1].end if self.cuts else 0

    @property
    def masked(self) -> int:
        """The row before which results are lines."""
        return self.mask.end if self.mask else 0

    @property
    def last_told(self) -> tuple[str, int]:
        """What a model told last, and the row up to which it did."""
        if self.told is not None:
            return self.told.text, self.told.rows.end
        return (self.summary.told, self.summary.told_end) if self.summary else ("", 0)

    def with_mask(self, log: ChatLog, end: int) -> Projections:
        """The projections after a mask of what is still sent before the row `end`."""
        return replace(self, mask=Covered.of(log, self.end, end), made_at=len(log))

    def with_cut(
        self, log: ChatLog, covered: Sequence[Group], *, most_head: int, most_summary: int
    ) -> Projections:
        """The projections after a cut of `covered`, the first groups after the last cut.

        The first cut pins the first request, if it has at most `most_head` tokens and is not the
        one that is being answered (R22). A `most_summary` of 0 leaves no summary.
        """
        end, first, head_row = covered[-1].end, self.end, self.head_row
        asked = log.last_user
        if not self.cuts:
            pinned = _pinned(covered, most_head)
            if pinned is not None and pinned != asked:
                head_row, first = pinned, pinned + 1
        cut = Projections(
            cuts=(*self.cuts, Covered.of(log, first, end)),
            summary=_summary(self.summary, covered, first, end) if most_summary else None,
            summary_tokens=most_summary,
            head_row=head_row,
            asked_row=asked if asked is not None and asked < end else None,
            mask=self.mask,
            made_at=len(log),
            told=self.told,
        )
        return _with_told_shown(cut)

    def with_told(self, log: ChatLog, text: str, end: int, *, shown: bool) -> Projections:
        """The projections after a model told of the rows before `end`: in the summary at once where
        it is `shown`, else from the next cut on."""
        told = Told(text, Covered.of(log, min(self.end, end), end))
        waiting = replace(self, told=told)
        return _with_told_shown(waiting) if shown else waiting


def _with_told_shown(projections: Projections) -> Projections:
    """The projections with what waited in their summary."""
    summary, told = projections.summary, projections.told
    if summary is None or told is None:
        return projections
    summary = replace(summary, told=told.text, told_end=told.rows.end)
    return replace(
        projections, summary=summary, told=told if told.rows.end > projections.end else None
    )


def _pinned(groups: Sequence[Group], most_tokens: int) -> int | None:
    """The row of the first request, if the chat begins with a short one."""
    first = next((group for group in groups if group.role != "system"), None)
    short = first is not None and first.role == "user" and first.tokens <= most_tokens
    return first.first if first is not None and short else None


def _summary(last: Summary | None, groups: Sequence[Group], first: int, end: int) -> Summary:
    """The summary of what `last` stands for and of those `groups` that the cut from `first` covers;
    system messages are sent whatever was cut."""
    spoken = (group for group in groups if group.first >= first and group.role != "system")
    return extended(last, spoken, first, end)


def valid(projections: Projections, log: ChatLog) -> Projections:
    """The projections that still fit the log: those before the first range that was edited."""
    cuts: list[Covered] = []
    for cut in projections.cuts:
        if not cut.fits(log):
            break
        cuts.append(cut)
    if len(cuts) < len(projections.cuts):
        return _shortened(projections, tuple(cuts), log)
    if projections.mask is not None and not projections.mask.fits(log):
        projections = replace(projections, mask=None)
    if projections.told is not None and not projections.told.rows.fits(log):
        projections = _untold(projections, projections.told.text)
    return projections


def _untold(projections: Projections, text: str) -> Projections:
    """The projections without what a model told of rows that are others now."""
    summary = projections.summary
    if summary is not None and summary.told == text:
        summary = replace(summary, told="", told_end=0)
    return replace(projections, summary=summary, told=None)


def _shortened(projections: Projections, cuts: tuple[Covered, ...], log: ChatLog) -> Projections:
    """The projections with only the first `cuts`, summarised again from the log."""
    if not cuts:
        return Projections()
    summary = None
    if projections.summary is not None:
        for cut in cuts:
            groups = log.groups_between(cut.first, cut.end)
            summary = _summary(summary, groups, cut.first, cut.end)
    return Projections(cuts, summary, projections.summary_tokens, projections.head_row)
