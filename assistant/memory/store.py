"""The memories of one user, in the database (R43, R44).

    kept = await store.keep(Statement("My GPU has 12 GB"))     the memory, and what it superseded
    known = await store.read()                                 all of them, with their search

Saying the same again makes no second memory. A deleted memory can be restored for a minute; after
that nothing of its text is left. What the user deleted or corrected is not learned again from the
same message. A revision goes up with every change of a text, so that the memories are read again
only after a change, also after one by another process.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import Final

from sqlalchemy import delete, insert, select, update

from ..database import Database, Result, Transaction, utc_now
from ..database.fresh import FreshValue
from ..errors import Conflict, InvalidRequest, NotFound, StoreError
from .known import Known
from .memory import SUMMARY, Kind, Memory, Mode, Source, Statement, checked_text, mode_of
from .merging import Compared
from .tables import TABLES, add, count, memories, memory_of, read_all, state
from .withdrawn import give_back, of_chat, withdraw
from .wording import tells_to_act

MOST_MEMORIES: Final = 10_000
UNDO_SECONDS: Final = 60
"""How long a deleted memory can be restored."""
SUMMARY_SOURCE: Final = ""
"""The message id in the source of a chat's summary."""
DAMAGED: Final = -1
PIECE_SECONDS: Final = 0.05
"""Of an import: so long others wait until they may write, which a turn does."""
LONGEST_STEP: Final = timedelta(seconds=1)
"""No clock stands still for so long: that of Windows goes in steps of 15.6 ms."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that was written, and the ids of the memories that it superseded."""

    memory: Memory
    superseded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """How many memories of an import are new, were known, and were refused."""

    added: int
    known: int
    refused: int

    @property
    def lines(self) -> int:
        return self.added + self.known + self.refused


class _Import:
    """The lines of an import, in pieces of a transaction each. What they are compared with is read
    once, unless others changed memories in between."""

    def __init__(
        self,
        statements: Sequence[Statement | None],
        keep: Callable[[Transaction, Statement, Compared], Kept],
    ) -> None:
        self._statements = statements
        self._keep = keep
        self._compared = Compared(())
        # The revision of the memories that `_compared` has; None while it is changed.
        self._revision: int | None = None

    def piece(self, total: Added, transaction: Transaction) -> Added:
        """Adds the lines after those of `total`, for PIECE_SECONDS; returns the new total. May be
        called again for a transaction that failed."""
        until = time.monotonic() + PIECE_SECONDS
        revision = _revision(transaction.scalar(select(state.c.revision)) or 0)
        if self._revision != revision or revision == DAMAGED:
            self._compared = _compared(transaction)
        self._revision = None
        for statement in islice(self._statements, total.lines, None):
            total = self._with(total, transaction, statement)
            if time.monotonic() >= until:
                break
        self._revision = revision + 1
        return total

    def _with(self, total: Added, transaction: Transaction, statement: Statement | None) -> Added:
        try:
            if statement is None:
                raise InvalidRequest("this line is no memory")
            checked = replace(statement, text=_allowed(statement.text))
            self._keep(transaction, checked, self._compared)
        except Conflict:
            return replace(total, known=total.known + 1)
        except InvalidRequest:
            return replace(total, refused=total.refused + 1)
        return replace(total, added=total.added + 1)


