"""The store of chats: log, paths, versions, answers in progress, state."""

import asyncio
import itertools
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from plugin.assistant.chats import Begun, ChatStore, TurnStart, WorkflowName
from plugin.assistant.chats.schema import SCHEMA_VERSION
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import Conflict, InvalidRequest, NotFound, Refused, StoreError
from plugin.assistant.messages.parts import Approval, Message, TextPart
from sqlalchemy import text

from .examples import answer, asking, at_panel, user, with_tools

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


@pytest.fixture
async def store(database: SqliteDatabase) -> ChatStore:
    ticks = itertools.count()
    return ChatStore(database, clock=lambda: START + timedelta(seconds=next(ticks)))


def ids(messages: tuple[Message, ...]) -> list[str]:
    return [message.id for message in messages]


async def filled(store: ChatStore, *identities: str) -> None:
    await store.create("c")
    for identity in identities:
        make = user if identity.startswith("u") else answer
        await store.append("c", make(identity))


async def test_a_new_chat_is_empty_and_idle(store: ChatStore) -> None:
    chat = await store.create("c", "Upscaling", WorkflowName("w1", "Upscale"))
    assert (chat.title, chat.state, chat.messages, chat.head_row) == ("Upscaling", "idle", 0, None)
    assert chat.workflow == WorkflowName("w1", "Upscale")
    assert chat.created == START
    assert await store.get("c") == chat
    assert await store.path("c") == ()
    assert await store.page("c") == ((), False)


async def test_an_unknown_chat_is_none_and_its_contents_are_not_found(store: ChatStore) -> None:
    assert await store.get("nobody") is None
    for call in (store.path("nobody"), store.page("nobody"), store.append("nobody", user("u"))):
        with pytest.raises(NotFound):
            await call


async def test_a_chat_that_exists_is_not_made_again(store: ChatStore) -> None:
    await store.create("c")
    with pytest.raises(Conflict):
        await store.create("c")


async def test_a_chat_id_is_checked_before_anything_is_stored(store: ChatStore) -> None:
    with pytest.raises(InvalidRequest):
        await store.create("../c")


async def test_messages_come_back_as_they_were_appended(store: ChatStore) -> None:
    await store.create("c")
    sent = (user("u1", "half \ud83d, zero \0, 中文"), with_tools("a1", asking()))
    rows = [await store.append("c", message) for message in sent]
    assert rows == [1, 2]
    assert await store.path("c") == sent
    chat = await store.get("c")
    assert chat is not None and (chat.messages, chat.head_row) == (2, 2)


