"""The ports to an index of terms, which keeps the places of each term, and to an index of words,
which keeps their order too.

A place is a whole number that the caller gives a meaning. `chats.search` keeps the entries of
its places in tables of its own and the postings here. The index is derived data: it may be dropped
and filled again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar


class AskedTerm(Protocol):
    """A term or, with `prefix`, all terms that begin with it."""

    @property
    def term(self) -> str: ...

    @property
    def prefix(self) -> bool: ...


AskedT = TypeVar("AskedT", bound=AskedTerm)


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

    def places(
        self,
        groups: Sequence[Sequence[AskedTerm]],
        first: int,
        last: int,
        most: int | None = None,
    ) -> list[int]:
        """The first `most` places from `first` to `last` that have a term of each group."""

    def standing(
        self, terms: Collection[AskedT], places: Collection[int]
    ) -> list[tuple[AskedT, list[int]]]:
        """Which of these `places` have each term. What it costs does not grow with the index."""

    def count(self, groups: Sequence[Sequence[AskedTerm]], first: int, last: int) -> int:
        """How many places `places` would find, which is much faster."""


class WordPhrase(Protocol):
    """Words that follow each other; with `prefix` the last is the beginning of a word."""

    @property
    def words(self) -> Sequence[str]: ...

    @property
    def prefix(self) -> bool: ...


class WordIndex(Protocol):
    """An index of the words of texts in one transaction. A text has fields, and each field is a
    line of words with spaces between them; words are made of the characters of terms and of
    points."""

    def create(self) -> None:
        """Make an empty index in the place of the present one, if there is one."""

    def put(self, places: Mapping[int, Sequence[str]]) -> None:
        """Replace the texts of these places: a line for each field."""

    def remove(self, first: int, last: int) -> None:
        """Remove all places from `first` to `last`, both included."""

    def erase_removed(self) -> None:
        """Overwrite the words of removed places, which an index may keep until it is merged."""

    def find(
        self, phrases: Sequence[WordPhrase], field: str | None, ranked: bool, limit: int
    ) -> list[int]:
        """Up to `limit` places whose text holds each of `phrases`, in this field or in any (None).
        A phrase stands in one field. `ranked` puts first the place whose text says most with fewest
        words (BM25), and of equal places the largest; else the largest place is first."""
