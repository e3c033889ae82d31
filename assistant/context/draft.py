"""A request in the making: what a log looks like under given projections, in segments.

    system    the system message, and those that the client sent
    head      the pinned first request
    summary   what stands for the rows that were cut
    asked     the request of the turn that a cut went through
    tail      the groups after the last cut, each in its shape

Rendering is concatenation; what the segments cost is the sum of what their groups cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..messages.prompt import PromptMessage
from .fidelity import Shape, Shaper
from .limits import Limits
from .log import ChatLog, Group
from .projections import Projections
from .tokens import TextTokens, message_tokens

MANY = 400
"""Groups after the last cut; only a chat that is opened without its projections has more, or one
with a very large window."""
FEWEST_NEAR = 32
"""Groups that are looked at in any case."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A message of ours with its tokens, which are counted once."""

    message: PromptMessage
    tokens: int

    @classmethod
    def of(
        cls, role: Literal["system", "user"], text: str, count: TextTokens | None = None
    ) -> Counted:
        message = PromptMessage(role, text)
        return cls(message, message_tokens(message, count))


@dataclass(frozen=True, slots=True)
class Extra:
    """What one turn's requests have besides the chat (`tail.Tail`): `recalled` stands before the
    row `asked`, `note` before the row `note_row`."""

    asked: int
    recalled: Counted | None = None
    note: Counted | None = None
    note_row: int = 0

    @property
    def counted(self) -> tuple[Counted, ...]:
        return tuple(one for one in (self.recalled, self.note) if one is not None)


@dataclass(frozen=True, slots=True)
class Draft:
    """The segments of one request, and their tokens. `whole` is the tail as the log has it,
    `shaped` what it would be without regard to repetitions; `forced` says that an emergency
    shortened it, and `dropped` is what that left out of it. `partial`: there are older groups,
    which are sure to be cut."""

    system: tuple[Counted, ...]
    head: tuple[Group, ...]
    summary: Counted | None
    asked: tuple[Group, ...]
    tail: tuple[Group, ...]
    shaped: tuple[Group, ...]
    whole: tuple[Group, ...]
    prefix_tokens: int
    """Of system and head: what even a cut leaves as it is."""
    forced: bool = False
    dropped: tuple[Group, ...] = ()
    partial: bool = False
    extra: Extra | None = None

    @property
    def fixed_tokens(self) -> int:
        """Of everything but the tail."""
        summary = self.summary.tokens if self.summary is not None else 0
        return self.prefix_tokens + summary + _tokens(self.asked) + self.extra_tokens

    @property
    def extra_tokens(self) -> int:
        """Of what only this turn's requests have."""
        return sum(counted.tokens for counted in self.extra.counted) if self.extra else 0

    @property
    def tokens(self) -> int:
        return self.fixed_tokens + _tokens(self.tail)

    @property
    def count(self) -> int:
        """Non-system messages; a summary is one of them (R15)."""
        groups = (*self.head, *self.asked, *self.tail)
        spoken = sum(len(group) for group in groups if group.role != "system")
        return spoken + (self.summary is not None) + (len(self.extra.counted) if self.extra else 0)

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
        if self.extra is None:
            for group in (*self.asked, *self.tail):
                yield from group.messages
        else:
            yield from self._with_extra(self.extra)

    def _with_extra(self, extra: Extra) -> Iterator[PromptMessage]:
        """What is asked and the tail, with what only this turn's requests have at its places."""
        note = extra.note
        for group in (*self.asked, *self.tail):
            if note is not None and group.first >= extra.note_row:
                yield note.message
                note = None
            if extra.recalled is not None and group.first == extra.asked:
                yield extra.recalled.message
            yield from group.messages
        if note is not None:
            yield note.message


def compose(
    log: ChatLog,
    projections: Projections,
    system: Counted | None,
    summary: Counted | None,
    limits: Limits,
    shaper: Shaper,
    extra: Extra | None = None,
    enough: int = 0,
) -> Draft:
    """The draft of a request. A system message of the client holds instead of ours (R3); those
    that a cut went past stand in front.

    With `enough`, tokens that are sure to be too many, a long tail is looked at no further back
    than it needs to have so many: what is older will be cut, whatever it is.
    """
    cut_end = projections.end
    sent = _groups(log, [row for row in log.systems if row < cut_end])
    front = [Counted(group.messages[0], group.tokens) for group in sent]
    if system is not None and not log.systems:
        front.append(system)
    # What is being answered comes after the summary, even where it was the chat's first request.
    head_row = projections.head_row if projections.head_row != log.last_user else None
    asked = _groups(log, {projections.asked_row, log.last_user} - {head_row})
    head = _groups(log, {head_row})
    whole = log.groups_from(cut_end)
    near = _near(whole, enough, shaper) if enough and len(whole) > MANY else whole
    draft = Draft(
        system=tuple(front),
        head=head,
        summary=summary,
        asked=tuple(group for group in asked if group.first < cut_end),
        tail=(),
        shaped=(),
        whole=near,
        prefix_tokens=sum(counted.tokens for counted in front) + _tokens(head),
        partial=len(near) < len(whole),
        extra=extra,
    )
    return masked(draft, projections.masked, log, limits, shaper)


def masked(draft: Draft, end: int, log: ChatLog, limits: Limits, shaper: Shaper) -> Draft:
    """The draft after a mask of the rows before `end`."""
    shaped = tuple(_shaped(draft.whole, end, log.last_user or 0, limits, shaper))
    return once(replace(draft, shaped=shaped, tail=shaped), shaper)


def once(draft: Draft, shaper: Shaper) -> Draft:
    """The draft with what its tail repeats sent once (R18)."""
    before = (*draft.head, *draft.asked)
    return replace(draft, tail=shaper.repeats.once(before, draft.tail, draft.whole))


def _near(groups: tuple[Group, ...], enough: int, shaper: Shaper) -> tuple[Group, ...]:
    """The newest of the groups that have `enough` tokens even as lines; no single one counts for
    much, so that there are many of them."""
    tokens = 0
    for index in range(len(groups) - 1, -1, -1):
        tokens += min(shaper(groups[index], Shape.LINES).tokens, enough // FEWEST_NEAR)
        if tokens > enough:
            return groups[index:]
    return groups


def _groups(log: ChatLog, rows: Iterable[int | None]) -> tuple[Group, ...]:
    """The groups that begin at the rows, in order."""
    found = (log.group_at(row) for row in sorted(row for row in rows if row is not None))
    return tuple(group for group in found if group is not None)


def _tokens(groups: Sequence[Group]) -> int:
    return sum(group.tokens for group in groups)


def _shaped(
    groups: Sequence[Group], masked: int, last_user: int, limits: Limits, shaper: Shaper
) -> Iterator[Group]:
    """Each group in its shape; those before the row `last_user` belong to finished turns.

    Where prompts are cached, rows before `masked` are lines and all else is as it was admitted, so
    that nothing changes without a commitment. Elsewhere the position decides: the newest round as
    it was admitted, the last few clamped, the older ones lines (R14, R17).
    """
    rounds_left = sum(group.is_round for group in groups)
    for group in groups:
        shape = shaper.finished if group.first < last_user else shaper
        if not group.is_round:
            yield shape(group, Shape.FULL)
            continue
        newest = rounds_left == 1
        kept = rounds_left <= limits.keep_rounds or limits.keep_rounds <= 0
        if limits.cached:
            newest, kept = group.first >= masked, False
        yield shape(group, Shape.ADMITTED if newest else Shape.CLAMPED if kept else Shape.LINES)
        rounds_left -= 1