async def test_another_store_on_the_same_file_reads_the_same(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await filled(store, "u1", "a1")
    assert await ChatStore(database).path("c") == await store.path("c")


async def test_a_message_after_an_older_one_begins_a_branch(store: ChatStore) -> None:
    await filled(store, "u1", "a1", "u2", "a2")
    await store.append("c", user("u3"), parent="a1")
    assert ids(await store.path("c")) == ["u1", "a1", "u3"]
    await store.append("c", answer("a3"), parent="a2")
    assert ids(await store.path("c")) == ["u1", "a1", "u2", "a2", "a3"]
    chat = await store.get("c")
    assert chat is not None and chat.messages == 5


async def test_an_edited_first_message_begins_the_chat_anew(store: ChatStore) -> None:
    await filled(store, "u1", "a1")
    edited = user("u1", "Better")
    await store.append("c", edited, parent=None)
    assert await store.path("c") == (edited,)


async def test_a_newer_version_takes_the_place_of_the_older(store: ChatStore) -> None:
    await filled(store, "u1", "a1")
    await store.append("c", answer("a1", "Hi again"), parent="u1")
    await store.append("c", user("u2"))
    path = await store.path("c")
    assert ids(path) == ["u1", "a1", "u2"] and path[1].text == "Hi again"


async def test_an_id_is_used_once_on_a_path(store: ChatStore) -> None:
    await filled(store, "u1", "a1")
    with pytest.raises(InvalidRequest):
        await store.append("c", user("u1"))
    assert ids(await store.path("c")) == ["u1", "a1"]


async def test_a_parent_that_the_chat_does_not_have_is_not_found(store: ChatStore) -> None:
    await filled(store, "u1")
    with pytest.raises(NotFound):
        await store.append("c", user("u2"), parent="u9")


async def test_a_message_may_be_called_head(store: ChatStore) -> None:
    await filled(store, "u1", "head", "u2")
    await store.append("c", user("u3"), parent="head")
    assert ids(await store.path("c")) == ["u1", "head", "u3"]


async def test_a_system_message_is_not_stored(store: ChatStore) -> None:
    await store.create("c")
    with pytest.raises(InvalidRequest):
        await store.append("c", Message("s", "system", (TextPart("Be brief."),)))


async def test_a_message_nested_too_deeply_is_refused(store: ChatStore) -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    await store.create("c")
    with pytest.raises(InvalidRequest):
        await store.append("c", Message("u", "user", (), {"deep": deep}))


async def test_several_messages_are_appended_all_or_none(store: ChatStore) -> None:
    await filled(store, "u1")
    with pytest.raises(InvalidRequest):
        await store.append_all("c", (answer("a1"), user("u1")))
    assert ids(await store.path("c")) == ["u1"]
    assert await store.append_all("c", (answer("a1"), user("u2"))) == (2, 3)


async def test_an_import_that_fails_leaves_no_chat(store: ChatStore) -> None:
    with pytest.raises(InvalidRequest):
        await store.import_messages("c", (user("u1"), user("u1")))
    assert await store.get("c") is None
    chat = await store.import_messages("c", (user("u1"), answer("a1"), user("u2")), "Title")
    assert (chat.messages, chat.title) == (3, "Title")


async def test_a_page_goes_backwards_from_the_end(store: ChatStore) -> None:
    await filled(store, "u1", "a1", "u2", "a2", "u3")
    first, more = await store.page("c", limit=2)
    assert (ids(first), more) == (["a2", "u3"], True)
    second, more = await store.page("c", before="a2", limit=2)
    assert (ids(second), more) == (["a1", "u2"], True)
    last, more = await store.page("c", before="a1", limit=2)
    assert (ids(last), more) == (["u1"], False)


async def test_a_page_before_a_message_of_another_branch_is_not_found(store: ChatStore) -> None:
    await filled(store, "u1", "a1", "u2")
    await store.append("c", user("u3"), parent="a1")
    with pytest.raises(NotFound):
        await store.page("c", before="u2")


async def test_a_page_reads_only_the_bodies_that_it_shows(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.import_messages("c", [user(f"u{n}") for n in range(300)])
    spoil = text("UPDATE messages SET body = 'unreadable' WHERE row <= 290")
    await database.write(lambda connection: connection.execute(spoil).rowcount)
    page, more = await store.page("c", limit=10)
    assert (len(page), more) == (10, True)
    assert database.problems() == ()
    page, _ = await store.page("c", limit=11)
    assert page[0].metadata["damaged"] is True
    (problem,) = database.problems()
    assert "1 in messages" in problem.message


async def test_a_turn_reads_only_the_messages_that_are_new(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await filled(store, "u1", "a1")
    known = await store.path("c")
    spoil = text("UPDATE messages SET body = 'unreadable'")
    await database.write(lambda connection: connection.execute(spoil).rowcount)
    await store.append("c", user("u2"))
    assert await store.path("c") == (*known, user("u2"))


async def test_chats_are_listed_by_their_last_change(store: ChatStore) -> None:
    for identity in ("c1", "c2", "c3"):
        await store.create(identity)
    await store.append("c1", user("u1"))
    assert [chat.id for chat in await store.list()] == ["c1", "c3", "c2"]
    assert [chat.id for chat in await store.list(limit=1)] == ["c1"]
    assert [chat.id for chat in await store.list(limit=2, before="c1")] == ["c3", "c2"]
    with pytest.raises(NotFound):
        await store.list(before="c9")


async def test_the_order_of_the_list_does_not_follow_the_clock(database: SqliteDatabase) -> None:
    times = iter([START, START - timedelta(days=1), START - timedelta(days=2)])
    store = ChatStore(database, clock=lambda: next(times))
    await store.recover()
    await store.create("c1")
    await store.create("c2")
    assert [chat.id for chat in await store.list()] == ["c2", "c1"]


async def test_a_summary_counts_the_messages_of_the_current_path(store: ChatStore) -> None:
    await filled(store, "u1", "a1", "u2", "a2")
    await store.append("c", user("u3"), parent="a1")
    (summary,) = await store.list()
    assert (summary.messages, summary.state) == (3, "idle")
    assert summary.updated > summary.created


async def test_a_finished_answer_is_one_row(store: ChatStore) -> None:
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(answer("a1", "")))
    await store.checkpoint("c", answer("a1", "He"))
    chat = await store.get("c")
    assert chat is not None and (chat.state, chat.messages) == ("generating", 1)
    assert (await store.finish_answer("c", answer("a1", "Hello"))).messages == 2
    chat = await store.get("c")
    assert chat is not None and chat.state == "idle"
    assert await store.path("c") == (user("u1"), answer("a1", "Hello"))


async def test_a_suspended_answer_goes_on_as_a_newer_version(store: ChatStore) -> None:
    await filled(store, "u1")
    suspended = with_tools("a1", asking())
    await store.begin_turn("c", TurnStart(answer("a1", "")))
    await store.finish_answer("c", suspended, "paused")
    await store.begin_turn("c", TurnStart(suspended, parent="u1"))
    assert await store.path("c") == (user("u1"), suspended)
    await store.finish_answer("c", answer("a1", "Done"))
    assert await store.path("c") == (user("u1"), answer("a1", "Done"))


async def test_the_answer_that_is_regenerated_leaves_the_path_at_once(store: ChatStore) -> None:
    await filled(store, "u1", "a1", "u2", "a2")
    await store.begin_turn("c", TurnStart(answer("b1", ""), parent="u1"))
    assert ids(await store.path("c")) == ["u1"]
    await store.finish_answer("c", answer("b1"))
    assert ids(await store.path("c")) == ["u1", "b1"]


async def test_one_answer_at_a_time(store: ChatStore) -> None:
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(answer("a1")))
    for call in (store.begin_turn("c", TurnStart(answer("a2"))), store.append("c", user("u2"))):
        with pytest.raises(Conflict) as refused:
            await call
        assert refused.value.code == "turn_running"
    await store.finish_answer("c", answer("a1"))
    await store.append("c", user("u2"))


async def test_two_answers_begun_at_once_give_one(store: ChatStore) -> None:
    await filled(store, "u1")
    begun = (
        store.begin_turn("c", TurnStart(answer("a1"))),
        store.begin_turn("c", TurnStart(answer("a2"))),
    )
    results = await asyncio.gather(*begun, return_exceptions=True)
    assert [type(result) for result in results] == [Begun, Conflict]


async def test_an_answer_that_was_not_begun_is_not_finished(store: ChatStore) -> None:
    await filled(store, "u1")
    with pytest.raises(Conflict):
        await store.finish_answer("c", answer("a1"))
    await store.begin_turn("c", TurnStart(answer("a1")))
    with pytest.raises(Conflict):
        await store.finish_answer("c", answer("a2"))
    await store.finish_answer("c", answer("a1"))


async def test_an_answer_that_cannot_be_stored_is_not_begun(store: ChatStore) -> None:
    await filled(store, "u1")
    with pytest.raises(InvalidRequest):
        await store.begin_turn("c", TurnStart(answer("u1")))
    await store.begin_turn("c", TurnStart(answer("a1")))


async def test_a_late_checkpoint_changes_nothing(store: ChatStore) -> None:
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(answer("a1", "")))
    await store.finish_answer("c", answer("a1", "Hello"))
    await store.checkpoint("c", answer("a1", "He"))
    assert (await store.path("c"))[-1].text == "Hello"


