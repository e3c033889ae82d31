"""Reading a path when most of it was read before: a turn of a long chat adds a few messages to
thousands.

Functions over a transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...database import Transaction
from ...messages.origin import without_events
from ...messages.parts import Message
from . import chat_log, paths
from .chat_log import Stored
from .paths import RowRange


@dataclass(frozen=True, slots=True)
class ReadPath:
    """The messages of a path, as it was read; `said` are those without events. A later read goes on
    after them where its path begins with the same `ranges`: a long path differs from the last one
    in its last rows."""

    ranges: tuple[RowRange, ...] = ()
    messages: tuple[Message, ...] = ()
    said: tuple[Message, ...] = ()

    def longer(self, ranges: tuple[RowRange, ...], newer: tuple[Message, ...]) -> ReadPath:
        """The path of these ranges, which begins with this path."""
        messages, said = (*self.messages, *newer), without_events(newer)
        if len(self.said) + len(said) == len(messages):
            return ReadPath(ranges, messages, messages)
        return ReadPath(ranges, messages, (*self.said, *said))


NOT_READ: Final = ReadPath()


@dataclass(frozen=True, slots=True)
class Newer:
    """The `rows` that a path of these `ranges` has after the path `before`, with which it begins;
    not `complete` where some of its rows are gone."""

    ranges: tuple[RowRange, ...] = ()
    before: ReadPath = NOT_READ
    rows: Mapping[int, Stored] = field(default_factory=dict)
    complete: bool = True

    def path(self) -> ReadPath:
        newer = tuple(stored.message for stored in self.rows.values())
        return self.before.longer(self.ranges, newer)


def read_newer(
    transaction: Transaction,
    chat_id: str,
    head_row: int | None,
    known: Mapping[int, Stored],
    last: ReadPath,
) -> Newer:
    """What the path to `head_row` has after the path `last`, or the whole of a path that does not
    begin with it. Rows in `known` are not read."""
    ranges = paths.ranges_after(transaction, chat_id, head_row)
    before = last if paths.begins_with(ranges, last.ranges) else NOT_READ
    rows = paths.rows_of(ranges, before.ranges[-1].last if before.ranges else 0)
    missing = [row for row in rows if row not in known]
    every = known
    if missing:
        every = {**known, **chat_log.read_rows(transaction, chat_id, missing)}
    newer = {row: every[row] for row in rows if row in every}
    return Newer(ranges, before, newer, len(newer) == len(rows))
