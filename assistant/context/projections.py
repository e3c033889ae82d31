"""Projections: the ranges of a chat's log that requests leave out, and their summary (R28, R51).

A projection never changes the log. Each range has a hash of the rows that it covers. When the chat
is edited or branched inside a range, that range and the later ones are dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .log import ChatLog, Group
from .summary.ledger import Ledger
from .summary.state import Summary, extended


@dataclass(frozen=True, slots=True)
class Covered:
    """The rows from `first` up to `end`, which is not included, and their hash when they were
    covered. `limit` is the setting that asked for a cut; "" where the user did. `made_at` is the
    number of rows in the log when a cut was made."""

    first: int
    end: int
    content_hash: str
    limit: str = ""
    made_at: int = 0

    @classmethod
    def of(cls, log: ChatLog, first: int, end: int, limit: str = "", made_at: int = 0) -> Covered:
        return cls(first, end, log.content_hash(first, end), limit, made_at)

    def fits(self, log: ChatLog) -> bool:
        return self.end <= len(log) and log.content_hash(self.first, self.end) == self.content_hash


@dataclass(frozen=True, slots=True)
class LLMSummary:
    """An LLM summary of all rows before `rows.end`, made before a cut covered `rows`."""

    text: str
    rows: Covered


@dataclass(frozen=True, slots=True)
class Shown:
    """Passages that requests have before the user message at the row `row`: the `rows` that they
    are from, their texts and days, and what their note says beside them, as in `notes.Note`. The
    hash is that of the user message."""

    row: int
    rows: tuple[int, ...]
    texts: tuple[str, ...]
    dates: tuple[str, ...]
    hint: str
    content_hash: str

    def fits(self, log: ChatLog) -> bool:
        return self.row < len(log) and log.content_hash(self.row, self.row + 1) == self.content_hash


@dataclass(frozen=True, slots=True)
class Projections:
    """`cuts` are the ranges that are not sent. They follow each other without a gap, and `summary`
    replaces all of them, in a message of at most `summary_tokens` tokens.

    Rows that are sent even when a cut covers them: `head_row` is the pinned first request,
    `answer_row` its pinned answer, `asked_row` the request of the turn that the last cut went
    through. Results in `mask` are sent as digests, but for those of the rounds that begin at the
    rows `unmasked`; it is used only where prompts are cached. `made_at` is the number of rows in
    the log at the commitment. `llm_summary` waits for the next cut, whose summary takes its text;
    it is kept as long as it covers rows that are not cut. `shown` are the passages of turns since
    the last cut, in the order of their rows; they stay where they were sent, where prompts are
    cached. `core` are the ids of the memories that the chat began with, where prompts are cached;
    None for a chat that had no request yet, or began without. `spent` are US dollars for requests
    about the chat that are none of its answers. `taken_back` are the ids of the answers whose edits
    a person took back, in order; the summary's ledger is without them.
    """

    cuts: tuple[Covered, ...] = ()
    summary: Summary | None = None
    summary_tokens: int = 0
    head_row: int | None = None
    asked_row: int | None = None
    mask: Covered | None = None
    answer_row: int | None = None
    unmasked: tuple[int, ...] = ()
    made_at: int = 0
    llm_summary: LLMSummary | None = None
    shown: tuple[Shown, ...] = ()
    core: tuple[str, ...] | None = None
    spent: float = 0.0
    taken_back: tuple[str, ...] = ()

    @property
    def end(self) -> int:
        """The first row that is not covered by a cut."""
        return self.cuts[-1].end if self.cuts else 0

    @property
    def summarised_at(self) -> int:
        """The number of rows in the log when the last summary was made; 0 without one."""
        return max(self.end, self.cuts[-1].made_at) if self.cuts else 0

    @property
    def masked(self) -> int:
        """The row before which results are digests."""
        return self.mask.end if self.mask else 0

    @property
    def last_llm_summary(self) -> tuple[str, int]:
        """The text of the newest LLM summary, and the row before which it covers the chat; an empty
        text and 0 without one."""
        if self.llm_summary is not None:
            return self.llm_summary.text, self.llm_summary.rows.end
        return (self.summary.llm_text, self.summary.llm_end) if self.summary else ("", 0)

    def with_mask(self, log: ChatLog, end: int, unmasked: tuple[int, ...] = ()) -> Projections:
        """The projections with a mask of the rows between the last cut and the row `end`, without
        the rounds that begin at the rows `unmasked`."""
        mask = Covered.of(log, self.end, end)
        return replace(self, mask=mask, unmasked=unmasked, made_at=len(log))

    def with_cut(
        self,
        log: ChatLog,
        covered: Sequence[Group],
        *,
        most_head: int,
        most_summary: int,
        limit: str = "",
    ) -> Projections:
        """The projections with a cut of `covered`, the first groups after the last cut, which the
        setting `limit` asked for.

        The first cut pins the first request and its first answer in text, each if it has at most
        `most_head` tokens, and the request if it is not the message to answer (R22). With a
        `most_summary` of 0 there is no summary.
        """
        end, first = covered[-1].end, self.end
        head_row, answer_row = self.head_row, self.answer_row
        asked = log.last_user
        if not self.cuts:
            pinned = _pinned(covered, most_head)
            if pinned is not None and pinned != asked:
                head_row, first = pinned, pinned + 1
                answer_row = _pinned_answer(covered, pinned, most_head)
                if answer_row == first:
                    first += 1
                if first == end:
                    # Else nothing would be cut.
                    answer_row, first = None, first - 1
        told = [group for group in covered if group.first != answer_row]
        cut = Projections(
            cuts=(*self.cuts, Covered.of(log, first, end, limit, len(log))),
            summary=(
                _summary(self.summary, told, first, end, self.taken_back) if most_summary else None
            ),
            summary_tokens=most_summary,
            head_row=head_row,
            asked_row=self._request_before(log, covered),
            mask=self.mask,
            answer_row=answer_row,
            unmasked=self.unmasked,
            made_at=len(log),
            llm_summary=self.llm_summary,
            core=self.core,
            spent=self.spent,
            taken_back=self.taken_back,
        )
        return _with_llm_summary_shown(cut)

    def with_taken_back(self, log: ChatLog, answers: Iterable[str]) -> Projections:
        """The projections when a person has taken back the edits of these answers and of no others:
        the summary's ledger is computed again where these are not the answers of before."""
        taken_back = tuple(sorted(answers))
        if taken_back == self.taken_back:
            return self
        summary = self.summary
        if summary is not None:
            rounds = (
                group
                for cut in self.cuts
                for group in log.groups_between(cut.first, cut.end)
                if group.is_round
            )
            summary = replace(summary, ledger=Ledger().after(rounds, taken_back))
        return replace(self, summary=summary, taken_back=taken_back)

    def _request_before(self, log: ChatLog, covered: Sequence[Group]) -> int | None:
        """The row of the request of the turn that a cut of `covered` goes through; None where the
        cut ends before a user message."""
        rest = log.groups_from(covered[-1].end)
        following = next((group for group in rest if group.role != "system"), None)
        if following is not None and following.role == "user":
            return None
        requests = [group.first for group in covered if group.role == "user"]
        return requests[-1] if requests else self.asked_row

    def with_llm_summary(self, log: ChatLog, text: str, end: int, *, shown: bool) -> Projections:
        """The projections with the LLM summary `text` of the rows before `end`: part of the summary
        at once when it is `shown`, else from the next cut on."""
        llm_summary = LLMSummary(text, Covered.of(log, min(self.end, end), end))
        waiting = replace(self, llm_summary=llm_summary)
        return _with_llm_summary_shown(waiting) if shown else waiting


