"""All memories of a user in memory, with their search. Pure.

known = Known.of(revision, memories)
known.search("portrait size", 5)        the best first, with the ranking of `history_search`
known.entity("my GPU")                  what is known of a name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..search.asking import FILLERS
from ..search.positions import GAP, Document, Piece, Placed
from ..search.ranking import best_places
from ..search.recall_terms import recall_terms
from ..search.scanned_postings import ScannedPostings
from ..search.words import index_terms
from .memory import SUMMARY, Memory, Mode, mode_of, stricter
from .wording import plain


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory that a search found; `share` is how much of the query's terms it has, weighed by how
    rare they are among all memories, `part` the same with equal weights (0 to 1)."""

    memory: Memory
    share: float
    part: float


@dataclass(frozen=True, slots=True)
class Relation:
    """`subject` `predicate` `object`, as the words of a memory of the kind `relation` have them."""

    subject: str
    predicate: str
    object: str
    memory: str

    def to_json(self) -> dict[str, str]:
        return {
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "memory": self.memory,
        }


@dataclass(frozen=True)
class Known:
    """`memories` are oldest first, superseded ones included. `mode` is the user's own setting; None
    where there is none."""

    revision: int = 0
    memories: tuple[Memory, ...] = ()
    mode: Mode | None = None

    @cached_property
    def current(self) -> tuple[Memory, ...]:
        """The memories that nothing superseded."""
        return tuple(memory for memory in self.memories if memory.superseded_by is None)

    @cached_property
    def current_by_id(self) -> Mapping[str, Memory]:
        return {memory.id: memory for memory in self.current}

    def has_summary(self, chat_id: str, text: str) -> bool:
        """Whether the summary of a chat is kept with this text."""
        return any(
            memory.kind == SUMMARY
            and memory.text == text
            and memory.source is not None
            and memory.source.chat_id == chat_id
            for memory in self.memories
        )

    def mode_within(self, allowed: str) -> Mode:
        """The mode that holds: the user's own, at most `allowed`, that of the installation."""
        most = mode_of(allowed) or "off"
        return most if self.mode is None else stricter(most, self.mode)

    @cached_property
    def by_id(self) -> Mapping[str, Memory]:
        return {memory.id: memory for memory in self.memories}

    def search(self, query: str, most: int) -> tuple[Scored, ...]:
        """Up to `most` current memories that have a term of the query, the best first."""
        terms = recall_terms(query)
        windows = best_places(
            terms.terms,
            self._postings,
            most,
            telling=frozenset(terms.terms),
            related=terms.related,
        )
        telling = frozenset(terms.terms) - FILLERS
        return tuple(
            Scored(memory, window.share, _part(memory, telling))
            for window in windows
            for memory in (self.current[window.place],)
        )

    def matching(self, query: str, most: int, *, superseded: bool) -> list[Memory]:
        """`search` for a person who looks through the list, also among superseded memories."""
        searched = self
        if superseded:
            searched = Known(memories=tuple(replace(m, superseded_by=None) for m in self.memories))
        return [self.by_id[one.memory.id] for one in searched.search(query, most)]

    def entity(self, name: str) -> tuple[tuple[Memory, ...], tuple[Relation, ...]]:
        """The current memories that name an entity, and those of what it is related to, one step
        on; and the relations of both."""
        wanted = plain(name)
        names_it = naming((wanted,))
        near = [memory for memory in self.current if names_it(memory)]
        own = [relation for memory in near if (relation := relation_of(memory)) is not None]
        others = {plain(end) for one in own for end in (one.subject, one.object)} - {wanted}
        ids = {memory.id for memory in near}
        names_other = naming(others)
        further = [
            memory for memory in self.current if memory.id not in ids and names_other(memory)
        ]
        found = tuple(newest_first((*near, *further)))
        relations = (relation_of(memory) for memory in found)
        return found, tuple(relation for relation in relations if relation is not None)

    @cached_property
    def _postings(self) -> ScannedPostings:
        return ScannedPostings(list(_placed(self.current)))


def _part(memory: Memory, terms: frozenset[str]) -> float:
    """The part of the terms that a memory has; 0 without any."""
    return len(terms & _terms(memory)) / len(terms) if terms else 0.0


def _terms(memory: Memory) -> frozenset[str]:
    return index_terms(" ".join((memory.text, *memory.entities)))


def naming(wanted: Iterable[str]) -> Callable[[Memory], bool]:
    """Whether a memory names one of these entities, which are `plain`, or has its words. Takes the
    time of one name for thousands of them."""
    known = frozenset(filter(None, wanted))
    lengths = sorted({name.count(" ") + 1 for name in known})

    def names_one(memory: Memory) -> bool:
        if not known:
            return False
        if any(plain(name) in known for name in memory.entities):
            return True
        words = plain(memory.text).split(" ")
        return any(
            " ".join(words[place : place + length]) in known
            for length in lengths
            for place in range(len(words) - length + 1)
        )

    return names_one


def relation_of(memory: Memory) -> Relation | None:
    """What a memory of the kind `relation` relates: the first and the last of its entities in its
    text, with the words between; None for any other memory."""
    if memory.kind != "relation":
        return None
    lower = memory.text.casefold()
    places = sorted(
        (at, at + len(name), name)
        for name in memory.entities
        if (at := lower.find(name.casefold())) >= 0
    )
    if len(places) < 2 or places[0][1] > places[-1][0]:
        return None
    (_, end, subject), (begin, _, object_) = places[0], places[-1]
    return Relation(subject, memory.text[end:begin].strip(), object_, memory.id)


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    return sorted(memories, key=lambda memory: (memory.created, memory.id), reverse=True)


def _placed(memories: Sequence[Memory]) -> Iterable[Placed]:
    """Each memory in a place of its own, so far from the others that none counts as said beside
    it."""
    for place, memory in enumerate(memories):
        yield Placed(place, place * GAP, Document(place, None, memory.id, (Piece(_terms(memory)),)))
