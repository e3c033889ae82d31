"""Versions of messages, and the ways a chat's path is changed."""

import pytest
from plugin.assistant.chats import (
    Branches,
    BranchPoint,
    ChatParams,
    ChatStore,
    TurnStart,
    Versions,
    WorkflowName,
)
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import Conflict, InvalidRequest, NotFound, Refused
from plugin.assistant.messages.parts import Message
from sqlalchemy import text

from .examples import answer, asking, at_panel, user, with_tools


@pytest.fixture
async def store(database: SqliteDatabase) -> ChatStore:
    """A chat with two turns."""
    store = ChatStore(database)
    await store.create("c", "Upscaling", WorkflowName("w", "Upscale"))
    for message in (user("u1"), answer("a1"), user("u2"), answer("a2")):
        await store.append("c", message)
    return store


@pytest.fixture
def branches(store: ChatStore) -> Branches:
    return Branches(store)


async def path(store: ChatStore, chat_id: str = "c") -> list[str]:
    return [message.id for message in await store.path(chat_id)]


def ids(messages: tuple[Message, ...]) -> list[str]:
    return [message.id for message in messages]


async def test_a_message_without_others_in_its_place_has_no_versions(branches: Branches) -> None:
    assert await branches.versions("c", ["u1", "a1", "u2", "a2", "nobody"]) == {}


async def test_versions_have_their_order_on_either_path(
    store: ChatStore, branches: Branches
) -> None:
    await store.append("c", answer("b2"), "u2")
    await store.append("c", answer("c2"), "u2")
    both = ("a2", "b2", "c2")
    assert await branches.versions("c", ["u2", "c2"]) == {"c2": Versions(2, both)}
    await branches.switch_version("c", "a2")
    assert await path(store) == ["u1", "a1", "u2", "a2"]
    assert await branches.versions("c", ["a2"]) == {"a2": Versions(0, both)}


async def test_the_first_message_has_versions_too(store: ChatStore, branches: Branches) -> None:
    await store.append("c", user("v1"), None)
    assert await branches.versions("c", ["v1"]) == {"v1": Versions(1, ("u1", "v1"))}


async def test_rows_of_one_id_are_one_version(store: ChatStore, branches: Branches) -> None:
    await store.append("c", answer("a2", "Hi again"), "u2")
    assert await branches.versions("c", ["a2"]) == {}
    assert (await store.path("c"))[-1].text == "Hi again"


async def test_a_switch_goes_on_to_the_newest_end_of_the_branch(
    store: ChatStore, branches: Branches
) -> None:
    await store.append_all("c", (user("u3"), answer("a3")))
    await store.append("c", answer("b3"), "u3")
    await store.append_all("c", (user("v2"), answer("z2")), "a1")
    assert await path(store) == ["u1", "a1", "v2", "z2"]
    await branches.switch_version("c", "u2")
    assert await path(store) == ["u1", "a1", "u2", "a2", "u3", "b3"]
    await branches.switch_version("c", "a3")
    assert await path(store) == ["u1", "a1", "u2", "a2", "u3", "a3"]
    await branches.switch_version("c", "u1")
    assert await path(store) == ["u1", "a1", "u2", "a2", "u3", "a3"], "it is on the path already"


async def test_a_truncated_chat_ends_earlier_and_finds_its_end_again(
    store: ChatStore, branches: Branches
) -> None:
    chat = await branches.truncate("c", "a1")
    assert (chat.messages, await path(store)) == (2, ["u1", "a1"])
    await store.append("c", user("u3"))
    assert await branches.versions("c", ["u3"]) == {"u3": Versions(1, ("u2", "u3"))}
    await branches.switch_version("c", "u2")
    assert await path(store) == ["u1", "a1", "u2", "a2"]
    assert (await branches.truncate("c", None)).messages == 0
    assert await path(store) == []
    with pytest.raises(NotFound):
        await branches.truncate("c", "u2")


async def test_a_changed_message_keeps_what_came_after_it(
    store: ChatStore, branches: Branches, database: SqliteDatabase
) -> None:
    await store.append("c", answer("b2"), "u2")
    before = await store.path("c")
    await branches.rewrite("c", "a1", answer("a1", "Better"))
    found = await store.path("c")
    assert ids(found) == ["u1", "a1", "u2", "b2"]
    assert (found[1].text, found[2:]) == ("Better", before[2:])
    assert await branches.versions("c", ids(found)) == {"b2": Versions(1, ("a2", "b2"))}
    await branches.switch_version("c", "a2")
    assert await path(store) == ["u1", "a1", "u2", "a2"]
    assert await ChatStore(database).path("c") == await store.path("c")


async def test_a_changed_last_message_needs_no_copies(store: ChatStore, branches: Branches) -> None:
    chat = await branches.rewrite("c", "a2", answer("a2", "Better"))
    assert (chat.head_row, (await store.path("c"))[-1].text) == (5, "Better")


async def test_a_removed_message_leaves_the_path_and_stays_a_version(
    store: ChatStore, branches: Branches
) -> None:
    await store.append("c", user("u3"))
    await branches.rewrite("c", "a1", None)
    await branches.rewrite("c", "u2", None)
    assert await path(store) == ["u1", "a2", "u3"]
    assert await branches.versions("c", ["a2"]) == {"a2": Versions(1, ("a1", "a2"))}
    await branches.switch_version("c", "a1")
    assert await path(store) == ["u1", "a1", "u2", "a2", "u3"]
    await branches.rewrite("c", "u3", None)
    assert await path(store) == ["u1", "a1", "u2", "a2"]


