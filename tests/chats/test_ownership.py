"""Two processes on one database: a process does not touch a chat that the other answers."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore, TurnStart
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import Conflict

from .examples import answer, user

PROGRAM = Path(__file__).with_name("answering.py")


@contextmanager
def another_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has begun an answer in the chat `theirs`, and made the chat `quiet`."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "answering\n"
        try:
            yield process
        finally:
            process.kill()


async def test_a_chat_that_is_answered_in_another_process_is_left_to_it(
    database: SqliteDatabase,
) -> None:
    with another_process(database.path) as process:
        store = ChatStore(database)
        assert await store.recover() == ()
        for change in (
            store.append("theirs", user("u2")),
            store.begin_turn("theirs", TurnStart(answer("a2"))),
            store.set_state("theirs", "idle"),
            Trash(database, store, HistorySearch(database)).delete("theirs"),
        ):
            with pytest.raises(Conflict) as refused:
                await change
            assert refused.value.code == "runs_elsewhere"
            assert refused.value.extra["pid"] == process.pid
            assert "127.0.0.1:8189" in refused.value.message
        chat = await store.get("theirs")
        assert chat is not None and chat.state == "generating"


async def test_everything_else_works_beside_another_process(database: SqliteDatabase) -> None:
    with another_process(database.path):
        store = ChatStore(database)
        assert {chat.id for chat in await store.list()} == {"theirs", "quiet"}
        assert [message.id for message in await store.path("theirs")] == ["u1"]
        await store.change("theirs", title="Named here", pinned=True)
        await store.append("quiet", user("u1"))
        await store.begin_turn("quiet", TurnStart(answer("a1")))
        assert (await store.finish_answer("quiet", answer("a1"))).state == "idle"


async def test_what_the_other_process_finishes_is_here_and_the_chat_is_free(
    database: SqliteDatabase,
) -> None:
    with another_process(database.path) as process:
        store = ChatStore(database)
        await store.recover()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("finish\n")
        process.stdin.flush()
        assert await asyncio.to_thread(process.stdout.readline) == "finished\n"
        assert [message.text for message in await store.path("theirs")] == ["Hello", "Done"]
        await store.append("theirs", user("u2"))


async def test_what_a_killed_process_was_answering_is_cut(database: SqliteDatabase) -> None:
    with another_process(database.path) as process:
        process.kill()
        process.wait()
        store = ChatStore(database)
        assert await store.recover() == ("theirs",)
        path = await store.path("theirs")
        assert (path[-1].text, path[-1].metadata) == ("Hal", {"cut": "cut"})


async def test_a_process_that_dies_later_frees_the_chat_without_a_restart_here(
    database: SqliteDatabase,
) -> None:
    with another_process(database.path) as process:
        store = ChatStore(database)
        assert await store.recover() == ()
        process.kill()
        process.wait()
        await store.append("theirs", user("u2"))
        assert [m.text for m in await store.path("theirs")] == ["Hello", "Hal", "Hello"]
