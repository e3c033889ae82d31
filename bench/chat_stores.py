"""The stores that `chats.py` compares: ours, a plain JSON Lines file, and a bare SQLite table.

Each stores a chat of the same number of messages and is timed at the same operations. A store has
no figure for an operation that it lacks.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.log.branches import Branches
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.messages.parts import Message

from .chat_log import QUERIES, messages, texts
from .measures import percentile

MILLISECONDS = 1_000
CHAT = "long"
PAGE = 50
APPENDS = 300
READS = 60
OTHER_CHATS_SHARE = 100
"""The list has one further chat, of `OTHER_CHAT_MESSAGES` messages, for each so many messages of
the long chat."""
OTHER_CHAT_MESSAGES = 4
IMPORTED_AT_ONCE = 5_000

_BARE_TABLE = """
CREATE TABLE messages (
    chat_id TEXT NOT NULL, "row" INTEGER NOT NULL, parent_row INTEGER, message_id TEXT NOT NULL,
    role TEXT NOT NULL, created TEXT NOT NULL, depth INTEGER NOT NULL, run_start INTEGER NOT NULL,
    run_parent INTEGER, body TEXT NOT NULL, PRIMARY KEY (chat_id, "row"))
"""
_BARE_INDEX = "CREATE INDEX messages_by_id ON messages (chat_id, message_id)"
_BARE_INSERT = "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Bare:
    """A bare SQLite table with the columns of our store: its time for a commit is the cost of the
    disk."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._connection.execute(_BARE_TABLE)
        self._connection.execute(_BARE_INDEX)
        self._rows = 0

    def append(self, text: str) -> None:
        self._rows += 1
        row = (CHAT, self._rows, self._rows - 1, f"m{self._rows}", "user", "2026", 1, 1, None, text)
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute(_BARE_INSERT, row)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


async def ours(folder: Path, size: int) -> dict[str, Any]:
    """The figures of our store with a chat of `size` messages and further chats."""
    path = folder / "assistant.db"
    database = SqliteDatabase(path)
    store = ChatStore(database)
    source = texts()
    await _fill(store, source, size)
    appended = await _appends(store, source, size, folder)
    await database.close()

    database = SqliteDatabase(path)
    store = ChatStore(database)
    started = time.perf_counter()
    await store.list(PAGE)
    first = (time.perf_counter() - started) * MILLISECONDS
    branches, search = Branches(store), HistorySearch(database, store.failover)

    async def page() -> None:
        shown, _ = await store.page(CHAT, limit=PAGE)
        await branches.versions(CHAT, [message.id for message in shown])

    figures = {
        **appended,
        "start_ms": round(first, 2),
        "open_ms": await _timed(page),
        "list_ms": await _timed(lambda: store.list(PAGE)),
    }
    started = time.perf_counter()
    await search.search(None, QUERIES[0])
    figures["index_s"] = round(time.perf_counter() - started, 2)
    queries = iter(QUERIES * READS)
    figures["search_ms"] = await _timed(lambda: search.search(None, next(queries)))
    await database.close()
    figures["file_mb"] = round(path.stat().st_size / 1e6, 2)
    return figures


def json_lines(folder: Path, size: int) -> dict[str, Any]:
    """The figures of a JSON Lines file: an append is synced, and each reading reads the whole
    file."""
    path = folder / "long.jsonl"
    source = texts()
    with path.open("w", encoding="utf-8") as file:
        for number in range(size):
            file.write(_line(number, next(source)))
    with path.open("a", encoding="utf-8") as file:

        def append(number: int) -> None:
            file.write(_line(number, next(source)))
            file.flush()
            os.fsync(file.fileno())

        appends = [_once(partial(append, number)) for number in range(APPENDS)]

    def page() -> None:
        with path.open(encoding="utf-8") as lines:
            [json.loads(line) for line in lines][-PAGE:]

    def search(query: str) -> None:
        words = query.split()
        with path.open(encoding="utf-8") as lines:
            [line for line in lines if all(word in line for word in words)]

    some = max(3, min(READS, 200_000 // size))
    return {
        **_spread("append", appends),
        "open_ms": _middle([_once(page) for _ in range(some)]),
        "search_ms": _middle([_once(partial(search, QUERIES[n % 10])) for n in range(some)]),
        "file_mb": round(path.stat().st_size / 1e6, 2),
    }


async def _fill(store: ChatStore, source: Iterator[tuple[str, str]], size: int) -> None:
    first = messages(source, min(size, IMPORTED_AT_ONCE))
    await store.import_messages(CHAT, first, "A long chat")
    for start in range(len(first), size, IMPORTED_AT_ONCE):
        await store.append_all(
            CHAT, messages(source, min(IMPORTED_AT_ONCE, size - start), start), f"m{start - 1}"
        )
    for number in range(size // OTHER_CHATS_SHARE):
        await store.import_messages(
            f"other-{number}", messages(source, OTHER_CHAT_MESSAGES), f"Chat {number}"
        )


async def _appends(
    store: ChatStore, source: Iterator[tuple[str, str]], size: int, folder: Path
) -> dict[str, Any]:
    """Times appends and bare commits of the same texts alternately, so that both run under the same
    load of the disk."""
    bare = Bare(folder / "bare.db")
    added: Sequence[Message] = messages(source, APPENDS, size)
    appends, commits = [], []
    for message in added:
        commits.append(_once(partial(bare.append, message.text)))
        started = time.perf_counter()
        await store.append(CHAT, message)
        appends.append((time.perf_counter() - started) * MILLISECONDS)
    bare.close()
    together = time.perf_counter()
    more = messages(source, APPENDS, size + APPENDS)
    for start in range(0, APPENDS, 10):
        await asyncio.gather(
            *(
                store.import_messages(f"together-{start + n}", [message])
                for n, message in enumerate(more[start : start + 10])
            )
        )
    spent = (time.perf_counter() - together) * MILLISECONDS / APPENDS
    return {
        **_spread("append", appends),
        "commit_ms": _middle(commits),
        # The quotient of the lower quartiles, since syncs of other programs delay single appends or
        # commits at random.
        "append_per_commit": round(percentile(appends, 0.25) / percentile(commits, 0.25), 2),
        "ten_at_once_ms": round(spent, 3),
    }


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(READS):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * MILLISECONDS)
    return _middle(times)


def _once(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * MILLISECONDS


def _spread(name: str, times: list[float]) -> dict[str, float]:
    return {f"{name}_ms": _middle(times), f"{name}_p95_ms": round(percentile(times, 0.95), 3)}


def _middle(times: list[float]) -> float:
    return round(_median(times), 3)


def _median(times: list[float]) -> float:
    return percentile(times, 0.5)


def _line(number: int, message: tuple[str, str]) -> str:
    role, text = message
    return json.dumps({"id": f"m{number}", "role": role, "text": text}, ensure_ascii=False) + "\n"