async def test_what_a_crash_left_becomes_a_cut_message(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(answer("a1", "")))
    await store.checkpoint("c", answer("a1", "Hel"))
    after = ChatStore(database)
    assert await after.recover() == ("c",)
    assert await after.path("c") == (user("u1"), answer("a1", "Hel", cut="cut"))
    chat = await after.get("c")
    assert chat is not None and chat.state == "idle"
    assert chat.unread  # No reader has seen the end of the answer.
    assert await ChatStore(database).recover() == ()


async def test_a_crash_while_a_suspended_answer_went_on_keeps_both(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await filled(store, "u1")
    await store.append("c", with_tools("a1", asking()))
    await store.begin_turn("c", TurnStart(with_tools("a1", asking()), parent="u1"))
    await store.checkpoint("c", answer("a1", "So"))
    after = ChatStore(database)
    await after.recover()
    assert await after.path("c") == (user("u1"), answer("a1", "So", cut="cut"))


async def test_a_call_that_may_have_run_before_a_crash_does_not_run_after_it(
    store: ChatStore, database: SqliteDatabase
) -> None:
    approved = replace(asking(), state="approval-responded", approval=Approval("x", True))
    calls = (approved, at_panel("t2"), asking("t3"))
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(with_tools("a1", *calls)))
    after = ChatStore(database)
    await after.recover()
    found = (await after.path("c"))[-1].tool_parts
    assert [part.state for part in found] == ["output-error", "output-error", "approval-requested"]
    assert await after.settled_calls("c", "a1") == {"t1", "t2"}


