"""Events: rows of the log that report what happened; hidden user messages on the wire."""

import dataclasses

import pytest
from plugin.assistant.chats import ChatStore, TurnStart, Versions
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.export.markdown import to_markdown
from plugin.assistant.chats.log.branches import Branches
from plugin.assistant.chats.reconcile import Append, Regenerate, Resume, edited, reconcile
from plugin.assistant.chats.search import row_indexing
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import transaction as sqlite_transaction
from plugin.assistant.errors import InvalidRequest, NotFound
from plugin.assistant.messages.origin import is_event, origin_of, role_in_log
from plugin.assistant.messages.parts import Message, TextPart
from sqlalchemy import text

from .examples import answer, at_panel, user, with_tools

DONE = Message(id="e1", role="user", parts=(TextPart("The run of okapi.json is done."),))


async def ids(store: ChatStore, chat_id: str = "c") -> list[str]:
    return [message.id for message in await store.path(chat_id)]


async def anew(database: SqliteDatabase, chat_id: str = "c") -> list[str]:
    return await ids(ChatStore(database), chat_id)


async def test_an_event_is_a_hidden_user_message_at_the_end_of_the_path(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", user("u1"))
    event = await store.add_event("c", DONE)
    assert event.role == "user"
    assert event.metadata == {"origin": "event", "hidden": True}
    assert is_event(event)
    assert (await store.path("c"))[-1] == event
    assert (await store.page("c"))[0][-1] == event
    assert await anew(database) == ["u1", "e1"]
    query = text('SELECT role FROM messages ORDER BY "row"')
    roles = await database.read(lambda c: list(c.execute(query).scalars()))
    assert roles == ["user", "event"]


async def test_an_event_is_not_counted_and_what_follows_is(store: ChatStore) -> None:
    await store.append("c", user("u1"))
    await store.add_event("c", DONE)
    (listed,) = await store.list()
    assert listed.messages == 1
    await store.append("c", answer("a1"))
    await store.append("c", user("u2"))
    (listed,) = await store.list()
    assert listed.messages == 3
    assert await ids(store) == ["u1", "e1", "a1", "u2"]


async def test_an_event_first_of_all_leaves_the_chat_without_messages(store: ChatStore) -> None:
    await store.add_event("c", DONE)
    (listed,) = await store.list()
    assert listed.messages == 0
    await store.append("c", user("u1"))
    (listed,) = await store.list()
    assert listed.messages == 1


async def test_an_answer_in_progress_follows_an_event_that_comes_meanwhile(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", user("u1"))
    await store.begin_turn("c", TurnStart(answer("a1", "Hal")))
    await store.add_event("c", DONE)
    assert await ids(store) == ["u1", "e1"]
    await store.finish_answer("c", answer("a1", "Hallo"))
    assert await ids(store) == ["u1", "e1", "a1"]
    assert await anew(database) == ["u1", "e1", "a1"]


async def test_a_cut_answer_follows_the_event(store: ChatStore, database: SqliteDatabase) -> None:
    await store.append("c", user("u1"))
    await store.begin_turn("c", TurnStart(answer("a1", "Hal")))
    await store.add_event("c", DONE)
    again = ChatStore(database)
    await again.recover()
    assert [message.id for message in await again.path("c")] == ["u1", "e1", "a1"]


async def test_an_answer_that_waits_stays_the_last_message(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.append("c", user("u1"))
    await store.append("c", with_tools("a1", at_panel()))
    await store.add_event("c", DONE)
    assert await ids(store) == ["u1", "e1", "a1"]
    assert await anew(database) == ["u1", "e1", "a1"]
    path = await store.path("c")
    settled = dataclasses.replace(at_panel(), state="output-available", output="seen")
    done = with_tools("a1", settled)
    meant = reconcile(path, [user("u1"), done])
    assert isinstance(meant, Resume)
    await store.begin_turn("c", TurnStart(meant.message, parent=meant.parent_id))
    await store.finish_answer("c", meant.message)
    assert await ids(store) == ["u1", "e1", "a1"]
    (listed,) = await store.list()
    assert listed.messages == 2


async def test_another_answer_is_a_version_of_the_one_after_the_event(store: ChatStore) -> None:
    await store.append("c", user("u1"))
    await store.add_event("c", DONE)
    await store.append("c", answer("a1"))
    meant = reconcile(await store.path("c"), [user("u1")], "regenerate-message")
    assert meant == Regenerate("u1")
    await store.begin_turn("c", TurnStart(answer("a2"), parent=meant.parent_id))
    await store.finish_answer("c", answer("a2"))
    assert await ids(store) == ["u1", "e1", "a2"]
    versions = await Branches(store).versions("c", ["a2", "e1"])
    assert versions["a2"].ids == ("a1", "a2")
    assert "e1" not in versions


async def regenerated_with_an_event(store: ChatStore, message: Message) -> None:
    """Another answer to u1, with an event meanwhile."""
    await store.begin_turn("c", TurnStart(message, parent="u1"))
    await store.add_event("c", DONE)
    await store.finish_answer("c", message)


async def test_an_answer_that_an_event_moved_is_a_version_of_the_one_before(
    store: ChatStore,
) -> None:
    branches = Branches(store)
    await store.append_all("c", [user("u1"), answer("a1")])
    await regenerated_with_an_event(store, answer("a2"))
    assert await ids(store) == ["u1", "e1", "a2"]
    assert await branches.versions("c", ["u1", "e1", "a2"]) == {"a2": Versions(1, ("a1", "a2"))}
    assert await branches.answers_to("c", "u1") == ("a1", "a2")
    await branches.switch_version("c", "a1")
    assert await ids(store) == ["u1", "a1"]
    assert await branches.versions("c", ["a1"]) == {"a1": Versions(0, ("a1", "a2"))}
    await branches.switch_version("c", "a2")
    assert await ids(store) == ["u1", "e1", "a2"]


@pytest.mark.parametrize("after", ["a1", "e1", "e2"])
async def test_an_edited_message_after_events_keeps_its_versions(
    store: ChatStore, after: str
) -> None:
    branches = Branches(store)
    await store.append_all("c", [user("u1"), answer("a1")])
    await store.add_event("c", DONE)
    await store.add_event("c", dataclasses.replace(DONE, id="e2"))
    await store.append("c", user("u2"))
    await store.append("c", user("v2"), after)
    assert await branches.versions("c", ["a1", "v2"]) == {"v2": Versions(1, ("u2", "v2"))}
    await branches.switch_version("c", "u2")
    assert await ids(store) == ["u1", "a1", "e1", "e2", "u2"]
    assert await branches.versions("c", ["e2", "u2"]) == {"u2": Versions(0, ("u2", "v2"))}


async def test_the_first_message_after_an_event_keeps_its_versions(store: ChatStore) -> None:
    branches = Branches(store)
    await store.add_event("c", DONE)
    await store.append("c", user("u1"))
    await store.append("c", user("v1"), None)
    assert await branches.versions("c", ["v1"]) == {"v1": Versions(1, ("u1", "v1"))}
    await branches.switch_version("c", "u1")
    assert await ids(store) == ["e1", "u1"]
    assert await branches.versions("c", ["u1"]) == {"u1": Versions(0, ("u1", "v1"))}


async def test_a_switch_takes_the_version_beside_the_path_and_passes_over_events(
    store: ChatStore,
) -> None:
    branches = Branches(store)
    await store.append_all("c", [user("u1"), answer("a1")])
    await regenerated_with_an_event(store, answer("a2"))
    await store.append_all("c", [user("v1"), answer("a2", "Elsewhere")], None)
    await branches.switch_version("c", "a1")
    await branches.switch_version("c", "a2")
    assert await ids(store) == ["u1", "e1", "a2"]


async def test_events_in_one_place_are_no_versions(store: ChatStore) -> None:
    await store.append("c", user("u1"))
    await store.add_event("c", DONE)
    await Branches(store).truncate("c", "u1")
    await store.add_event("c", dataclasses.replace(DONE, id="e2"))
    assert await ids(store) == ["u1", "e2"]
    assert await Branches(store).versions("c", ["e2"]) == {}


@pytest.mark.parametrize("removed", [True, False])
async def test_an_event_is_neither_changed_nor_removed(store: ChatStore, removed: bool) -> None:
    await store.append("c", user("u1"))
    event = await store.add_event("c", DONE)
    with pytest.raises(NotFound, match="no message 'e1'"):
        await Branches(store).rewrite("c", "e1", None if removed else user("e1"))
    assert (await store.path("c"))[1:] == (event,)


@pytest.mark.parametrize("seen", [True, False])
async def test_a_client_need_not_have_seen_the_event(store: ChatStore, seen: bool) -> None:
    await store.append_all("c", [user("u1"), answer("a1")])
    event = await store.add_event("c", DONE)
    sent = [user("u1"), answer("a1"), *([event] if seen else []), user("u2")]
    assert reconcile(await store.path("c"), sent) == Append(user("u2"))


async def test_an_event_cannot_be_edited(store: ChatStore) -> None:
    event = await store.add_event("c", DONE)
    with pytest.raises(InvalidRequest, match="only a user message"):
        edited([event], "e1", user("e1"))


async def test_events_are_not_searched(store: ChatStore, database: SqliteDatabase) -> None:
    await store.append("c", user("u1", "Where is the zebra?"))
    await store.add_event("c", DONE)
    await store.append("c", answer("a1", "There is the zebra."))
    search = HistorySearch(database)
    assert await search.search("c", "okapi") == ()
    hits = await search.search(None, "zebra")
    assert {p.message_id for hit in hits for p in (hit, *hit.neighbours)} == {"u1", "a1"}


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("events", [1, 3])
@pytest.mark.parametrize("changed", [True, False])
async def test_events_in_a_paused_turn_change_no_hits(
    store: ChatStore,
    database: SqliteDatabase,
    monkeypatch: pytest.MonkeyPatch,
    changed: bool,
    events: int,
    at_once: bool,
    indexed: bool,
) -> None:
    """`changed`: the waiting answer was added anew on another path before."""
    monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: indexed)
    monkeypatch.setattr(row_indexing, "ROWS_PER_STEP", 2)
    search = HistorySearch(database)
    await store.create("d")

    async def found(chat_id: str) -> list[list[str]]:
        queries = ("where", "zebra", "node", "done", "thank", "zebra done")
        hits = [hit for words in queries for hit in await search.search(chat_id, words)]
        return [[hit.snippet, *(near.snippet for near in hit.neighbours)] for hit in hits]

    async def same() -> None:
        assert await found("c") == await found("d")

    for chat_id in ("c", "d"):
        await store.append(chat_id, user("u1", "Where is it?"))
        await store.append(chat_id, answer("a1", "The zebra answer.", at_panel()))
        if changed:
            await Branches(store).rewrite(chat_id, "u1", user("u1", "Where are they?"))
    for number in range(events):
        await store.add_event("c", dataclasses.replace(DONE, id=f"e{number}"))
        if not at_once:
            await same()
    settled = dataclasses.replace(at_panel(), state="output-available", output="seen")
    ended = answer("a1", "The zebra answer.", settled, TextPart("All done."))
    for chat_id in ("c", "d"):
        await store.begin_turn(chat_id, TurnStart(ended, parent="u1"))
        await store.finish_answer(chat_id, ended)
    if not at_once:
        await same()
    for chat_id in ("c", "d"):
        await store.append(chat_id, user("u2", "Thank you"))
    await same()


async def test_a_message_after_a_paused_answer_follows_it(
    store: ChatStore, database: SqliteDatabase
) -> None:
    search = HistorySearch(database)
    await store.append("c", user("u1", "Where is it?"))
    await store.append("c", answer("a1", "The zebra answer.", at_panel()))
    await store.add_event("c", DONE)
    assert len(await search.search("c", "zebra")) == 1
    await store.append("c", user("u2", "An okapi"))
    hit = (await search.search("c", "okapi"))[0]
    assert [near.message_id for near in hit.neighbours] == ["a1", "a1"]
    hit = (await search.search("c", "zebra"))[0]
    assert hit.neighbours[0].message_id == "u1"


async def test_a_chat_that_ends_with_an_event_is_not_indexed_again(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = HistorySearch(database)
    await store.append("c", user("u1", "A zebra"))
    await store.add_event("c", DONE)
    assert len(await search.search("c", "zebra")) == 1
    monkeypatch.setattr(row_indexing, "add", None)
    assert len(await search.search("c", "zebra")) == 1


async def test_a_branch_has_the_events_of_its_path(store: ChatStore) -> None:
    await store.append("c", user("u1"))
    await store.add_event("c", DONE)
    await store.append_all("c", [answer("a1"), user("u2")])
    chat = await Branches(store).branch("c", "u2", "d")
    assert chat.messages == 3
    assert await ids(store, "d") == ["u1", "e1", "a1", "u2"]
    changed = await Branches(store).rewrite("c", "u1", user("u1", "Other words"))
    assert changed.messages == 3
    await store.append("d", answer("a2"))
    found = await store.get("d")
    assert found is not None and found.messages == 4


async def test_an_export_has_events_and_its_markdown_has_none(store: ChatStore) -> None:
    await store.append("c", user("u1"))
    event = await store.add_event("c", DONE)
    trajectory = await Archive(store).read("c")
    assert trajectory.path[-1] == event
    assert "okapi" not in to_markdown(trajectory)


async def test_an_event_with_a_known_id_is_refused(store: ChatStore) -> None:
    await store.add_event("c", DONE)
    with pytest.raises(InvalidRequest):
        await store.add_event("c", DONE)


def test_a_message_from_before_is_a_persons() -> None:
    assert origin_of(user("u1")) == "person"
    assert origin_of(Message(id="m", role="user", parts=(), metadata={"origin": 7})) == "person"
    task = Message(id="m", role="user", parts=(), metadata={"origin": "task"})
    assert origin_of(task) == "task"
    assert role_in_log(task) == "user"