class MemoryStore:
    """All methods raise StoreError."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Callable[[], datetime] = utc_now,
        seconds: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._sleep = sleep
        self._clock = clock
        # When the last memory was made, which the writer's thread alone uses.
        self._last: datetime | None = None
        self._known = FreshValue(self._read, seconds)
        self._opened = False
        self._purges: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Makes the tables, at the latest with the first call of another method."""
        if not self._opened:
            await self._database.migrate(TABLES)
            self._opened = True

    async def close(self) -> None:
        """Stops waiting for the removal of what was deleted: the next change removes it."""
        for purge in self._purges:
            purge.cancel()
        await asyncio.gather(*self._purges, return_exceptions=True)

    async def all(self) -> tuple[Memory, ...]:
        """All memories that are not deleted, oldest first, with their uses."""
        await self.open()
        return await self._database.read(read_all)

    async def read(self) -> Known:
        """All memories that are not deleted."""
        return await self._known.get()

    async def _read(self, known: Known | None) -> Known:
        await self.open()
        return await self._database.read(lambda transaction: _read(transaction, known))

    async def keep(self, statement: Statement) -> Kept:
        """Keeps a statement; memories that it replaces are superseded. Raises InvalidRequest for a
        wrong text or over MOST_MEMORIES, Conflict (`exists`, with its `id`) where a memory says the
        same."""
        checked = replace(statement, text=_allowed(statement.text))

        def work(transaction: Transaction) -> Kept:
            return self._keep(transaction, checked, _compared(transaction))

        return await self._change(work)

    async def keep_all(
        self, statements: Sequence[Statement], path: Sequence[str] = ()
    ) -> tuple[Kept, ...]:
        """`keep` for each statement of a chat in one transaction, without those that are known.
        `path` are the chat's message ids, oldest first: what a later message said is not replaced
        by an earlier one."""
        places = {message_id: place for place, message_id in enumerate(path)}

        def place(source: Source | None) -> int:
            return places.get(source.message_id, -1) if source is not None else -1

        def work(transaction: Transaction) -> tuple[Kept, ...]:
            kept = []
            compared = _compared(transaction)
            for statement in sorted(statements, key=lambda one: place(one.source)):
                older = compared.replaced(statement)
                if any(place(one.source) > place(statement.source) for one in older):
                    continue
                try:
                    kept.append(self._keep(transaction, statement, compared))
                except (Conflict, InvalidRequest):
                    continue
            return tuple(kept)

        return await self._change(work)

    async def summarise(self, chat_id: str, text: str) -> None:
        """Keeps the summary of a chat, in the place of an older one of the same chat (R47)."""
        checked = checked_text(text)

        def work(transaction: Transaction) -> None:
            known = next(
                (
                    memory
                    for memory in read_all(transaction)
                    if memory.kind == SUMMARY and memory.source and memory.source.chat_id == chat_id
                ),
                None,
            )
            if known is not None:
                _set(transaction, known.id, text=checked)
                return
            _make_room(transaction)
            memory = self._made(
                Statement(checked, SUMMARY, source=Source(chat_id, SUMMARY_SOURCE, ""))
            )
            add(transaction, memory)

        await self._change(work)

    async def change(
        self,
        memory_id: str,
        text: str | None = None,
        kind: Kind | None = None,
        pinned: bool | None = None,
    ) -> Memory:
        """Gives a memory another text, kind or pin. Raises NotFound, InvalidRequest, and Conflict
        for a superseded memory."""
        values: dict[str, object] = {}
        if text is not None:
            values["text"] = _allowed(text)
        if kind is not None:
            values["kind"] = kind
        if pinned is not None:
            values["pinned"] = pinned

        def work(transaction: Transaction) -> Memory:
            memory = _get(transaction, memory_id)
            if memory.superseded_by is not None:
                raise Conflict("A newer memory replaced this one; change that one.")
            if values:
                _set(transaction, memory_id, **values)
            if text is not None:
                withdraw(transaction, [memory])
            return _get(transaction, memory_id)

        return await self._change(work)

    async def delete(self, memory_ids: Iterable[str]) -> tuple[str, ...]:
        """Deletes memories, and returns the ids of those that were there; what they superseded
        stays superseded."""
        wanted = frozenset(memory_ids)
        now = self._clock().isoformat()

        def work(transaction: Transaction) -> tuple[str, ...]:
            present = memories.c.id.in_(wanted) & memories.c.deleted.is_(None)
            found = [one for one in read_all(transaction) if one.id in wanted]
            withdraw(transaction, found)
            transaction.execute(update(memories).where(present).values(deleted=now))
            return tuple(one.id for one in found)

        deleted = await self._change(work)
        purge = asyncio.get_running_loop().create_task(self._purge_later())
        self._purges.add(purge)
        purge.add_done_callback(self._purges.discard)
        return deleted

    async def restore(self, memory_ids: Iterable[str]) -> tuple[Memory, ...]:
        """Brings back memories that were deleted in the last minute; those that are there."""
        wanted = tuple(memory_ids)

        def work(transaction: Transaction) -> tuple[Memory, ...]:
            gone = memories.c.id.in_(wanted) & memories.c.deleted.is_not(None)
            found = transaction.execute(select(memories).where(gone)).all()
            transaction.execute(update(memories).where(gone).values(deleted=None))
            read = (memory_of(row) for row in found)
            back = tuple(memory for memory in read if memory is not None)
            give_back(transaction, back)
            return back

        return await self._change(work)

    async def of_chat(self, chat_id: str) -> tuple[str, ...]:
        """The ids of the memories that come from a chat."""
        known = await self.read()
        return tuple(
            memory.id
            for memory in known.memories
            if memory.source is not None and memory.source.chat_id == chat_id
        )

    async def withdrawn(self, chat_id: str) -> frozenset[str]:
        """The ids of the chat's messages whose memories the user deleted or corrected."""
        await self.open()
        return await self._database.read(lambda transaction: of_chat(transaction, chat_id))

    async def used(self, memory_ids: Iterable[str]) -> None:
        """Notes that a turn had these memories. `read` shows it after the next change of a text:
        reading thousands of memories anew in each turn would cost more than it tells."""
        wanted, now = tuple(memory_ids), self._clock().isoformat()
        if not wanted:
            return
        await self.open()
        values = {"uses": memories.c.uses + 1, "used": now}
        counted = update(memories).where(memories.c.id.in_(wanted)).values(values)
        await self._database.write(lambda transaction: transaction.execute(counted).rowcount)

    async def add_lines(self, statements: Sequence[Statement | None]) -> Added:
        """Adds what an export had; None is a line that could not be read. Others write in between.
        What was added before an error stays, and is known when the same lines come again."""
        total = Added(0, 0, 0)
        lines = _Import(statements, self._keep)
        while total.lines < len(statements):
            total = await self._change(partial(lines.piece, total))
        return total

    async def set_mode(self, mode: Mode) -> None:
        def work(transaction: Transaction) -> None:
            _raise_revision(transaction)
            transaction.execute(update(state).values(mode=mode))

        await self._change(work)

    def _keep(self, transaction: Transaction, statement: Statement, compared: Compared) -> Kept:
        """Keeps a statement; `compared` are the current memories, and follows the change."""
        known = compared.same(statement)
        if known is not None:
            raise Conflict("This is remembered already.", code="exists", extra={"id": known.id})
        _make_room(transaction)
        memory = self._made(statement)
        add(transaction, memory)
        older = tuple(one.id for one in compared.replaced(statement))
        for memory_id in older:
            compared.remove(memory_id)
        compared.add(memory)
        if older:
            _set(transaction, *older, superseded_by=memory.id)
        return Kept(memory, older)

    def _made(self, statement: Statement) -> Memory:
        return Memory(
            uuid.uuid4().hex,
            statement.kind,
            statement.text,
            statement.entities,
            statement.source,
            self._now().isoformat(timespec="microseconds"),
            pinned=statement.pinned,
        )

    def _now(self) -> datetime:
        """The time, which is another one for each memory: their order is that of these times."""
        now, last = self._clock(), self._last
        if last is not None and timedelta() <= last - now < LONGEST_STEP:
            now = last + timedelta(microseconds=1)
        self._last = now
        return now

    async def _change(self, work: Callable[[Transaction], Result]) -> Result:
        oldest = (self._clock() - timedelta(seconds=UNDO_SECONDS)).isoformat()

        def change(transaction: Transaction) -> Result:
            transaction.execute(delete(memories).where(memories.c.deleted < oldest))
            result = work(transaction)
            _raise_revision(transaction)
            return result

        await self.open()
        try:
            return await self._database.write(change)
        finally:
            self._known.changed()

    async def _purge_later(self) -> None:
        await self._sleep(UNDO_SECONDS + 1)
        with contextlib.suppress(StoreError):
            await self._change(lambda transaction: None)