async def test_a_change_keeps_id_and_role(branches: Branches, store: ChatStore) -> None:
    for new in (answer("other"), user("a1")):
        with pytest.raises(InvalidRequest):
            await branches.rewrite("c", "a1", new)
    with pytest.raises(NotFound):
        await branches.rewrite("c", "nobody", None)
    assert await path(store) == ["u1", "a1", "u2", "a2"]


async def test_restored_messages_become_the_path_and_share_what_is_the_same(
    store: ChatStore, branches: Branches
) -> None:
    wanted = (user("u1"), answer("a1"), user("v2"), answer("z2"))
    chat = await branches.restore("c", wanted)
    assert await store.path("c") == wanted
    assert chat.head_row == 6, "only two rows were added"
    assert await branches.versions("c", ["v2"]) == {"v2": Versions(1, ("u2", "v2"))}
    assert (await branches.restore("c", wanted[:1])).head_row == 1
    assert (await branches.restore("c", ())).head_row is None


async def test_a_branch_is_a_chat_of_its_own(store: ChatStore, branches: Branches) -> None:
    await store.set_params("c", ChatParams(model="m", temperature=0.5))
    await store.allow_tool("c", "createUserSkill")
    await store.append_all("c", (user("v2"), answer("b2")), "a1")
    chat = await branches.branch("c", "v2", "d")
    assert (chat.id, chat.title, chat.messages) == ("d", "Upscaling (branch)", 3)
    assert (chat.workflow, chat.params) == (
        WorkflowName("w", "Upscale"),
        ChatParams(None, "m", 0.5),
    )
    assert (chat.branched_from, chat.allowed_tools) == (BranchPoint("c", "v2"), ())
    assert await store.path("d") == (await store.path("c"))[:3]
    await store.append("d", answer("d2"))
    assert await path(store) == ["u1", "a1", "v2", "b2"]
    with pytest.raises(Conflict):
        await branches.branch("c", "v2", "d")
    with pytest.raises(NotFound):
        await branches.branch("c", "nobody", "e")
    assert await store.get("e") is None


async def test_a_branch_may_begin_on_another_path(store: ChatStore, branches: Branches) -> None:
    await store.append("c", user("v2"), "a1")
    await branches.branch("c", "a2", "d")
    assert await path(store, "d") == ["u1", "a1", "u2", "a2"]


async def test_the_end_of_the_path_says_what_the_chat_does(
    store: ChatStore, branches: Branches
) -> None:
    await store.append_all("c", (user("u3"), with_tools("a3", asking())))
    await store.append("c", with_tools("b3", at_panel()), "u3")
    assert (await branches.switch_version("c", "a3")).state == "paused"
    assert (await branches.switch_version("c", "b3")).state == "waiting_client"
    assert (await branches.branch("c", "a3", "d")).state == "paused"
    assert (await branches.truncate("c", "u3")).state == "idle"


async def test_the_path_stays_while_an_answer_is_in_progress(
    store: ChatStore, branches: Branches
) -> None:
    await store.begin_turn("c", TurnStart(answer("b2"), parent="u2"))
    for call in (
        branches.switch_version("c", "a2"),
        branches.truncate("c", "u1"),
        branches.rewrite("c", "u1", None),
        branches.restore("c", ()),
    ):
        with pytest.raises(Conflict):
            await call
    await branches.branch("c", "u2", "d")
    assert await path(store, "d") == ["u1", "a1", "u2"]


async def test_copies_count_towards_the_largest_size(database: SqliteDatabase) -> None:
    store = ChatStore(database, most_log_chars=400)
    await store.create("c")
    await store.append_all("c", (user("u1"), answer("a1")))
    chat = await store.get("c")
    assert chat is not None
    await Branches(store).rewrite("c", "u1", user("u1", "again"))
    after = await store.get("c")
    assert after is not None and after.log_chars > chat.log_chars
    query = text("SELECT sum(length(body)) FROM messages")
    assert after.log_chars == await database.read(lambda c: c.execute(query).scalar_one())
    with pytest.raises(Refused):
        await Branches(store).rewrite("c", "u1", user("u1", "and again"))


async def test_the_draft_the_mark_and_the_parameters_of_a_chat_are_stored(store: ChatStore) -> None:
    await store.set_draft("c", "half a sen")
    await store.set_unread("c", True)
    await store.set_params("c", ChatParams("local", "m", 0.0, "high"))
    chat = await store.get("c")
    assert chat is not None
    assert (chat.draft, chat.unread) == ("half a sen", True)
    assert chat.params.to_json() == {
        "provider": "local",
        "model": "m",
        "temperature": 0.0,
        "reasoning": "high",
    }
    (entry,) = await store.list()
    assert (entry.unread, entry.workflow) == (True, WorkflowName("w", "Upscale"))
    await store.set_draft("c", "")
    await store.set_unread("c", False)
    await store.set_params("c", ChatParams())
    chat = await store.get("c")
    assert chat is not None and (chat.draft, chat.unread, chat.params) == (
        None,
        False,
        ChatParams(),
    )
    with pytest.raises(NotFound):
        await store.set_draft("nobody", "x")
