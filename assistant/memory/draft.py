"""New memories before they are written. Pure.

    draft = Draft(snapshot, make)
    kept = draft.add(statement)                    what it makes, and what it supersedes
    draft.made, draft.superseded                   what is to be written

To compare a statement, each memory is read for its words, once: a second for thousands. So that
nobody waits for the database's writer meanwhile, a draft is made outside of its thread from a
`Snapshot`, and holds as long as the revision is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ..errors import Conflict, InvalidRequest
from .memory import SUMMARY, Memory, Statement, checked_text
from .merging import Compared
from .wording import plain, tells_to_act

MOST_MEMORIES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The memories that are not deleted, oldest first, at a revision; `rows` counts all rows, those
    of deleted memories too."""

    revision: object
    memories: tuple[Memory, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that was written, and the ids of the memories that it superseded."""

    memory: Memory
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """How many memories of an import are new, were known, and were refused."""

    added: int = 0
    known: int = 0
    refused: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(
            self.added + other.added, self.known + other.known, self.refused + other.refused
        )


class Draft:
    """`make` makes the memory of a statement. For one thread at a time."""

    def __init__(self, snapshot: Snapshot, make: Callable[[Statement], Memory]) -> None:
        self._make = make
        self.compared = Compared()
        self._history = {_said(one) for one in snapshot.memories if one.superseded_by is not None}
        self.follow(snapshot)

    def follow(self, snapshot: Snapshot) -> None:
        """Drop what is not written, and go on from another state of the memories."""
        self.revision = snapshot.revision
        self.compared.follow(one for one in snapshot.memories if one.superseded_by is None)
        self._rows = snapshot.rows
        self.made: list[Memory] = []
        self.superseded: dict[str, str] = {}

    def written(self, revision: object) -> None:
        """All of this draft is in the database, which has this revision now."""
        self.revision = revision
        self.made, self.superseded = [], {}

    def add(self, statement: Statement) -> Kept:
        """What a statement makes, whose text has been checked. Raises Conflict (`exists`, with its
        `id`) where a memory says the same, InvalidRequest over MOST_MEMORIES."""
        known = self.compared.same(statement)
        if known is not None:
            raise Conflict("This is remembered already.", code="exists", extra={"id": known.id})
        check_room(self._rows)
        memory = self._make(statement)
        older = tuple(self.compared.replaced(statement))
        for one in older:
            self.compared.remove(one.id)
            self.superseded[one.id] = memory.id
        self.compared.add(memory)
        self._rows += 1
        self.made.append(memory)
        return Kept(memory, tuple(one.id for one in older))

    def was_replaced(self, statement: Statement) -> bool:
        """Whether a memory with these words had been replaced before this draft was begun."""
        return _said(statement) in self._history


def add_each(draft: Draft, statements: Iterable[Statement | None]) -> Added:
    """The lines of an export; None is a line that could not be read."""
    added = known = refused = 0
    for statement in statements:
        try:
            if statement is None:
                raise InvalidRequest("this line is no memory")
            checked = replace(statement, text=allowed(statement.text))
            if draft.was_replaced(checked):
                known += 1
                continue
            draft.add(checked)
            added += 1
        except Conflict:
            known += 1
        except InvalidRequest:
            refused += 1
    return Added(added, known, refused)


def allowed(value: object) -> str:
    """A memory's text. Raises InvalidRequest for a wrong text, and for one that tells to act, to
    allow or to ignore: memories are background, rules tell what to do."""
    text = checked_text(value)
    if tells_to_act(text):
        raise InvalidRequest(
            "tells to act, to allow or to ignore; a memory cannot, write it as a rule", where="text"
        )
    return text


def check_room(rows: int) -> None:
    """Raises InvalidRequest where there are MOST_MEMORIES rows."""
    if rows >= MOST_MEMORIES:
        raise InvalidRequest(f"There are {MOST_MEMORIES:,} memories already; delete some.")


def _said(one: Memory | Statement) -> tuple[bool, str]:
    """What is the same in two statements of the same words: summaries stand for themselves."""
    return one.kind == SUMMARY, plain(one.text)
