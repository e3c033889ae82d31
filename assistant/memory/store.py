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
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from sqlalchemy import delete, func, insert, select, update

from ..database import LARGEST_NUMBER, Database, Result, Transaction, utc_now
from ..database.fresh import FreshValue
from ..errors import Conflict, InvalidRequest, NotFound, StoreError
from .draft import Added, Draft, Kept, Snapshot, add_each, allowed, check_room
from .known import Known
from .memory import SUMMARY, Kind, Memory, Mode, Source, Statement, checked_text, mode_of
from .tables import TABLES, add, count, memories, memory_of, read_all, state
from .withdrawn import give_back, of_chat, withdraw

MOST_IN_A_PIECE: Final = 100
"""Lines of an import that are written together, which takes 5 ms: every other write waits so
long, and so does a turn."""
UNDO_SECONDS: Final = 60
"""How long a deleted memory can be restored."""
SUMMARY_SOURCE: Final = ""
"""The message id in the source of a chat's summary."""
DAMAGED: Final = -1
LONGEST_STEP: Final = timedelta(seconds=1)
"""No clock stands still for so long: that of Windows goes in steps of 15.6 ms."""


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
        # When the last memory was made, in any thread.
        self._last: datetime | None = None
        self._making = threading.Lock()
        self._importing = asyncio.Lock()
        self._known = FreshValue(self._read, seconds, lambda: database.generation)
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
        checked = replace(statement, text=allowed(statement.text))

        return await self._add(await self._draft(), lambda draft: draft.add(checked))

    async def keep_all(
        self, statements: Sequence[Statement], path: Sequence[str] = ()
    ) -> tuple[Kept, ...]:
        """`keep` for each statement of a chat in one transaction, without those that are known.
        `path` are the chat's message ids, oldest first: what a later message said is not replaced
        by an earlier one."""
        places = {message_id: place for place, message_id in enumerate(path)}

        def place(source: Source | None) -> int:
            return places.get(source.message_id, -1) if source is not None else -1

        def decide(draft: Draft) -> tuple[Kept, ...]:
            kept = []
            for statement in sorted(statements, key=lambda one: place(one.source)):
                older = draft.compared.replaced(statement)
                if any(place(one.source) > place(statement.source) for one in older):
                    continue
                try:
                    kept.append(draft.add(statement))
                except (Conflict, InvalidRequest):
                    continue
            return tuple(kept)

        return await self._add(await self._draft(), decide)

    async def summarise(self, chat_id: str, text: str) -> None:
        """Keeps the summary of a chat, in the place of an older one of the same chat (R47)."""
        checked = checked_text(text)
        in_chat = (memories.c.kind == SUMMARY) & (memories.c.chat_id == chat_id)
        present = select(memories).where(in_chat & memories.c.deleted.is_(None))

        def work(transaction: Transaction) -> None:
            found = transaction.execute(present.order_by(memories.c.row)).all()
            known = next((one for one in map(memory_of, found) if one is not None), None)
            if known is not None:
                _set(transaction, known.id, text=checked)
                return
            check_room(count(transaction))
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
            values["text"] = allowed(text)
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
        """Adds what an export had; None is a line that could not be read. What is known is not
        added again, nor what was replaced since. The lines are written in pieces, so that other
        writes get in between: what is written stays where a later piece raises StoreError, whose
        message says how many lines that is."""
        done = Added()
        async with self._importing:
            draft = await self._draft()
            for start in range(0, len(statements), MOST_IN_A_PIECE):
                piece = statements[start : start + MOST_IN_A_PIECE]
                try:
                    done += await self._add(draft, partial(add_each, statements=piece))
                except StoreError as error:
                    raise _broken_off(error, start, len(statements)) from error
        return done

    async def set_mode(self, mode: Mode) -> None:
        def work(transaction: Transaction) -> None:
            _raise_revision(transaction)
            transaction.execute(update(state).values(mode=mode))

        await self._change(work)

    async def _draft(self) -> Draft:
        await self.open()
        oldest = self._oldest()
        snapshot = await self._database.read(lambda transaction: _snapshot(transaction, oldest))
        return await asyncio.to_thread(Draft, snapshot, self._made)

    async def _add(self, draft: Draft, decide: Callable[[Draft], Result]) -> Result:
        """Writes what `decide` adds to the draft, all of it or, where it raises, nothing. The
        writer's thread compares memories only where they were changed meanwhile."""
        result = await asyncio.to_thread(decide, draft)
        oldest = self._oldest()

        def work(transaction: Transaction) -> None:
            nonlocal result
            if _revision(transaction) != draft.revision:
                draft.follow(_snapshot(transaction, oldest))
                result = decide(draft)
            for memory in draft.made:
                add(transaction, memory)
            for memory_id, newer in draft.superseded.items():
                _set(transaction, memory_id, superseded_by=newer)

        _, revision = await self._change_to(work)
        draft.written(revision)
        return result

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
        with self._making:
            now, last = self._clock(), self._last
            if last is not None and timedelta() <= last - now < LONGEST_STEP:
                now = last + timedelta(microseconds=1)
            self._last = now
        return now

    async def _change(self, work: Callable[[Transaction], Result]) -> Result:
        result, _ = await self._change_to(work)
        return result

    async def _change_to(self, work: Callable[[Transaction], Result]) -> tuple[Result, int]:
        """The result of a change, and the revision after it."""
        oldest = self._oldest()

        def change(transaction: Transaction) -> tuple[Result, int]:
            transaction.execute(delete(memories).where(memories.c.deleted < oldest))
            result = work(transaction)
            return result, _raise_revision(transaction)

        await self.open()
        try:
            return await self._database.write(change)
        finally:
            self._known.changed()

    def _oldest(self) -> str:
        """When the oldest memories were deleted that can be restored."""
        return (self._clock() - timedelta(seconds=UNDO_SECONDS)).isoformat()

    async def _purge_later(self) -> None:
        await self._sleep(UNDO_SECONDS + 1)
        with contextlib.suppress(StoreError):
            await self._change(lambda transaction: None)


