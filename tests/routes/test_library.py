"""The stored chats as a library, over HTTP."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chats.examples import answer, user
from plugin.tests.routes.site import Site, error_of, site


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


async def filled(ours: Site, identity: str = "c", text: str = "A fox at dawn") -> None:
    """A chat with a question and its answer."""
    store = ours.assistant.space_of("default").chats
    messages = (user("u1", text), answer("a1", "Try a low sun."))
    await store.import_messages(identity, messages, text)


async def listed(ours: Site) -> list[dict[str, Any]]:
    body = await (await ours.client.get("/api/chats")).json()
    chats: list[dict[str, Any]] = body["chats"]
    return chats


# Rename and pin


async def test_a_chat_is_renamed_and_pinned(ours: Site) -> None:
    await filled(ours)
    renamed = await ours.client.patch("/api/chats/c", json={"title": " Foxes\n at dawn "})
    assert (renamed.status, (await renamed.json())["title"]) == (200, "Foxes at dawn")
    pinned = await ours.client.patch("/api/chats/c", json={"pinned": True})
    (chat,) = await listed(ours)
    assert await pinned.json() == chat
    assert (chat["title"], chat["pinned"]) == ("Foxes at dawn", True)
    shown = await (await ours.client.get("/api/chats/c")).json()
    assert (shown["title"], shown["pinned"]) == ("Foxes at dawn", True)


async def test_a_change_of_a_chat_does_not_move_it_in_the_list(ours: Site) -> None:
    await filled(ours, "first")
    await filled(ours, "second")
    await ours.client.patch("/api/chats/first", json={"title": "Still first", "pinned": True})
    assert [chat["id"] for chat in await listed(ours)] == ["second", "first"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "x"},
        {"title": "x", "state": "idle"},
        {"title": None},
        {"title": ""},
        {"title": " \n"},
        {"title": "x" * 201},
        {"title": 7},
        {"pinned": None},
        {"pinned": 1},
        {"pinned": "yes"},
    ],
)
async def test_a_wrong_change_is_refused_and_changes_nothing(
    ours: Site, body: dict[str, Any]
) -> None:
    await filled(ours)
    before = await listed(ours)
    refused = await ours.client.patch("/api/chats/c", json=body)
    assert refused.status == 400
    error_of(await refused.json())
    assert await listed(ours) == before


async def test_an_unknown_chat_cannot_be_changed(ours: Site) -> None:
    refused = await ours.client.patch("/api/chats/nobody", json={"pinned": True})
    assert (refused.status, error_of(await refused.json())["code"]) == (404, "not_found")


# Delete and restore


async def test_a_chat_is_deleted_and_brought_back(ours: Site) -> None:
    await filled(ours)
    before = await listed(ours)
    deleted = await ours.client.delete("/api/chats/c")
    assert (deleted.status, await deleted.read()) == (204, b"")
    assert await listed(ours) == []
    assert (await ours.client.get("/api/chats/c")).status == 404
    assert (await ours.client.patch("/api/chats/c", json={"pinned": True})).status == 404
    assert (await ours.client.delete("/api/chats/c")).status == 404
    restored = await ours.client.post("/api/chats/c/restore")
    assert (restored.status, [await restored.json()]) == (200, before)
    assert await listed(ours) == before


async def test_a_chat_that_is_not_deleted_cannot_be_brought_back(ours: Site) -> None:
    await filled(ours)
    for identity in ("c", "nobody"):
        refused = await ours.client.post(f"/api/chats/{identity}/restore", json={})
        assert (refused.status, error_of(await refused.json())["code"]) == (404, "not_found")


async def test_a_restore_takes_no_fields(ours: Site) -> None:
    await filled(ours)
    await ours.client.delete("/api/chats/c")
    assert (await ours.client.post("/api/chats/c/restore", json={"id": "c"})).status == 400
    assert await listed(ours) == []


# Search


async def searched(ours: Site, query: str, **more: str) -> list[dict[str, Any]]:
    answered = await ours.client.get("/api/chats/search", params={"q": query, **more})
    assert answered.status == 200, await answered.text()
    results: list[dict[str, Any]] = (await answered.json())["results"]
    return results


async def test_a_search_finds_messages_of_all_chats_with_their_words_marked(ours: Site) -> None:
    await filled(ours, "one", "A fox at dawn, not a badger")
    await filled(ours, "two", "Fox, fox, what a fox in the snow")
    await filled(ours, "three", "An owl")
    results = await searched(ours, "FOX")
    assert {(result["chat_id"], result["message_id"]) for result in results} == {
        ("one", "u1"),
        ("two", "u1"),
    }
    for result in results:
        marked = [result["snippet"][start:end].lower() for start, end in result["marks"]]
        assert marked and set(marked) == {"fox"}
        assert set(result) == {"chat_id", "message_id", "role", "title", "snippet", "marks"}
    assert {result["title"] for result in results} == {
        "A fox at dawn, not a badger",
        "Fox, fox, what a fox in the snow",
    }


async def test_the_message_that_says_most_in_few_words_comes_first(ours: Site) -> None:
    await filled(ours, "one", "A fox that went, as a fox does now and then, far into the night")
    await filled(ours, "two", "A fox in the snow, the fox")
    await filled(ours, "three", "A badger that went, as a fox may do, far into the night and so on")
    found = await searched(ours, "fox")
    assert [result["chat_id"] for result in found] == ["two", "one", "three"]
    (first,) = await searched(ours, "fox", limit="1")
    assert first == found[0]


async def test_a_search_finds_no_deleted_chat_and_finds_it_again_when_it_came_back(
    ours: Site,
) -> None:
    await filled(ours)
    assert len(await searched(ours, "fox")) == 1
    await ours.client.delete("/api/chats/c")
    assert await searched(ours, "fox") == []
    await ours.client.post("/api/chats/c/restore")
    assert len(await searched(ours, "fox")) == 1


async def test_a_search_shows_the_title_that_the_user_gave(ours: Site) -> None:
    await filled(ours)
    await ours.client.patch("/api/chats/c", json={"title": "Sunrise"})
    (result,) = await searched(ours, "fox")
    assert result["title"] == "Sunrise"


@pytest.mark.parametrize(
    "query", ['"', "fox OR", "NEAR(", "*", "col:fox", "' OR 1=1 --", "\0", "???", "中文", "-fox"]
)
async def test_no_sign_in_a_search_is_an_operator(ours: Site, query: str) -> None:
    await filled(ours)
    await searched(ours, query)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"q": ""}, {"q": "  "}, {"q": "x" * 1001}, {"q": "x", "limit": "0"}, {"limit": "x"}],
)
async def test_a_wrong_search_is_refused(ours: Site, parameters: dict[str, str]) -> None:
    refused = await ours.client.get("/api/chats/search", params=parameters)
    assert refused.status == 400
    error_of(await refused.json())


@pytest.mark.parametrize("identity", ["search", "import"])
async def test_a_chat_cannot_have_the_name_of_a_route(ours: Site, identity: str) -> None:
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
    body = {"id": identity, "message": message}
    assert (await ours.client.post("/api/chat", json=body)).status == 400


# Create, branch, clean up


async def test_a_chat_is_made_before_its_first_message(ours: Site) -> None:
    workflow = {"id": "w", "name": "Portrait"}
    made = await ours.client.post(
        "/api/chats", json={"id": "c", "title": " Foxes\n", "workflow": workflow}
    )
    chat = await made.json()
    assert made.status == 201
    assert (chat["id"], chat["title"], chat["workflow"]) == ("c", "Foxes", workflow)
    assert (chat["messages"], chat["state"], chat["params"]) == (0, "idle", {})
    (entry,) = await listed(ours)
    assert entry == {name: value for name, value in chat.items() if name != "params"}


async def test_a_chat_that_says_nothing_gets_an_id_and_the_title_of_its_first_message(
    ours: Site,
) -> None:
    made = await (await ours.client.post("/api/chats", json={})).json()
    again = await (await ours.client.post("/api/chats", json={"id": None})).json()
    assert made["id"] != again["id"]
    store = ours.assistant.space_of("default").chats
    assert await store.set_title(made["id"], "By rule", "rule")
    named = await (await ours.client.post("/api/chats", json={"title": "Mine"})).json()
    assert not await store.set_title(named["id"], "By rule", "rule")


async def test_an_id_that_is_taken_makes_no_chat(ours: Site) -> None:
    await filled(ours)
    refused = await ours.client.post("/api/chats", json={"id": "c"})
    assert (refused.status, error_of(await refused.json())["code"]) == (409, "chat_exists")
    await ours.client.delete("/api/chats/c")
    refused = await ours.client.post("/api/chats", json={"id": "c"})
    assert (refused.status, error_of(await refused.json())["code"]) == (409, "chat_deleted")


@pytest.mark.parametrize(
    "body",
    [
        {"id": "../c"},
        {"id": "search"},
        {"id": 7},
        {"title": " "},
        {"title": 7},
        {"state": "idle"},
        {"workflow": "w"},
        {"workflow": {"id": "w"}},
        {"workflow": {"id": "w", "name": "n", "graph": {}}},
    ],
)
async def test_a_wrong_chat_is_not_made(ours: Site, body: dict[str, Any]) -> None:
    refused = await ours.client.post("/api/chats", json=body)
    assert refused.status == 400
    error_of(await refused.json())
    assert await listed(ours) == []


async def test_a_branch_is_a_new_chat_up_to_a_message(ours: Site) -> None:
    await filled(ours)
    answered = await ours.client.post("/api/chats/c/branch", json={"message_id": "u1"})
    body = await answered.json()
    assert (answered.status, list(body)) == (201, ["id"])
    shown = await (await ours.client.get(f"/api/chats/{body['id']}")).json()
    assert [message["id"] for message in shown["messages"]] == ["u1"]
    assert shown["title"] == "A fox at dawn (branch)"
    for path, message in (("c", "nobody"), ("nobody", "u1")):
        refused = await ours.client.post(f"/api/chats/{path}/branch", json={"message_id": message})
        assert refused.status == 404
    for wrong in ({}, {"message_id": 1}, {"message_id": "u1", "id": "d"}):
        assert (await ours.client.post("/api/chats/c/branch", json=wrong)).status == 400


async def test_a_clean_up_shows_first_what_it_would_delete(ours: Site) -> None:
    for identity in ("one", "two", "pinned"):
        await filled(ours, identity)
    await ours.client.patch("/api/chats/pinned", json={"pinned": True})
    before = await listed(ours)
    would = await (await ours.client.post("/api/chats/cleanup", json={"older_than_days": 0})).json()
    assert [chat["id"] for chat in would["chats"]] == ["two", "one"]
    assert (would["deleted"], would["dry_run"]) == (0, True)
    assert set(would["chats"][0]) == {"id", "title", "updated"}
    assert await listed(ours) == before
    body = {"older_than_days": 0, "dry_run": False}
    done = await (await ours.client.post("/api/chats/cleanup", json=body)).json()
    assert done == {"chats": would["chats"], "deleted": 2, "dry_run": False}
    assert [chat["id"] for chat in await listed(ours)] == ["pinned"]
    await ours.client.post("/api/chats/one/restore")
    assert [chat["id"] for chat in await listed(ours)] == ["pinned", "one"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"older_than_days": -1},
        {"older_than_days": "7"},
        {"older_than_days": 1.5},
        {"older_than_days": True},
        {"older_than_days": 7, "dry_run": "no"},
        {"older_than_days": 7, "dry_run": None},
        {"older_than_days": 7, "pinned": True},
    ],
)
async def test_a_wrong_clean_up_deletes_nothing(ours: Site, body: dict[str, Any]) -> None:
    await filled(ours)
    refused = await ours.client.post("/api/chats/cleanup", json=body)
    assert refused.status == 400
    assert len(await listed(ours)) == 1


# Pages


async def test_a_page_around_a_message_says_what_lies_before_and_after(ours: Site) -> None:
    said = tuple((answer if number % 2 else user)(f"m{number}") for number in range(9))
    await ours.assistant.space_of("default").chats.import_messages("c", said)

    async def page(query: str) -> tuple[list[str], bool, bool]:
        body = await (await ours.client.get(f"/api/chats/c?{query}")).json()
        return [one["id"] for one in body["messages"]], body["has_more"], body["has_later"]

    assert await page("around=m4&limit=3") == (["m3", "m4", "m5"], True, True)
    assert await page("after=m5&limit=9") == (["m6", "m7", "m8"], True, False)
    for query, status in (("around=no", 404), ("after=no", 404), ("around=m1&before=m2", 400)):
        refused = await ours.client.get(f"/api/chats/c?{query}")
        assert refused.status == status
        error_of(await refused.json())