async def test_the_questions_of_a_chat_are_those_of_all_its_paths(store: ChatStore) -> None:
    await filled(store, "u1")
    first, other = (replace(asking(), approval=Approval(question)) for question in ("q1", "q2"))
    without = replace(at_panel("t2"), approval=None)
    await store.append("c", with_tools("a1", first, without))
    await store.append("c", with_tools("a2", other), parent="u1")
    assert await store.questions("c") == {("t1", "q1"), ("t1", "q2")}
    with pytest.raises(NotFound):
        await store.questions("nobody")


async def test_the_settled_calls_of_a_message_are_those_of_all_its_versions(
    store: ChatStore,
) -> None:
    await filled(store, "u1")
    done = replace(asking(), state="output-available", output=1)
    declined = replace(asking("t2"), state="output-denied")
    await store.append("c", with_tools("a1", asking(), asking("t2"), asking("t3")))
    await store.append("c", with_tools("a1", done, asking("t2"), asking("t3")), parent="u1")
    await store.append("c", with_tools("a1", asking(), declined, asking("t3")), parent="u1")
    assert await store.settled_calls("c", "a1") == {"t1", "t2"}
    assert await store.settled_calls("c", "nobody") == frozenset()
    with pytest.raises(NotFound):
        await store.settled_calls("nobody", "a1")


async def test_after_a_crash_only_what_ran_is_idle(
    store: ChatStore, database: SqliteDatabase
) -> None:
    for identity in ("generating", "executing_tools", "paused", "waiting_client", "error"):
        await store.create(identity)
        await store.set_state(identity, identity)
    states = {chat.id: chat.state for chat in await ChatStore(database).list()}
    assert states == {
        "generating": "idle",
        "executing_tools": "idle",
        "paused": "paused",
        "waiting_client": "waiting_client",
        "error": "error",
    }


async def test_an_answer_whose_end_could_not_be_saved_does_not_block_the_chat(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(store, "u1")
    await store.begin_turn("c", TurnStart(answer("a1", "He")))

    async def full(_work: object, fallback: object = None) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as broken:
        broken.setattr(database, "write", full)
        with pytest.raises(StoreError):
            await store.finish_answer("c", answer("a1", "Hello"))
    await store.append("c", user("u2"))
    assert await store.path("c") == (user("u1"), answer("a1", "He", cut="cut"), user("u2"))


async def test_a_full_chat_takes_no_more_but_its_answer_is_kept(database: SqliteDatabase) -> None:
    store = ChatStore(database, most_log_chars=300)
    await store.import_messages("c", [user("u1")])
    await store.begin_turn("c", TurnStart(answer("a1")))
    await store.finish_answer("c", answer("a1", "x" * 300))
    with pytest.raises(Refused) as refused:
        await store.append("c", user("u2"))
    assert (refused.value.code, refused.value.status) == ("chat_full", 429)
    assert ids(await store.path("c")) == ["u1", "a1"]


async def test_a_users_title_stays(store: ChatStore) -> None:
    await store.create("c", "By rule")
    assert await store.set_title("c", "By rule again", "rule")
    assert await store.set_title("c", " My\ntitle ")
    assert not await store.set_title("c", "By rule", "rule")
    chat = await store.get("c")
    assert chat is not None and chat.title == "My title"


async def test_a_tool_is_allowed_for_one_chat(store: ChatStore) -> None:
    await store.create("c")
    await store.create("d")
    await store.allow_tool("c", "runWorkflow")
    await store.allow_tool("c", "createUserSkill")
    await store.allow_tool("c", "runWorkflow")
    allowing, other = await store.get("c"), await store.get("d")
    assert allowing is not None and other is not None
    assert allowing.allowed_tools == ("createUserSkill", "runWorkflow")
    assert other.allowed_tools == ()


async def test_a_file_of_a_newer_version_is_not_touched(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await database.write(lambda c: c.execute(text("PRAGMA user_version = 99")).rowcount)
    with pytest.raises(StoreError, match="newer version"):
        await store.create("c")


async def test_the_file_says_its_version(store: ChatStore, database: SqliteDatabase) -> None:
    await store.create("c")
    found = await database.read(lambda c: c.execute(text("PRAGMA user_version")).scalar_one())
    assert found == SCHEMA_VERSION


async def test_equal_messages_are_stored_as_equal_text(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.create("c")
    await store.create("d")
    await store.append("c", Message("u", "user", (TextPart("x"),), {"a": 1, "b": 2}))
    await store.append("d", Message("u", "user", (TextPart("x"),), {"b": 2, "a": 1}))
    bodies = await database.read(
        lambda c: list(c.execute(text("SELECT body FROM messages")).scalars())
    )
    assert bodies[0] == bodies[1]
