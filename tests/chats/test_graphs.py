"""The graphs that the workflows of a chat had: which are kept, and for how long."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import Branches, ChatGraphs, ChatStore, KeptGraph, schema
from plugin.assistant.chats.log.graph_rows import MOST_GRAPHS, MOST_WORKFLOWS
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.trash import Trash
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import NotFound
from sqlalchemy import func, select

from .examples import answer, user

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def kept(revision: int, message_id: str | None = None, workflow: str = "w") -> KeptGraph:
    return KeptGraph(workflow, f"{revision:08x}", "Portrait", message_id, NOW, nodes=1)


def graph(number: int) -> dict[str, Any]:
    return {"nodes": [{"id": number, "type": "KSampler", "title": "😀 \ud800"}]}


@pytest.fixture
async def store(database: SqliteDatabase) -> ChatStore:
    store = ChatStore(database)
    await store.import_messages("c", (user("u1"), answer("a1")))
    return store


async def revisions(graphs: ChatGraphs, **query: Any) -> list[int]:
    return [int(one.revision, 16) for one in await graphs.list("c", **query)]


async def test_a_graph_comes_back_as_it_was(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(1, "u1"), graph(1))
    assert await graphs.list("c") == (kept(1, "u1"),)
    assert await graphs.read("c", "00000001") == graph(1)
    newest = await graphs.newest("c")
    assert newest is not None and newest[0].revision == "00000001"


async def test_what_a_chat_does_not_have_is_not_found(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    assert await graphs.newest("c") is None
    for asked in (
        graphs.read("c", "00000001"),
        graphs.list("c", before="00000001"),
        graphs.list("no-chat"),
        graphs.keep("no-chat", kept(1), graph(1)),
    ):
        with pytest.raises(NotFound):
            await asked


async def test_the_last_twenty_graphs_of_each_workflow_are_kept(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(99, workflow="other"), graph(99))
    for number in range(MOST_GRAPHS + 5):
        await graphs.keep("c", kept(number), graph(number))
    assert await revisions(graphs) == [*range(MOST_GRAPHS + 4, 4, -1), 99]


async def test_changes_between_two_messages_do_not_take_away_what_messages_brought(
    store: ChatStore,
) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(500, "u1"), graph(500))
    for number in range(MOST_GRAPHS * 2):
        await graphs.keep("c", kept(number), graph(number))
    assert len(await revisions(graphs)) == MOST_GRAPHS + 1
    assert await graphs.read("c", f"{500:08x}") == graph(500)


async def test_a_graph_that_comes_again_is_the_newest_and_keeps_its_message(
    store: ChatStore,
) -> None:
    graphs = ChatGraphs(store)
    for number in (1, 2):
        await graphs.keep("c", kept(number, f"u{number}"), graph(number))
    await graphs.keep("c", kept(1), graph(1))
    assert await revisions(graphs) == [1, 2]
    assert [one.message_id for one in await graphs.list("c")] == ["u1", "u2"]
    await graphs.keep("c", kept(1, "u3"), graph(1))
    assert [one.message_id for one in await graphs.list("c")] == ["u3", "u2"]


async def test_of_many_workflows_the_last_ones_are_kept(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    for number in range(MOST_WORKFLOWS + 1):
        await graphs.keep("c", kept(7, workflow=f"w{number}"), graph(7))
    ids = [one.workflow_id for one in await graphs.list("c", limit=100)]
    assert ids == [f"w{number}" for number in range(MOST_WORKFLOWS, 0, -1)]


async def test_a_list_comes_in_pages(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    for number in range(5):
        await graphs.keep("c", kept(number), graph(number))
    assert await revisions(graphs, limit=2) == [4, 3]
    assert await revisions(graphs, limit=2, before="00000003") == [2, 1]
    assert await revisions(graphs, limit=2, before="00000000") == []


async def test_a_branch_has_the_graphs_and_a_deleted_chat_leaves_none(
    store: ChatStore, database: SqliteDatabase
) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(1, "u1"), graph(1))
    await Branches(store).branch("c", "a1", "branch")
    assert await graphs.list("branch") == await graphs.list("c")

    async def soon(seconds: float) -> None:
        """The minute of the undo."""

    trash = Trash(database, store, HistorySearch(database, store.failover), sleep=soon)
    await trash.delete("c")
    while trash._tasks:
        await next(iter(trash._tasks))
    rows = select(func.count()).select_from(schema.workflows)
    assert await database.read(lambda c: c.execute(rows).scalar_one()) == 1
    assert await graphs.read("branch", "00000001") == graph(1)
    await trash.close()


async def test_a_large_graph_is_stored_small(store: ChatStore, tmp_path: Path) -> None:
    nodes = [
        {"id": n, "type": "KSampler", "pos": [n * 7 % 900, n * 13 % 700], "widgets_values": [n, 20]}
        for n in range(20_000)
    ]
    whole = {"nodes": nodes, "links": []}
    size = len(json.dumps(whole))
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(1), whole)
    length = select(func.length(schema.workflows.c.graph))
    stored = await store.read("c", lambda c: c.execute(length).scalar_one())
    assert stored * 5 < size
