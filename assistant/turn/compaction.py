"""The compaction of a chat's context, for the user: what is being done, and what came of it.

While a summary is written or a cut is stored, the chat has `Compacting` beside its state (R57).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Literal

from ..context.compaction_policy import TokenSaving
from ..context.report import Report

Phase = Literal["summarising", "committing"]
"""A model writes the summary; the cut is made and stored."""
Reason = Literal["tokens", "messages", "turns", "overflow", "user"]
"""The limit that was met, in its unit; `overflow`: the server refused a request that was too long;
`user`: `/compact`."""
_REASONS: dict[str, Reason] = {
    "": "user",
    "LLM_HISTORY_MAX_MESSAGES": "messages",
    "LLM_SUMMARY_MAX_MESSAGES": "messages",
    "LLM_SUMMARY_MAX_TURNS": "turns",
}


def reason_of(limit: str) -> Reason:
    """The reason of a cut that the setting `limit` asked for; "" is a cut that the user asked
    for."""
    return _REASONS.get(limit, "tokens")


@dataclass(frozen=True, slots=True)
class Compacting:
    """A compaction that goes on in a chat."""

    phase: Phase
    reason: Reason

    def to_json(self) -> dict[str, str]:
        return asdict(self)


class ContextWatcher:
    """Follows what is done to the chats' contexts, in turns and between them. Here each method does
    nothing."""

    def compacting(self, chat_id: str, compacting: Compacting | None) -> None:
        """A compaction goes on in the chat; None: not any more."""

    def compacted(self, chat_id: str, report: Report) -> None:
        """A cut was made between two turns; `report` is that of the next request."""


Show = Callable[[Compacting | None], None]
"""Shows readers what goes on; None when nothing does any more."""


def unseen(compacting: Compacting | None) -> None:
    """Shows a compaction to nobody."""


class Progress:
    """Shows the phases of one compaction; after the block nothing goes on.

    with Progress(show) as progress:
        progress.enter("summarising", "tokens")
    """

    def __init__(self, show: Show = unseen) -> None:
        self._show = show
        self._shown = False

    def enter(self, phase: Phase, reason: Reason) -> None:
        self._shown = True
        self._show(Compacting(phase, reason))

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._shown = False
            self._show(None)


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of `/compact`. `by_model` is False where the extractive summary stands alone,
    `summarised` is False where there is no summary at all (LLM_SUMMARY=off). `saving` is None where
    nothing was cut: a model was asked for the summary of what had been cut already."""

    saving: TokenSaving | None
    by_model: bool
    summarised: bool = True

    @property
    def in_words(self) -> str:
        """For the user."""
        if self.saving is None:
            added = "A model has written their summary now."
            kept = "No model's summary could be used: the one made by rule stays."
            return f"The older messages were summarised already. {added if self.by_model else kept}"
        before, after = self.saving.before, self.saving.after
        if not self.summarised:
            return (
                f"The older messages are not sent any more: the chat takes about {after:,} tokens "
                f"now, where it took {before:,}. All of them stay in the chat and can be searched."
            )
        rule = " It was made by rule, since no model's summary could be used."
        how = "" if self.by_model else rule
        return (
            f"The older messages are summarised: the chat takes about {after:,} tokens now, where "
            f"it took {before:,}.{how} All of them stay in the chat and can be searched."
        )
