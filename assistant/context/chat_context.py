"""One chat's context: its log, what it has committed to leave out, and the next request.

    context = ChatContext(settings, budget, system, tools)
    context.append(message)             the log grows
    plan = context.plan()               the next request; commits what it has to leave out
    context.recall("r12")               what stands behind a handle

A plan costs what is sent, not what the chat is long: facts of a row are made once, when it comes,
and only rows after the last cut are looked at. The same log, settings and projections give the same
bytes (R52). A request without a chat makes its log anew, with the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..config import Settings
from ..errors import AssistantError, ContextOverflow, InvalidRequest
from ..messages.prompt import PromptMessage
from .compaction_policy import (
    Saving,
    compacts,
    cut_due,
    cut_place,
    cut_place_by_hand,
    mask_is_worth,
    mask_place,
    most_of_summary,
)
from .draft import Counted, Draft, Extra, compose, masked
from .emergency import fitted
from .fidelity import Shaper
from .handles import recall
from .left_out import cut_ranges, shortened_rows, unsent_rows
from .limits import limits_of
from .log import ChatLog
from .plan import Plan
from .projections import Projections, valid
from .rendering import OPENING, alternate
from .reporting import report_of
from .summary.llm_summary import Telling
from .summary.state import Summary
from .summary.text import summary_text
from .summary_request import ahead, of_cut
from .system import SystemText
from .tail import Tail, recalled_text
from .tokens import message_tokens, schema_text, schema_tokens
from .tool_facts import NO_FACTS, ToolFacts
from .validator import faults
from .window import Budget

ENOUGH = 2
"""Times the room of a request: a tail that has so much as lines is sure to be cut."""


class ChatContext:
    """Plans the requests of one chat. Not for several threads at once."""

    def __init__(
        self,
        settings: Settings,
        budget: Budget,
        system: SystemText | None = None,
        tools: tuple[Mapping[str, Any], ...] = (),
        messages: Iterable[PromptMessage] = (),
        projections: Projections | None = None,
        facts: ToolFacts = NO_FACTS,
    ) -> None:
        self._settings = settings
        self._log = ChatLog(messages, budget.count, facts)
        self._count = budget.count
        self._extra: tuple[Tail, Extra | None] = (Tail(), None)
        self._projections = valid(projections or Projections(), self._log)
        self._ranges = cut_ranges(self._projections)
        self._summary: tuple[Summary, int, Counted] | None = None
        self._prepared: tuple[object, ...] | None = None
        self.prepare(budget, system, tools)

    def prepare(
        self, budget: Budget, system: SystemText | None, tools: tuple[Mapping[str, Any], ...]
    ) -> None:
        """What the next requests must fit and begin with; does nothing where nothing changed."""
        wanted = (budget, system, tools)
        if self._prepared == wanted:
            return
        self._prepared = wanted
        if budget.count is not self._count:
            # Another model counts otherwise; all is counted again.
            self._count, self._summary, self._extra = budget.count, None, (Tail(), None)
            self._log = ChatLog(self._log.rows(), budget.count, self._log.facts)
        self._budget, self._system, self._tools = budget, system, tools
        self._limits = limits_of(self._settings, budget)
        self._shaper = Shaper(self._limits.shapes)
        self._tool_tokens = schema_tokens(schema_text(tools), budget.count)
        opening = message_tokens(OPENING, budget.count) if budget.alternation else 0
        self._room = self._limits.prompt - self._tool_tokens - opening
        text = system.text if system else ""
        self._front = Counted.of("system", text, budget.count) if text else None

    @property
    def projections(self) -> Projections:
        """What is committed; `plan`, `compact` and `retell` change it."""
        return self._projections

    def __len__(self) -> int:
        return len(self._log)

    @property
    def page_chars(self) -> int:
        """How much of a recalled text fits the next request without being shortened again."""
        return self._limits.page_chars

    @property
    def first_turn(self) -> bool:
        """True when no assistant message comes before the last user message (R1)."""
        return self._log.first_turn

    @property
    def asked_row(self) -> int:
        """The row of the last user message; the end of the log where there is none."""
        return len(self._log) if self._log.last_user is None else self._log.last_user

    def append(self, message: PromptMessage) -> None:
        """One more row of the log."""
        self._log.append(message)

    def rows(self, first: int = 0, end: int | None = None) -> tuple[PromptMessage, ...]:
        """The log's rows from `first` up to `end`, or to the last."""
        return self._log.rows(first, end)

    def continues(self, first: int, rows: Sequence[PromptMessage]) -> bool:
        """Whether the log from the row `first` on is a beginning of `rows`."""
        known = self._log.rows(first)
        return first <= len(self._log) and known == tuple(rows[: len(known)])

    def recall(self, handle: str) -> str:
        """The whole content behind a handle. Raises NotFound."""
        return recall(self._log, handle)

    def recalled(self, found: Iterable[range], most_tokens: int) -> str:
        """What of the rows `found`, best first, is worth a place in the turn's tail: passages that
        no request has any more. Empty where there are none."""
        visible = self._summary_message(self._projections)
        shown = visible.message.text if visible else ""
        return recalled_text(self._log, self._projections, found, most_tokens, shown)

    def plan(self, tail: Tail | None = None) -> Plan:
        """The next request, with what its turn says besides in `tail`. Raises InvalidRequest when
        there is nothing to answer, ContextOverflow when even what must be sent does not fit a
        window that is known."""
        self._take(tail or Tail())
        asked = self._log.last_user
        if asked is None or self._log.row(asked).is_empty:
            raise InvalidRequest("expected a last user message with some content", where="messages")
        draft = self._committed(self._draft(self._projections, enough=ENOUGH * self._room))
        if draft.partial:
            draft = self._committed(self._draft(self._projections))
        draft = self._fitted(draft, asked)
        alternation = self._budget.alternation
        messages = alternate(draft.messages) if alternation else draft.messages
        if found := faults(messages, alternation=alternation):
            raise AssistantError(f"The request would be invalid: {'; '.join(found)}.")
        shortened = (*unsent_rows(self._log, self._projections), *shortened_rows(draft))
        report = report_of(
            draft,
            self._log,
            self._system,
            self._tools,
            self._budget,
            self._limits,
            self._projections,
            shortened,
        )
        if self._budget.window.known and draft.tokens > self._room:
            raise ContextOverflow(
                f"Your message needs about {report.total.tokens:,} tokens and the model's window "
                f"has {self._budget.window.tokens:,}: shorten it, or choose a model with a larger "
                "window."
            )
        earlier = (group.tokens for group in draft.tail if group.first < asked)
        return Plan(messages, self._tools, report, self._ranges, shortened, sum(earlier))

    @property
    def tokens(self) -> int:
        """Tokens of the messages that a request would have now, if nothing more were left out."""
        return self._draft(self._projections).tokens

    def compact(self) -> Saving | None:
        """Cuts all but the least recent messages now, though no limit asks for it. None, with
        nothing committed, where too few are older, too little would be saved, or nothing was said
        since the last time (R27)."""
        before = self._draft(self._projections)
        if self._projections.made_at == len(self._log):
            return None
        after = self._cut(before, by_hand=True)
        return None if after is before else Saving(before.tokens, after.tokens)

    def telling(self, most_read: int, focus: str = "") -> Telling | None:
        """The request for a model to tell of what was cut, in a transcript of about `most_read`
        tokens; None when it did, and where the summary has no room for it."""
        most = self._most_message(self._projections)
        return of_cut(self._log, self._projections, most, most_read, focus)

    def telling_ahead(self, focus: str = "", *, by_hand: bool = False) -> Telling | None:
        """The same where prompts are cached, before the next cut; None while that is far, unless it
        is made `by_hand`."""
        if not (self._limits.cached and self._limits.summarise):
            return None
        return ahead(
            self._log,
            self._projections,
            self._draft(self._projections),
            self._tools,
            room=self._room,
            most_message=self._most_summary(self._front.tokens if self._front else 0),
            alternation=self._budget.alternation,
            focus=focus,
            by_hand=by_hand,
        )

    def retell(
        self, told: str, end: int, *, at_once: bool = False, most_tokens: int | None = None
    ) -> bool:
        """Takes over what a model told of the rows before `end`; says whether it did.

        Where prompts are cached it shows from the next cut on, since it would break the prefix,
        unless that is broken already (`at_once`). Nothing happens where the request would have more
        than `most_tokens` tokens then.
        """
        shown = at_once or not self._limits.cached
        changed = self._projections.with_told(self._log, told, end, shown=shown)
        if most_tokens is not None and self._draft(changed).tokens > most_tokens:
            return False
        self._projections = changed
        return True

    def _draft(self, projections: Projections, enough: int = 0) -> Draft:
        return compose(
            self._log,
            projections,
            self._front,
            self._summary_message(projections),
            self._limits,
            self._shaper,
            self._extra[1],
            enough,
        )

    def _take(self, tail: Tail) -> None:
        """What the turn's requests say besides; nothing of another turn's."""
        if self._extra[0] == tail:
            return
        extra = None
        if tail.asked is not None and tail.asked == self._log.last_user:
            recalled, note = (
                Counted.of("user", text, self._count) if text else None
                for text in (tail.recalled, tail.note)
            )
            extra = Extra(tail.asked, recalled, note, tail.note_row)
        self._extra = (tail, extra)

    def _committed(self, draft: Draft) -> Draft:
        """The draft after committing what is due, once for each state of the log (R27)."""
        if self._projections.made_at == len(self._log):
            return draft
        if not self._limits.cached:
            return self._cut(draft) if cut_due(draft, self._limits) else draft
        if draft.tokens <= min(self._limits.trigger, self._room):
            return draft
        place, shorter = self._masked(draft)
        worth = mask_is_worth(draft, shorter, self._room, self._budget.prices)
        if worth and not draft.partial:
            self._projections = self._projections.with_mask(self._log, place)
            return shorter
        return self._cut(draft) if draft.tokens > self._room else draft

    def _masked(self, draft: Draft) -> tuple[int, Draft]:
        """The row up to which a mask of all but the last rounds would go, and the draft after it; 0
        and the draft itself when there is nothing to mask."""
        place = mask_place(draft.whole, self._limits.keep_rounds)
        if place <= self._projections.masked:
            return 0, draft
        return place, masked(draft, place, self._log, self._limits, self._shaper)

    def _cut(self, before: Draft, *, by_hand: bool = False) -> Draft:
        """The draft after a cut of its oldest groups, committed with the summary of what it covers.

        Where prompts are cached the older rounds are masked with it: the prefix breaks anyway.
        """
        mask, draft = self._masked(before) if self._limits.cached else (0, before)
        summary = self._most_summary(sum(counted.tokens for counted in draft.system))
        asked = self._log.group_at(self._log.last_user or 0)
        fixed = draft.prefix_tokens + self._tool_tokens + summary + draft.extra_tokens
        count = len(draft.head or draft.whole[:1]) + bool(summary)
        count += len(draft.extra.counted) if draft.extra else 0
        choose = cut_place_by_hand if by_hand else cut_place
        place = choose(draft.shaped, asked, fixed, count, self._limits)
        if place == 0:
            return before
        replaced = sum(group.tokens for group in draft.tail[:place])
        replaced += draft.summary.tokens if draft.summary else 0
        changed = self._projections.with_cut(
            self._log,
            self._log.groups_between(self._projections.end, draft.whole[place].first),
            most_head=self._limits.head,
            most_summary=min(summary, most_of_summary(replaced, by_hand=by_hand)),
        )
        if mask > changed.end:
            changed = changed.with_mask(self._log, mask)
        after = self._draft(changed)
        if not compacts(before, after, self._limits):
            return before
        self._projections = changed
        self._shaper.forget(changed.end)
        self._ranges = (*self._ranges, *cut_ranges(Projections(changed.cuts[-1:])))
        return after

    def _fitted(self, draft: Draft, asked: int) -> Draft:
        """The draft made to fit by force where it does not: what was recalled goes first, and the
        summary is shrunk last (R20)."""
        if draft.tokens > self._room and draft.extra and draft.extra.recalled:
            draft = replace(draft, forced=True, extra=replace(draft.extra, recalled=None))
        draft = fitted(draft, self._room, self._shaper, asked)
        excess = draft.tokens - self._room
        if excess > 0 and draft.summary is not None and self._projections.summary is not None:
            most = draft.summary.tokens - excess
            text = summary_text(self._projections.summary, most, self._log.facts)
            draft = replace(draft, summary=Counted.of("user", text, self._count))
        return draft

    def _most_summary(self, system_tokens: int) -> int:
        """The most tokens of a summary: a share of what system message and tools leave, and never
        more than a share of what a cut aims at; 0 where there is to be none."""
        if not self._limits.summarise:
            return 0
        rest = self._room - system_tokens
        return max(1, int(min(rest * self._limits.summary_share, self._limits.summary)))

    def _summary_message(self, projections: Projections) -> Counted | None:
        """The summary as a message: the same object for the same summary."""
        summary = projections.summary
        if summary is None:
            return None
        most = self._most_message(projections)
        if self._summary is None or self._summary[0] is not summary or self._summary[1] != most:
            text = summary_text(summary, most, self._log.facts)
            self._summary = (summary, most, Counted.of("user", text, self._count))
        return self._summary[2]

    def _most_message(self, projections: Projections) -> int:
        """The most tokens of the summary message."""
        most = self._most_summary(self._front.tokens if self._front else 0)
        return min(most, projections.summary_tokens)
