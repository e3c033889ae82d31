"""Sharing a chat over HTTP, and opening the file again."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chats.examples import user, with_tools
from plugin.tests.routes.site import Site, error_of, site

KEY = "planted-0123456789-key"


@pytest.fixture
async def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "annabel")
    async with site(tmp_path) as opened:
        yield opened


async def filled(ours: Site, said: str) -> None:
    store = ours.assistant.space_of("default").chats
    await store.import_messages("c", (user("u1", said), with_tools("a1")), said)


async def shared(ours: Site, **body: Any) -> dict[str, Any]:
    answered = await ours.client.post("/api/chats/c/share", json=body)
    assert answered.status == 200, await answered.text()
    found: dict[str, Any] = await answered.json()
    return found


async def test_a_chat_becomes_a_file_without_keys_and_names(ours: Site) -> None:
    provider = {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY}
    await ours.client.put("/api/assistant/providers/Work", json=provider)
    await filled(ours, f"I am Annabel, and my key is {KEY}")
    found = await shared(ours)
    assert found["name"] == "shared-I-am-user-and-my-key-is-key.md"
    assert KEY not in found["content"] and "nnabel" not in found["content"]
    assert found["taken_out"] == {"keys": 2, "paths": 0, "names": 2}


async def test_it_opens_again_as_an_imported_chat(ours: Site) -> None:
    await filled(ours, "Why is it red?")
    workflow = {"nodes": [{"id": 3, "type": "KSampler"}], "extra": {"x": "SECRET"}}
    found = await shared(ours, workflow=workflow)
    assert "KSampler" in found["content"] and "SECRET" not in found["content"]
    body = {"format": "share", "content": found["content"]}
    opened = await ours.client.post("/api/chats/import", json=body)
    assert opened.status == 201, await opened.text()
    chat = await (await ours.client.get(f"/api/chats/{(await opened.json())['id']}")).json()
    assert chat["title"] == "Why is it red?"
    asked = chat["messages"][0]
    assert asked["metadata"]["origin"] == "imported"
    assert [part["type"] for part in asked["parts"]] == ["text", "file"]


@pytest.mark.parametrize(
    ("chat", "body", "status"),
    [
        ("nobody", {}, 404),
        ("empty", {}, 400),
        ("c", {"workflow": {}}, 400),
        ("c", {"workflow": []}, 400),
        ("c", {"else": 1}, 400),
    ],
)
async def test_what_cannot_be_shared_is_refused(
    ours: Site, chat: str, body: dict[str, Any], status: int
) -> None:
    await filled(ours, "Why?")
    await ours.client.post("/api/chats", json={"id": "empty"})
    refused = await ours.client.post(f"/api/chats/{chat}/share", json=body)
    assert refused.status == status
    error_of(await refused.json())


async def test_another_file_is_refused_with_the_place(ours: Site) -> None:
    body = {"format": "share", "content": "# A fox"}
    refused = await ours.client.post("/api/chats/import", json=body)
    assert (refused.status, error_of(await refused.json())["where"]) == (400, "content")
