"""The effect of a compaction on a chat, for the user."""

from __future__ import annotations

from dataclasses import dataclass

from ..context.compaction_policy import TokenSaving


@dataclass(frozen=True, slots=True)
class Compaction:
    """The result of `/compact`. `by_model` is False where the extractive summary stands alone,
    `summarised` is False where there is no summary at all (LLM_SUMMARY=off)."""

    saving: TokenSaving
    by_model: bool
    summarised: bool = True

    @property
    def in_words(self) -> str:
        """For the user."""
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
