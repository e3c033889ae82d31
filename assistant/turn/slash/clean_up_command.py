"""`/cleanup [days] [confirm]`: first the chats that would go, then their deletion (R34, R41)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from ...chats import ChatSummary

USUAL_DAYS: Final = 90
MOST_DAYS: Final = 36_500
LISTED: Final = 20
"""Titles in the answer."""
USAGE: Final = (
    "`/cleanup` shows the chats that did not change for 90 days, `/cleanup 30` those of 30 days "
    "(1 to 36500). `/cleanup 30 confirm` deletes them, and `/cleanup undo` brings them back within "
    "a minute."
)
_ARGUMENT = re.compile(
    r"(?:--?dry-run\s*)?(?:(?P<days>\d{1,5})\s*(?:d|days?)?)?\s*(?P<confirm>confirm)?(?:--?dry-run)?"
)


class OldChats(Protocol):
    """The chats in which nothing happened for so many days, but for pinned ones and those that are
    being answered."""

    async def old(self, days: int) -> tuple[ChatSummary, ...]: ...

    async def delete(self, days: int) -> tuple[ChatSummary, ...]:
        """Returns the deleted chats."""

    async def undo(self) -> tuple[ChatSummary, ...]:
        """Returns the chats of the last deletion that are back."""


async def clean_up_answer(
    chats: OldChats, argument: str, named: Callable[[ChatSummary], str]
) -> str:
    """The answer to `/cleanup` with this argument, in Markdown. `named` gives the line of a chat in
    a list."""
    if argument.strip().lower() == "undo":
        restored = await chats.undo()
        if not restored:
            return "Nothing was deleted by `/cleanup` within the last minute."
        return f"Brought back: {_count(restored)}."
    found = _ARGUMENT.fullmatch(argument.strip().lower())
    days = int(found["days"] or USUAL_DAYS) if found is not None else 0
    if found is None or not 1 <= days <= MOST_DAYS:
        return USAGE
    if found["confirm"]:
        deleted = await chats.delete(days)
        if not deleted:
            return _none(days)
        return "\n".join(
            [
                f"Deleted: {_count(deleted)}. `/cleanup undo` brings them back within a minute.",
                *_listed(deleted, named),
            ]
        )
    old = await chats.old(days)
    if not old:
        return _none(days)
    return "\n".join(
        [
            f"Nothing was deleted yet. Not changed for {_days(days)}: {_count(old)}.",
            *_listed(old, named),
            "",
            f"`/cleanup {days} confirm` deletes them; for a minute they can be brought back.",
        ]
    )


def _none(days: int) -> str:
    return (
        f"No chat would go: each changed within {_days(days)}, is pinned or is being answered now."
    )


def _days(days: int) -> str:
    return "a day" if days == 1 else f"{days:,} days"


def _count(chats: Sequence[ChatSummary]) -> str:
    return "1 chat" if len(chats) == 1 else f"{len(chats):,} chats"


def _listed(chats: Sequence[ChatSummary], named: Callable[[ChatSummary], str]) -> list[str]:
    more = len(chats) - LISTED
    rest = [f"- and {more:,} more"] if more > 0 else []
    return ["", *map(named, chats[:LISTED]), *rest]