def _read(transaction: Transaction, known: Known | None) -> Known:
    row = transaction.execute(select(state.c.revision, state.c.mode)).first()
    mode = mode_of(row.mode) if row is not None else None
    revision = _revision(row.revision if row is not None else 0)
    if known is not None and known.revision == revision != DAMAGED:
        return known
    return Known(revision, read_all(transaction), mode)


def _revision(stored: object) -> int:
    return stored if isinstance(stored, int) else DAMAGED


def _raise_revision(transaction: Transaction) -> None:
    raised = update(state).values(revision=state.c.revision + 1)
    if not transaction.execute(raised).rowcount:
        transaction.execute(insert(state).values(id=1, revision=1))


def _allowed(value: object) -> str:
    """A memory's text. Raises InvalidRequest for a wrong text, and for one that tells to act, to
    allow or to ignore: memories are background, rules tell what to do."""
    text = checked_text(value)
    if tells_to_act(text):
        raise InvalidRequest(
            "tells to act, to allow or to ignore; a memory cannot, write it as a rule", where="text"
        )
    return text


def _compared(transaction: Transaction) -> Compared:
    return Compared(one for one in read_all(transaction) if one.superseded_by is None)


def _get(transaction: Transaction, memory_id: str) -> Memory:
    wanted = (memories.c.id == memory_id) & memories.c.deleted.is_(None)
    row = transaction.execute(select(memories).where(wanted)).first()
    memory = memory_of(row) if row is not None else None
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def _set(transaction: Transaction, *memory_ids: str, **values: object) -> None:
    transaction.execute(update(memories).where(memories.c.id.in_(memory_ids)).values(**values))


def _make_room(transaction: Transaction) -> None:
    if count(transaction) >= MOST_MEMORIES:
        raise InvalidRequest(f"There are {MOST_MEMORIES:,} memories already; delete some.")
