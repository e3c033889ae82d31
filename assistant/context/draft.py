"""A draft of a request: the segments that a log has under given projections.

    system    our system message, or the client's
    head      the pinned first request and its answer
    summary   the summary of the rows that were cut
    asked     the request of the turn that the last cut went through, and the rounds of that turn
              with results that it is to keep
    tail      the groups after the last cut, each at its fidelity
    notes     texts of this turn alone, before the user's message or at the end (`notes`)

The request is the segments in this order; its tokens are the sum of their tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..messages.prompt import PromptMessage
from .fidelity import Fidelity, GroupReducer, kept_places
from .limits import Limits
from .log import ChatLog, Group
from .notes import Note
from .projections import Projections
from .tokens import TextTokens, message_tokens

LONG_TAIL = 400
"""Groups after the last cut. Only a chat that is opened without its projections, or one with a very
large window, has more."""
LEAST_GROUPS = 32
"""A long tail is read back at least this many groups."""


@dataclass(frozen=True, slots=True)
class CountedMessage:
    """A message that the plan made, with its tokens, which are counted once."""

    message: PromptMessage
    tokens: int

    @classmethod
    def of(
        cls, role: Literal["system", "user"], text: str, count: TextTokens | None = None
    ) -> CountedMessage:
        message = PromptMessage(role, text)
        return cls(message, message_tokens(message, count))


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A note as a message of its own, which stands before the log's row `row`. `stays` says that it
    belongs to an earlier turn."""

    note: Note
    row: int
    counted: CountedMessage
    stays: bool = False

    @classmethod
    def of(cls, note: Note, asked: int, count: TextTokens | None) -> PlacedNote:
        """The note of the turn that answers the row `asked`."""
        row = asked if note.row is None else note.row
        return cls(note, row, CountedMessage.of("user", note.text, count))


@dataclass(frozen=True, slots=True)
class Draft:
    """The segments of one request, and their tokens.

    `whole` is the tail as the log has it, `reduced` the tail at its fidelities with repetitions
    still in it. `forced` says that an emergency shortened the request (R29), `dropped` are the
    groups that it left out. `partial` says that older groups were not read, because they are sure
    to be cut. Rows from `summarised_at` on came after the last summary was made.
    """

    system: tuple[CountedMessage, ...]
    head: tuple[Group, ...]
    summary: CountedMessage | None
    asked: tuple[Group, ...]
    tail: tuple[Group, ...]
    reduced: tuple[Group, ...]
    whole: tuple[Group, ...]
    prefix_tokens: int
    """Tokens of system and head, which no cut changes."""
    forced: bool = False
    dropped: tuple[Group, ...] = ()
    partial: bool = False
    notes: tuple[PlacedNote, ...] = ()
    summarised_at: int = 0

    @property
    def fixed_tokens(self) -> int:
        """Tokens of all segments but the tail."""
        summary = self.summary.tokens if self.summary is not None else 0
        return self.prefix_tokens + summary + _tokens(self.asked) + self.note_tokens

    @property
    def note_tokens(self) -> int:
        return sum(placed.counted.tokens for placed in self.notes)

    @property
    def turn_notes(self) -> tuple[PlacedNote, ...]:
        """The notes of the running turn, which a cut leaves."""
        return tuple(placed for placed in self.notes if not placed.stays)

    @property
    def tokens(self) -> int:
        return self.fixed_tokens + _tokens(self.tail)

    @property
    def count(self) -> int:
        """The number of messages that are not system messages; a summary counts (R15)."""
        groups = (*self.head, *self.asked, *self.tail)
        spoken = sum(len(group) for group in groups if group.role != "system")
        return spoken + (self.summary is not None) + len(self.notes)

    @property
    def messages(self) -> tuple[PromptMessage, ...]:
        return tuple(self._messages())

    def _messages(self) -> Iterator[PromptMessage]:
        for counted in self.system:
            yield counted.message
        for group in self.head:
            yield from group.messages
        if self.summary is not None:
            yield self.summary.message
        waiting = list(self.notes)
        for group in (*self.asked, *self.tail):
            while waiting and waiting[0].row <= group.first:
                yield waiting.pop(0).counted.message
            yield from group.messages
        for placed in waiting:
            yield placed.counted.message


def compose(
    log: ChatLog,
    projections: Projections,
    system: CountedMessage | None,
    summary: CountedMessage | None,
    limits: Limits,
    reducer: GroupReducer,
    notes: tuple[PlacedNote, ...] = (),
    enough_tokens: int = 0,
) -> Draft:
    """The draft of a request. A client's system message replaces `system` (R3); client's system
    messages before the last cut stand at the beginning.

    Stops reading older groups of a long tail once `enough_tokens` are counted: the rest will be
    cut. With 0 all groups are read.
    """
    cut_end = projections.end
    sent = _groups(log, [row for row in log.systems if row < cut_end])
    front = [CountedMessage(group.messages[0], group.tokens) for group in sent]
    if system is not None and not log.systems:
        front.append(system)
    # The message to answer stands after the summary, even when it was the chat's first request.
    head_row = projections.head_row if projections.head_row != log.last_user else None
    asked = _groups(log, {projections.asked_row, log.last_user} - {head_row})
    asked += _kept_rounds(log, cut_end, limits, reducer)
    head = _groups(log, {head_row, projections.answer_row if head_row is not None else None})
    whole = log.groups_from(cut_end)
    near = whole
    if enough_tokens and len(whole) > LONG_TAIL:
        near = _newest(whole, enough_tokens, reducer)
    draft = Draft(
        system=tuple(front),
        head=head,
        summary=summary,
        asked=tuple(group for group in asked if group.first < cut_end),
        tail=(),
        reduced=(),
        whole=near,
        prefix_tokens=sum(counted.tokens for counted in front) + _tokens(head),
        partial=len(near) < len(whole),
        notes=tuple(sorted(notes, key=lambda placed: placed.row)),
        summarised_at=projections.summarised_at,
    )
    return masked(draft, projections.masked, projections.unmasked, log, limits, reducer)


