"""The edits of answers: what is kept of them, and which graph a workflow had at a message."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from plugin.assistant.chats import (
    Branches,
    ChatEdits,
    ChatGraphs,
    ChatStore,
    Edit,
    KeptGraph,
    schema,
)
from plugin.assistant.chats.log.graph_rows import MOST_GRAPHS
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import NotFound
from sqlalchemy import func, select

from .examples import answer, user

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def graph(number: int) -> dict[str, Any]:
    return {"nodes": [{"id": number, "type": "KSampler"}]}


def kept(revision: int, message_id: str | None = None, edited: str | None = None) -> KeptGraph:
    return KeptGraph("w", f"{revision:08x}", "Portrait", message_id, NOW, 1, edited)


@pytest.fixture
async def store(database: SqliteDatabase) -> ChatStore:
    store = ChatStore(database)
    await store.import_messages("c", (user("u1"), answer("a1"), user("u2"), answer("a2")))
    return store


async def stretches(edits: ChatEdits, message_id: str = "a1") -> list[tuple[int, int]]:
    found = await edits.of_message("c", message_id)
    return [(one.before["nodes"][0]["id"], one.after["nodes"][0]["id"]) for one in found]


async def graphs_stored(database: SqliteDatabase) -> int:
    rows = select(func.count()).select_from(schema.edit_graphs)
    return int(await database.read(lambda c: c.execute(rows).scalar_one()))


async def test_edits_that_follow_each_other_are_one_stretch(
    store: ChatStore, database: SqliteDatabase
) -> None:
    edits = ChatEdits(store)
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(1), graph(2))
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(2), graph(3))
    assert await stretches(edits) == [(1, 3)]
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(7), graph(8))
    assert await stretches(edits) == [(1, 3), (7, 8)]
    assert await graphs_stored(database) == 4
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(8), graph(7))
    assert await stretches(edits) == [(1, 3)]
    assert await graphs_stored(database) == 2


async def test_the_edits_of_two_answers_and_of_two_workflows_stay_apart(store: ChatStore) -> None:
    edits = ChatEdits(store)
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(1), graph(2))
    await edits.keep("c", Edit("a2", "w", "Portrait"), graph(2), graph(3))
    await edits.keep("c", Edit("a2", "other", "Other"), graph(3), graph(4))
    assert await stretches(edits) == [(1, 2)]
    assert await stretches(edits, "a2") == [(2, 3), (3, 4)]
    await edits.mark("c", "a2", True)
    assert [one.undone for one in await edits.of_chat("c")] == [False, True, True]
    with pytest.raises(NotFound):
        await edits.keep("no-chat", Edit("a1", "w", ""), graph(1), graph(2))


async def test_what_people_took_back_is_told_from_what_an_answer_took_back(
    store: ChatStore,
) -> None:
    edits = ChatEdits(store)
    for number, (name, back) in enumerate((("a1", None), ("a2", None), ("a3", "a2"))):
        edit = Edit(name, "w", "Portrait", takes_back=back)
        await edits.keep("c", edit, graph(number), graph(number + 1))
    await edits.mark("c", "a1", True)
    await edits.mark("c", "a2", True)
    assert await edits.taken_back_by_people("c") == {"a1"}
    await edits.mark("c", "a2", False)
    await edits.mark_taking_back("c", "a2")
    assert await edits.taken_back_by_people("c") == {"a1", "a3"}
    await edits.keep("c", Edit("a3", "w", "Portrait"), graph(7), graph(8))
    assert await edits.taken_back_by_people("c") == {"a1"}, "an edit of a3 is there"


async def test_what_people_took_back_is_read_after_a_change_only(
    store: ChatStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    edits, reads = ChatEdits(store), 0
    reading = ChatEdits.of_chat

    async def counted(self: ChatEdits, chat_id: str) -> tuple[Edit, ...]:
        nonlocal reads
        reads += 1
        found = await reading(self, chat_id)
        if reads == 1:
            await edits.mark("c", "a1", True)
        return found

    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(1), graph(2))
    monkeypatch.setattr(ChatEdits, "of_chat", counted)
    assert await edits.taken_back_by_people("c") == frozenset(), "it was marked meanwhile"
    for _ in range(3):
        assert await edits.taken_back_by_people("c") == {"a1"}
    assert reads == 2


async def test_the_graph_of_an_edited_answer_is_not_pushed_out(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(500, edited="a1"), graph(500))
    await graphs.keep("c", kept(501, edited="a1"), graph(501))
    for number in range(MOST_GRAPHS * 2):
        await graphs.keep("c", kept(number), graph(number))
    found = [one.revision for one in await graphs.list("c", limit=100)]
    assert f"{501:08x}" in found
    assert f"{500:08x}" not in found


async def test_an_edit_of_places_alone_replaces_the_graph_of_its_revision(
    store: ChatStore,
) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(1, "u1"), graph(1))
    moved = {"nodes": [{"id": 1, "type": "KSampler", "pos": [5, 5]}]}
    await graphs.keep("c", kept(1, edited="a1"), moved)
    newest = await graphs.newest_of("c", "w")
    assert newest is not None and newest[1] == moved


async def test_which_graph_a_workflow_had_at_a_message(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    assert await graphs.at("c", None) is None
    await graphs.keep("c", kept(1, "u1"), graph(1))
    await graphs.keep("c", kept(2, edited="a1"), graph(2))
    await graphs.keep("c", kept(2, "u2"), graph(2))

    async def at(message_id: str | None) -> int | None:
        found = await graphs.at("c", message_id)
        return None if found is None else int(found.revision, 16)

    assert [await at(one) for one in ("u1", "a1", "u2", "a2", None)] == [1, 2, 2, 2, 2]
    with pytest.raises(NotFound):
        await graphs.at("c", "nobody")
    first = await graphs.at("c", "u1")
    assert first is not None and not await graphs.is_newest("c", first)
    last = await graphs.at("c", None)
    assert last is not None and await graphs.is_newest("c", last)


async def test_another_version_has_its_own_graph(store: ChatStore) -> None:
    graphs = ChatGraphs(store)
    await graphs.keep("c", kept(1, "u1"), graph(1))
    await graphs.keep("c", kept(2, edited="a1"), graph(2))
    await store.append("c", answer("b1"), "u1")
    await graphs.keep("c", kept(3, edited="b1"), graph(3))
    found = await graphs.at("c", None)
    assert found is not None and found.edited == "b1"
    await Branches(store).switch_version("c", "a1")
    found = await graphs.at("c", None)
    assert found is not None and found.revision == f"{2:08x}"


async def test_a_branch_has_the_edits(store: ChatStore) -> None:
    edits, graphs = ChatEdits(store), ChatGraphs(store)
    await graphs.keep("c", kept(2, edited="a1"), graph(2))
    await edits.keep("c", Edit("a1", "w", "Portrait"), graph(1), graph(2))
    await Branches(store).branch("c", "a1", "branch")
    assert [one.before for one in await edits.of_message("branch", "a1")] == [graph(1)]
    found = await graphs.at("branch", "a1")
    assert found is not None and found.revision == f"{2:08x}"
