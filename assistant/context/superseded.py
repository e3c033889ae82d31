"""Views that a newer view has made old, as lines (R18).

A model that works on a workflow reads it again after each change. An older view of the same thing
is wrong by then, and it costs as much as the newer one: so it is sent as its line, whose handle
gives it back. Where prompts are cached this would change what was sent before, so there an old view
stays until a mask makes lines of its round (R50).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from .digest import digest
from .handles import row_handle
from .log import Group

NOTE: Final = "An older view; a newer one of the same stands below"


class Superseded:
    """Finds old views. Planning the same request again returns the same objects."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Group, tuple[int, ...], Group]] = {}

    def lined(self, shaped: Sequence[Group], whole: Sequence[Group]) -> tuple[Group, ...]:
        """`shaped`, the forms in which the groups of `whole` are sent, with old views as lines."""
        newer: dict[str, int] = {}
        made = []
        for sent, group in zip(reversed(shaped), reversed(whole), strict=True):
            made.append(self._lined(sent, group, _old_places(group, newer)))
        return tuple(reversed(made))

    def forget(self, before: int) -> None:
        """Drops the cached groups that end before the row `before`."""
        self._made = {first: kept for first, kept in self._made.items() if kept[0].end > before}

    def _lined(self, sent: Group, whole: Group, places: tuple[int, ...]) -> Group:
        if not places:
            return sent
        kept = self._made.get(whole.first)
        if kept is None or kept[0] is not sent or kept[1] != places:
            messages = list(sent.messages)
            for place in places:
                line = _line(whole, place)
                if len(line) < len(messages[place].text):
                    messages[place] = replace(messages[place], content=line, reduced="digest")
            kept = (sent, places, sent.with_messages(tuple(messages)))
            self._made[whole.first] = kept
        return kept[2]


def _old_places(group: Group, newer: dict[str, int]) -> tuple[int, ...]:
    """The places of the results that show nothing that a newer view does not show. `newer` has the
    largest rank of the newer views of each thing; those of this group are added."""
    if not group.is_round:
        return ()
    found = []
    for place in range(len(group.messages) - 1, 0, -1):
        result = group.messages[place]
        shown = None if result.failed else group.facts.shows(group.call_of(result), result.text)
        if shown is None:
            continue
        if newer.get(shown.what, -1) >= shown.rank and group.rows[place] is not None:
            found.append(place)
        newer[shown.what] = max(newer.get(shown.what, -1), shown.rank)
    return tuple(found)


def _line(whole: Group, place: int) -> str:
    result, row = whole.messages[place], whole.rows[place]
    handle = row_handle(row) if row is not None else ""
    return digest(whole.call_of(result), result, handle, whole.facts, note=NOTE)
