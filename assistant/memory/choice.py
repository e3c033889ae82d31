"""Which memories a turn gets: those that its message asks for, and the core ones. Pure.

The same memories and the same message give the same choice, in the same order. Nothing superseded
is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .known import Known, Scored, naming, newest_first
from .memory import SUMMARY, Memory
from .wording import plain

LEAST_SHARE: Final = 0.4
"""The share of the message's words, weighed by how rare they are, that a memory must have to count
as relevant. Chosen with `bench/memory.py`."""
LEAST_PART: Final = 0.34
"""The part of the telling words (more than a third), however rare, that is enough too: among few
memories no word is rare. With a third, needless memories are shown twice as often."""
LOOKED_AT: Final = 60
"""Memories that are considered."""
CORE_CHARS: Final = 600
CORE_SHARE: Final = 0.5
"""Of the memories of a turn, so that those that the message asks for have room."""
MOST_BY_WORKFLOW: Final = 3
"""Memories that are chosen only because they name something in the open workflow."""
SHORTEST_NAME: Final = 3
"""Characters of a name in the workflow that a memory may have."""
DAY: Final = 10
"""Characters of a day in ISO 8601."""

Visible = Callable[[Memory], bool]
"""Whether a request has the words of a memory anyway."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The ids of a turn's memories: the `core` ones, the others that were `chosen`, and of both
    those that the message asks for (`relevant`), which count as used."""

    core: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.core, *self.chosen)


def choose(
    known: Known,
    query: str,
    workflow: Sequence[str],
    core_ids: Sequence[str],
    *,
    most: int,
    chat_id: str | None,
    visible: Visible,
) -> Choice:
    """The memories of a turn, at most `most`: those of `core_ids`, those that the message `query`
    asks for, pinned ones first, then the best, and a few that name something in the open
    `workflow`. Summaries of the chat `chat_id` itself are none, nor is what `visible` says the
    request has anyway."""
    core_ids = tuple(core_ids)[:most]
    asked = [one.memory for one in known.search(query, LOOKED_AT) if is_relevant(one)]
    asked.sort(key=lambda memory: not memory.pinned)
    by_workflow = list(_named_by(known, workflow)) if query.strip() else []
    told = [known.by_id[one] for one in core_ids if one in known.by_id]
    fitting: list[Memory] = []
    for memory in dict.fromkeys((*asked, *by_workflow)):
        if len(fitting) == most - len(core_ids):
            break
        if memory.id in core_ids or _is_summary_of(memory, chat_id) or visible(memory):
            continue
        if not _is_said(memory, (*told, *fitting)):
            fitting.append(memory)
    chosen = tuple(memory.id for memory in fitting)
    relevant = tuple(m.id for m in (*asked, *by_workflow) if m.id in (*core_ids, *chosen))
    return Choice(core_ids, chosen, tuple(dict.fromkeys(relevant)))


def is_relevant(one: Scored) -> bool:
    """Whether a memory has enough of the message to be shown."""
    return one.part > 0 and (one.share >= LEAST_SHARE or one.part >= LEAST_PART)


def core(known: Known, most: int, visible: Visible) -> tuple[Memory, ...]:
    """The memories that every chat knows, at most CORE_SHARE of the `most` of a turn: pinned ones,
    then by their uses, newest first, within CORE_CHARS characters."""
    others = (memory for memory in newest_first(known.current) if memory.kind != SUMMARY)
    ranked = sorted(others, key=lambda memory: (not memory.pinned, -memory.uses))
    found: list[Memory] = []
    left, places = CORE_CHARS, int(most * CORE_SHARE)
    for memory in ranked:
        if len(found) >= places:
            break
        size = len(line_of(memory)) + 1
        if size <= left and not visible(memory) and not _is_said(memory, found):
            found.append(memory)
            left -= size
    return tuple(found)


def _is_said(memory: Memory, others: Iterable[Memory]) -> bool:
    """Whether the memory's words stand in one of the others."""
    words = f" {plain(memory.text)} "
    return any(words in f" {plain(other.text)} " for other in others)


def line_of(memory: Memory) -> str:
    """A memory as a model reads it."""
    where = "In another chat: " if memory.kind == SUMMARY else ""
    return f"- {where}{memory.text} ({memory.created[:DAY]})"


def seen_in(texts: Iterable[str]) -> Visible:
    """Whether a memory's words, or those that it was made of, stand in one of these texts. The
    texts are read when the first memory is asked about."""
    whole: list[str] = []

    def visible(memory: Memory) -> bool:
        if not whole:
            whole.append(f" {' | '.join(map(plain, texts))} ")
        said = [memory.text, memory.source.quote] if memory.source else [memory.text]
        return any(f" {words} " in whole[0] for words in map(plain, said) if words)

    return visible


def _named_by(known: Known, workflow: Sequence[str]) -> Iterable[Memory]:
    """The newest memories that name something in the workflow."""
    wanted = [name for name in map(plain, workflow) if len(name) >= SHORTEST_NAME]
    if not wanted:
        return
    names_one = naming(wanted)
    left = MOST_BY_WORKFLOW
    for memory in newest_first(known.current):
        if memory.kind != SUMMARY and names_one(memory):
            yield memory
            left -= 1
            if not left:
                return


def _is_summary_of(memory: Memory, chat_id: str | None) -> bool:
    return memory.kind == SUMMARY and (memory.source is None or memory.source.chat_id == chat_id)