def _with_llm_summary_shown(projections: Projections) -> Projections:
    """The projections with the text of the waiting LLM summary in their summary."""
    summary, waiting = projections.summary, projections.llm_summary
    if summary is None or waiting is None:
        return projections
    return replace(
        projections,
        summary=replace(summary, llm_text=waiting.text, llm_end=waiting.rows.end),
        llm_summary=waiting if waiting.rows.end > projections.end else None,
    )


def _pinned(groups: Sequence[Group], most_tokens: int) -> int | None:
    """The row of the first request, if it begins the chat and has at most `most_tokens` tokens."""
    first = next((group for group in groups if group.role != "system"), None)
    short = first is not None and first.role == "user" and first.tokens <= most_tokens
    return first.first if first is not None and short else None


def _pinned_answer(groups: Sequence[Group], head: int, most_tokens: int) -> int | None:
    """The row of the first answer in text to the request at the row `head`, if it has at most
    `most_tokens` tokens."""
    for group in groups:
        if group.role == "user" and group.first > head:
            return None
        if group.role == "assistant" and not group.is_round and group.messages[0].text.strip():
            return group.first if group.tokens <= most_tokens else None
    return None


def _summary(
    last: Summary | None, groups: Sequence[Group], first: int, end: int, taken_back: Sequence[str]
) -> Summary:
    """The summary `last` extended by the `groups` that the cut from `first` covers; system messages
    are always sent and never summarised."""
    spoken = (group for group in groups if group.first >= first and group.role != "system")
    return extended(last, spoken, first, end, taken_back)


def valid(projections: Projections, log: ChatLog) -> Projections:
    """The projections whose hashes fit the log: the projections before the first edited range."""
    cuts: list[Covered] = []
    for cut in projections.cuts:
        if not cut.fits(log):
            break
        cuts.append(cut)
    if len(cuts) < len(projections.cuts):
        return _shortened(projections, tuple(cuts), log)
    if projections.mask is not None and not projections.mask.fits(log):
        projections = replace(projections, mask=None)
    if projections.llm_summary is not None and not projections.llm_summary.rows.fits(log):
        projections = _without_llm_summary(projections, projections.llm_summary.text)
    shown = tuple(itertools.takewhile(lambda one: one.fits(log), projections.shown))
    return projections if shown == projections.shown else replace(projections, shown=shown)


def _without_llm_summary(projections: Projections, text: str) -> Projections:
    """The projections without the LLM summary `text`, whose rows were edited."""
    summary = projections.summary
    if summary is not None and summary.llm_text == text:
        summary = replace(summary, llm_text="", llm_end=0)
    return replace(projections, summary=summary, llm_summary=None)


def _shortened(projections: Projections, cuts: tuple[Covered, ...], log: ChatLog) -> Projections:
    """The projections with only the first `cuts`, summarised again from the log."""
    if not cuts:
        return Projections(
            core=projections.core, spent=projections.spent, taken_back=projections.taken_back
        )
    summary = None
    if projections.summary is not None:
        for cut in cuts:
            groups = log.groups_between(cut.first, cut.end)
            told = [group for group in groups if group.first != projections.answer_row]
            summary = _summary(summary, told, cut.first, cut.end, projections.taken_back)
    return Projections(
        cuts,
        summary,
        projections.summary_tokens,
        projections.head_row,
        answer_row=projections.answer_row,
        core=projections.core,
        spent=projections.spent,
        taken_back=projections.taken_back,
    )