def masked(
    draft: Draft,
    end: int,
    unmasked: Collection[int],
    log: ChatLog,
    limits: Limits,
    reducer: GroupReducer,
) -> Draft:
    """The draft with a mask of the rows before `end`, but for the rounds that begin at the rows
    `unmasked`."""
    shape = _Shape(log.last_user or 0, end, frozenset(unmasked), limits, reducer)
    reduced = shape.of(draft.whole)
    if not limits.cached:
        reduced = reducer.superseded.lined(reduced, draft.whole)
    return without_repeats(replace(draft, reduced=reduced, tail=reduced), reducer)


def without_repeats(draft: Draft, reducer: GroupReducer) -> Draft:
    """The draft with each repeated content sent once (R18)."""
    before = (*draft.head, *draft.asked)
    return replace(draft, tail=reducer.repeats.once(before, draft.tail, draft.whole))


def _newest(
    groups: tuple[Group, ...], enough_tokens: int, reducer: GroupReducer
) -> tuple[Group, ...]:
    """The newest groups that have `enough_tokens` even as digests. The count of a single group is
    limited, so that at least `LEAST_GROUPS` are returned."""
    tokens = 0
    most = enough_tokens // LEAST_GROUPS
    for index in range(len(groups) - 1, -1, -1):
        tokens += min(reducer(groups[index], Fidelity.DIGESTS).tokens, most)
        if tokens > enough_tokens:
            return groups[index:]
    return groups


def _groups(log: ChatLog, rows: Iterable[int | None]) -> tuple[Group, ...]:
    """The groups that begin at the rows, in order."""
    found = (log.group_at(row) for row in sorted(row for row in rows if row is not None))
    return tuple(group for group in found if group is not None)


def _tokens(groups: Sequence[Group]) -> int:
    return sum(group.tokens for group in groups)


def _kept_rounds(
    log: ChatLog, cut_end: int, limits: Limits, reducer: GroupReducer
) -> tuple[Group, ...]:
    """The rounds of the running turn before `cut_end` with results that the turn is to keep, the
    newest that have half of the limits together. Their other results are lines."""
    asked = log.last_user
    if asked is None or asked >= cut_end:
        return ()
    kept: list[Group] = []
    tokens, count = limits.room // 2, limits.messages // 2
    for group in reversed(log.groups_between(asked + 1, cut_end)):
        if not kept_places(group):
            continue
        sent = reducer.running(group, Fidelity.DIGESTS)
        tokens, count = tokens - sent.tokens, count - len(sent)
        if tokens < 0 or (limits.messages and count < 0):
            break
        kept.append(sent)
    return tuple(reversed(kept))


@dataclass(frozen=True, slots=True)
class _Shape:
    """The fidelities of a tail. Groups before the row `asked` belong to finished turns, the others
    to the running one.

    Where prompts are cached, the rounds before the row `masked` are digests, and all others whole,
    so that nothing changes without a commitment. Where prompts are not cached, the position
    decides: of the last few rounds, results of the running turn are whole and those of finished
    turns clamped; older ones are digests (R14, R17). Skills and recalled pages of the running turn
    are whole wherever they stand.
    """

    asked: int
    masked: int
    unmasked: frozenset[int]
    limits: Limits
    reducer: GroupReducer

    def of(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        shape = self._cached if self.limits.cached else self._uncached
        return tuple(shape(groups))

    def _cached(self, groups: Sequence[Group]) -> Iterator[Group]:
        for group in groups:
            finished = group.first < self.asked
            if not group.is_round:
                yield self.reducer.finished(group, Fidelity.FULL) if finished else group
            elif group.first >= self.masked:
                reduce = self.reducer.finished if finished else self.reducer
                yield reduce(group, Fidelity.CAPPED)
            elif group.first in self.unmasked:
                yield self.reducer.unmasked(group, finished=finished)
            else:
                reduce = self.reducer.finished if finished else self.reducer
                yield reduce(group, Fidelity.DIGESTS)

    def _uncached(self, groups: Sequence[Group]) -> Iterator[Group]:
        keep = self.limits.keep_rounds
        rounds_left = sum(group.is_round for group in groups)
        for group in groups:
            finished = group.first < self.asked
            if not group.is_round:
                own = self.reducer.without_skill(group) if finished else group
                yield self.reducer.finished(own, Fidelity.FULL) if finished else own
                continue
            recent = rounds_left <= keep or keep <= 0
            rounds_left -= 1
            if finished:
                yield self.reducer.finished(group, Fidelity.CLAMPED if recent else Fidelity.DIGESTS)
            else:
                yield self.reducer.running(group, Fidelity.CAPPED if recent else Fidelity.DIGESTS)