def _read(transaction: Transaction, known: Known | None) -> Known:
    row = transaction.execute(select(state.c.revision, state.c.mode)).first()
    revision, mode = (row.revision, mode_of(row.mode)) if row is not None else (0, None)
    if not isinstance(revision, int):
        revision = DAMAGED
    if known is not None and known.revision == revision != DAMAGED:
        return known
    return Known(revision, read_all(transaction), mode)


def _revision(transaction: Transaction) -> object:
    """0 where there is none; any value where the row is damaged."""
    row = transaction.execute(select(state.c.revision)).first()
    return row.revision if row is not None else 0


def _raise_revision(transaction: Transaction) -> int:
    """The next revision; the first again after a damaged one and after the last."""
    found = _revision(transaction)
    revision = found + 1 if isinstance(found, int) and found < LARGEST_NUMBER else 1
    if not transaction.execute(update(state).values(revision=revision)).rowcount:
        transaction.execute(insert(state).values(id=1, revision=revision))
    return revision


def _snapshot(transaction: Transaction, oldest: str) -> Snapshot:
    """What new memories are compared with; memories that were deleted before `oldest` do not
    count."""
    present = memories.c.deleted.is_(None) | (memories.c.deleted >= oldest)
    rows = transaction.execute(select(func.count()).select_from(memories).where(present))
    return Snapshot(_revision(transaction), read_all(transaction), rows.scalar_one())


def _broken_off(error: StoreError, done: int, lines: int) -> StoreError:
    if not done:
        return error
    return StoreError(
        f"{error.message} The first {done:,} of {lines:,} lines were imported and stay;"
        " import them all again for the rest."
    )


def _get(transaction: Transaction, memory_id: str) -> Memory:
    wanted = (memories.c.id == memory_id) & memories.c.deleted.is_(None)
    row = transaction.execute(select(memories).where(wanted)).first()
    memory = memory_of(row) if row is not None else None
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def _set(transaction: Transaction, *memory_ids: str, **values: object) -> None:
    transaction.execute(update(memories).where(memories.c.id.in_(memory_ids)).values(**values))
