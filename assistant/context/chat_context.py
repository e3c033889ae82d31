"""One chat's context: its log, its projections, and the plan of the next request.

    context = ChatContext(settings, budget, system, tools)
    context.append(message)             adds a row to the log
    plan = context.plan()               the next request; commits the cut or mask that is due
    context.recall("r12")               the whole content behind a handle

A plan costs as much as the request is long, not as the chat is long: the facts of a row are
computed once, when it is appended, and only rows after the last cut are read. The same log,
settings and projections give the same bytes (R52)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..config import Settings
from ..errors import AssistantError, InvalidRequest
from ..messages.prompt import PromptMessage
from .compaction_policy import (
    Fixed,
    TokenSaving,
    cut_index,
    cut_saves_enough,
    leaving_room,
    manual_cut_index,
    mask_is_enough,
    met,
    most_of_summary,
)
from .draft import CountedMessage, Draft, PlacedNote, compose
from .emergency import fitted
from .fidelity import GroupReducer
from .handles import recall
from .left_out import cut_ranges, shortened_rows, unsent_rows
from .limits import limits_of
from .log import ChatLog
from .masks import NO_MASK, Mask, masks
from .overflow import refuse_too_long
from .placed_notes import placed_notes, with_shown
from .plan import Plan
from .projections import Projections, valid
from .relief import relief_of, relieved
from .rendering import OPENING, alternate
from .reporting import report_of
from .summary.llm_summary import SummaryRequest
from .summary.state import Summary
from .summary.text import summary_text
from .summary_request import Ahead, request_after_cut, request_before_cut
from .system import SystemText
from .tail import Tail, tail_tokens
from .tokens import message_tokens, schema_text, schema_tokens
from .tool_facts import NO_FACTS, ToolFacts
from .validator import faults
from .window import Budget

SURPLUS = 2
"""A tail that has more than this many times the room of a request even as digests is sure to be
cut."""


class ChatContext:
    """Plans the requests of one chat. Not safe for several threads at once."""

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
        self._tail = Tail()
        self._notes: tuple[tuple[object, ...], tuple[PlacedNote, ...]] = ((), ())
        self._projections = valid(projections or Projections(), self._log)
        self._ranges = cut_ranges(self._projections)
        self._summary: tuple[Summary, int, CountedMessage] | None = None
        self._prepared: tuple[object, ...] | None = None
        self._unsent_cut = False
        self.prepare(budget, system, tools)

    def prepare(
        self, budget: Budget, system: SystemText | None, tools: tuple[Mapping[str, Any], ...]
    ) -> None:
        """Sets the budget, the system message and the tools of the next requests."""
        wanted = (budget, system, tools)
        if self._prepared == wanted:
            return
        self._prepared = wanted
        self._tail, self._notes = Tail(), ((), ())
        if budget.count is not self._count:
            # Another model has another tokenizer: everything is counted again.
            self._count, self._summary = budget.count, None
            self._log = ChatLog(self._log.rows(), budget.count, self._log.facts)
        self._budget, self._system, self._tools = budget, system, tools
        text = system.text if system else ""
        self._system_message = CountedMessage.of("system", text, budget.count) if text else None
        taken = schema_tokens(schema_text(tools), budget.count)
        taken += message_tokens(OPENING, budget.count) if budget.alternation else 0
        self._limits = limits_of(self._settings, budget, taken, self._system_tokens)
        self._reducer = GroupReducer(self._limits.fidelity)
        self._room = self._limits.room
        self._window_room = int(budget.prompt / budget.factor) - taken

    @property
    def projections(self) -> Projections:
        """The committed projections; `plan`, `compact` and `add_llm_summary` change them."""
        return self._projections

    def keep_core(self, memory_ids: tuple[str, ...]) -> None:
        """Notes the memories that the chat began with (R45)."""
        self._projections = replace(self._projections, core=memory_ids)

    def take_back(self, answers: Iterable[str]) -> None:
        """Notes the ids of the answers whose edits a person took back."""
        self._projections = self._projections.with_taken_back(self._log, answers)

    def spend(self, dollars: float) -> None:
        """Counts the cost of a request about the chat that is none of its answers."""
        self._projections = replace(self._projections, spent=self._projections.spent + dollars)

    def __len__(self) -> int:
        return len(self._log)

    @property
    def page_chars(self) -> int:
        """Characters of a recalled text that the next request has room for without shortening."""
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
        """Adds a row to the log."""
        self._log.append(message)
        self._unsent_cut = False

    def rows(self, first: int = 0, end: int | None = None) -> tuple[PromptMessage, ...]:
        """The log's rows from `first` up to `end`, which is not included; to the last row without
        it."""
        return self._log.rows(first, end)

    def continues(self, first: int, rows: Sequence[PromptMessage]) -> bool:
        """Whether the log's rows from `first` on are the first of `rows`."""
        known = self._log.rows(first)
        return first <= len(self._log) and known == tuple(rows[: len(known)])

    def recall(self, handle: str) -> str:
        """The whole content behind a handle. Raises NotFound."""
        return recall(self._log, handle)

    @property
    def hides(self) -> bool:
        """Whether the next request may leave out rows: rows are cut, or a cut is near."""
        if self._projections.cuts:
            return True
        draft = self._draft(self._projections, enough_tokens=SURPLUS * self._room)
        near = draft.tokens + tail_tokens(self._budget, self._settings.tail_tokens)
        return near > self._limits.trigger or met(draft, self._limits) is not None

    def plan(self, tail: Tail | None = None) -> Plan:
        """The next request, with the notes of its turn in `tail`.

        Raises InvalidRequest when the log has no user message with content, ContextOverflow when
        the messages that must be sent do not fit the window (`refuse_too_long`).
        """
        self._tail = tail or Tail()
        asked = self._log.last_user
        if asked is None or self._log.row(asked).is_empty:
            raise InvalidRequest("expected a last user message with some content", where="messages")
        draft = self._committed(self._draft(self._projections, enough_tokens=SURPLUS * self._room))
        if draft.partial:
            draft = self._committed(self._draft(self._projections))
        if self._limits.cached:
            # The passages of a turn stay until the next cut (R50).
            self._projections = with_shown(self._projections, self._log, draft.turn_notes)
        draft = self._fitted(self._relieved(draft, asked), asked)
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
        if draft.tokens > self._window_room:
            refuse_too_long(self._log.row(asked), report, self._budget)
        earlier = (group.tokens for group in draft.tail if group.first < asked)
        return Plan(messages, self._tools, report, self._ranges, shortened, sum(earlier))

    def settle(self) -> bool:
        """Commits the cut or mask that the next request needs, when a turn has ended; returns
        whether there was one. The user's next message is counted already (R21)."""
        before = self._projections
        self._committed(self._draft(before), coming=1)
        self._unsent_cut = self._projections.cuts != before.cuts
        return self._projections is not before

    @property
    def tokens(self) -> int:
        """Tokens of a request's messages under the present projections."""
        return self._draft(self._projections).tokens

    def compact(self) -> TokenSaving | None:
        """Cuts all but the newest `min_recent_messages` now, though no limit asks for it.

        None, and nothing is committed, when too few messages are older, when it saves too little,
        or when the log has no new row since a commitment that a request had (R27)."""
        before = self._draft(self._projections)
        if self._projections.made_at == len(self._log) and not self._unsent_cut:
            return None
        self._unsent_cut = False
        after = self._cut(before, manual=True)
        return None if after is before else TokenSaving(before.tokens, after.tokens)

    def summary_request(self, most_read: int, focus: str = "") -> SummaryRequest | None:
        """The request for an LLM summary of the rows that were cut, with a transcript of about
        `most_read` tokens. None when an LLM summary covers them already, and when the summary
        message has no room for one. `focus` is what the user wants to be kept."""
        most = self._most_message(self._projections)
        return request_after_cut(self._log, self._projections, most, most_read, focus)

    def summary_request_before_cut(
        self, focus: str = "", *, manual: bool = False
    ) -> SummaryRequest | None:
        """The request for an LLM summary before the next cut, where prompts are cached. None while
        the next cut is far, unless the user asked for it (`manual`)."""
        if not (self._limits.cached and self._limits.summarise):
            return None
        draft, most = self._draft(self._projections), self._most_summary(self._system_tokens)
        ahead = Ahead(self._room, most, self._budget.alternation, focus, manual)
        return request_before_cut(self._log, self._projections, draft, self._tools, ahead)

    def add_llm_summary(
        self, text: str, end: int, *, at_once: bool = False, most_tokens: int | None = None
    ) -> bool:
        """Adds the LLM summary `text` of the rows before `end`; returns whether it was added.

        Where prompts are cached, requests have it from the next cut on, since it would break the
        prefix; with `at_once`, and after a cut that no request was sent with (`settle`), the next
        request has it. It is not added when a request with it has more than `most_tokens`."""
        shown = at_once or self._unsent_cut or not self._limits.cached
        changed = self._projections.with_llm_summary(self._log, text, end, shown=shown)
        if most_tokens is not None and self._draft(changed).tokens > most_tokens:
            return False
        self._projections = changed
        return True

    def _draft(self, projections: Projections, enough_tokens: int = 0) -> Draft:
        return compose(
            self._log,
            projections,
            self._system_message,
            self._summary_message(projections),
            self._limits,
            self._reducer,
            self._placed_notes(projections),
            enough_tokens,
        )

    def _placed_notes(self, projections: Projections) -> tuple[PlacedNote, ...]:
        """The notes of requests under `projections`; the same objects while nothing changes."""
        shown = projections.shown
        key = (self._tail, self._log.last_user, projections.cuts, projections.summary, shown)
        if self._notes[0] != key:
            summary = self._summary_message(projections)
            most = tail_tokens(self._budget, self._settings.tail_tokens)
            notes = placed_notes(self._tail, self._log, projections, summary, most, self._count)
            self._notes = key, notes
        return self._notes[1]

    def _committed(self, draft: Draft, coming: int = 0) -> Draft:
        """The draft after the mask or cut that is due, committed once for each state of the log
        (R27); by number it is due as if `coming` user messages more were there."""
        if self._projections.made_at == len(self._log):
            return draft
        if not self._limits.cached:
            return self._cut(draft, coming) if met(draft, self._limits, coming) else draft
        if draft.tokens <= self._room:
            return draft
        for mask, shorter in self._masks(draft):
            if mask_is_enough(draft, shorter, self._room) and not draft.partial:
                self._projections = self._projections.with_mask(self._log, *mask)
                return shorter
        return self._cut(draft)

    def _masks(self, draft: Draft) -> list[tuple[Mask, Draft]]:
        return masks(draft, self._projections.masked, self._log, self._limits, self._reducer)

    def _relieved(self, draft: Draft, asked: int) -> Draft:
        """Where prompts are not cached, the draft with the longest results of the running turn
        shortened down to the trigger (R17)."""
        if self._limits.cached:
            return draft
        return relieved(draft, self._limits.trigger, asked, self._reducer)

    def _cut(self, before: Draft, coming: int = 0, *, manual: bool = False) -> Draft:
        """The draft after a cut of its oldest groups, committed with their summary; `before` itself
        when no cut saves enough. The cut leaves room for `coming` user messages. Where prompts are
        cached, older rounds are masked at the same time: the cut breaks the prefix anyway."""
        made = self._masks(before) if self._limits.cached else []
        mask, draft = made[-1] if made else (NO_MASK, before)
        summary = self._most_summary(sum(counted.tokens for counted in draft.system))
        asked = self._log.group_at(self._log.last_user or 0)
        kept = [group for group in draft.asked if group.is_round]
        notes = draft.turn_notes
        fixed = Fixed(
            draft.prefix_tokens
            + summary
            + sum(placed.counted.tokens for placed in notes)
            + sum(g.tokens for g in kept),
            len(draft.head or draft.whole[:2]) + bool(summary) + len(notes) + sum(map(len, kept)),
            0 if self._limits.cached else relief_of(draft.tail, self._log.last_user or 0),
        )
        choose = manual_cut_index if manual else cut_index
        limits = leaving_room(self._limits, coming)
        index = choose(draft.reduced, asked, fixed, limits)
        if index == 0:
            return before
        limit = met(before, self._limits, coming)
        replaced = sum(group.tokens for group in draft.tail[:index])
        replaced += draft.summary.tokens if draft.summary else 0
        changed = self._projections.with_cut(
            self._log,
            self._log.groups_between(self._projections.end, draft.whole[index].first),
            most_head=self._limits.head,
            most_summary=min(summary, most_of_summary(replaced, manual=manual)),
            limit="" if manual or limit is None else limit.setting,
        )
        if mask[0] > changed.end:
            changed = changed.with_mask(self._log, *mask)
        after = self._draft(changed)
        if not cut_saves_enough(before, after, limits):
            return before
        self._projections = changed
        self._reducer.forget(changed.end)
        self._ranges = (*self._ranges, *cut_ranges(Projections(changed.cuts[-1:])))
        return after

    def _fitted(self, draft: Draft, asked: int) -> Draft:
        """The draft shortened by force where it exceeds the room; the summary is shortened last
        (R20)."""
        recent = self._limits.min_recent_messages
        draft = fitted(draft, self._room, self._reducer, asked, self._count, recent)
        excess = draft.tokens - self._room
        if excess > 0 and draft.summary is not None and self._projections.summary is not None:
            most = draft.summary.tokens - excess
            text = summary_text(self._projections.summary, most, self._log.facts)
            summary = CountedMessage.of("user", text, self._count)
            draft = replace(draft, summary=summary)
        return draft

    @property
    def _system_tokens(self) -> int:
        return self._system_message.tokens if self._system_message else 0

    def _most_summary(self, system_tokens: int) -> int:
        """The most tokens of a summary: a share of the room without the system message, and at most
        a share of a cut's target; 0 where there is to be no summary."""
        if not self._limits.summarise:
            return 0
        rest = self._room - system_tokens
        return max(1, int(min(rest * self._limits.summary_share, self._limits.summary)))

    def _summary_message(self, projections: Projections) -> CountedMessage | None:
        """The summary as a message, the same object for the same summary; None without one."""
        summary = projections.summary
        if summary is None:
            return None
        most = self._most_message(projections)
        if self._summary is None or self._summary[0] is not summary or self._summary[1] != most:
            text = summary_text(summary, most, self._log.facts)
            self._summary = (summary, most, CountedMessage.of("user", text, self._count))
        return self._summary[2]

    def _most_message(self, projections: Projections) -> int:
        """The most tokens of the summary message."""
        most = self._most_summary(self._system_tokens)
        return min(most, projections.summary_tokens)
