"""The port to an index of terms, which keeps the places of each term.

A place is a whole number that the caller gives a meaning. `chats.search` keeps the entries of
its places in tables of its own and the postings here. The index is derived data: it may be dropped
and filled again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class TermIndex(Protocol):
    """An index of terms in one transaction. A term consists of ASCII letters, digits and `_`, and
    of any characters that are not ASCII."""

    def create(self) -> None:
        """Make an empty index in the place of the present one, if there is one."""

    def put(self, places: Mapping[int, Iterable[str]]) -> None:
        """Replace the terms of each of these places."""

    def remove(self, first: int, last: int) -> None:
        """Remove all places from `first` to `last`, both included."""

    def erase_removed(self) -> None:
        """Overwrite the terms of removed places, which an index may keep until it is merged."""

    def places(self, term: str, prefix: bool, first: int, last: int) -> list[int]:
        """The places from `first` to `last` of a term or, with `prefix`, of all terms that begin
        with it."""
