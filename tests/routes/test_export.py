"""Export and import of chats over HTTP."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats.export.trajectory import Trajectory
from plugin.assistant.routes.export import file_name
from plugin.tests.chats.examples import answer, user
from plugin.tests.routes.site import QUIET, Site, error_of, site

KEY = "sk-planted-0123456789abcdef"
TYPES = {
    "markdown": ("text/markdown", "md"),
    "jsonl": ("application/jsonl", "jsonl"),
    "trajectory": ("application/json", "json"),
}


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path) as opened:
        yield opened


async def filled(ours: Site, text: str = "A fox at dawn") -> None:
    store = ours.assistant.space_of("default").chats
    await store.import_messages("c", (user("u1", text), answer("a1", "Try a low sun.")), text)


async def imported(ours: Site, **body: Any) -> str:
    answered = await ours.client.post("/api/chats/import", json=body)
    assert answered.status == 201, await answered.text()
    found = await answered.json()
    assert set(found) == {"id"}
    return str(found["id"])


@pytest.mark.parametrize("form", TYPES)
async def test_a_chat_is_a_file_to_download(ours: Site, form: str) -> None:
    await filled(ours)
    exported = await ours.client.get(f"/api/chats/c/export?format={form}")
    media_type, ending = TYPES[form]
    assert (exported.status, exported.content_type) == (200, media_type)
    disposition = f'attachment; filename="chat-A-fox-at-dawn.{ending}"'
    assert exported.headers["Content-Disposition"] == disposition
    assert "Try a low sun." in await exported.text()


@pytest.mark.parametrize("form", ["jsonl", "trajectory"])
async def test_an_exported_chat_is_imported_as_an_equal_one(ours: Site, form: str) -> None:
    await filled(ours)
    content = await (await ours.client.get(f"/api/chats/c/export?format={form}")).text()
    identity = await imported(ours, format=form, content=content)
    assert identity != "c"
    first = await (await ours.client.get("/api/chats/c")).json()
    second = await (await ours.client.get(f"/api/chats/{identity}")).json()
    for message in first["messages"]:
        if message["role"] == "user":
            message["metadata"] = {**message.get("metadata", {}), "origin": "imported"}
    assert second == {**first, "id": identity, "updated": second["updated"]}


def times_of(content: str, form: str) -> list[str]:
    """The times of the messages of an export, in their order."""
    lines = content.splitlines()
    bodies = json.loads(content)["messages"] if form == "trajectory" else map(json.loads, lines[1:])
    return [body["created"] for body in bodies]


@pytest.mark.parametrize("form", ["jsonl", "trajectory"])
async def test_the_times_of_messages_outlive_an_import_and_a_restored_path(
    ours: Site, form: str
) -> None:
    await filled(ours)
    long_ago = ["2025-03-01T10:00:00.000+00:00", "2025-03-02T11:30:00.250+00:00"]
    content = await (await ours.client.get("/api/chats/c/export?format=trajectory")).text()
    chat = json.loads(content)
    for row, then in zip(chat["messages"], long_ago, strict=True):
        row["created"] = then
    older = await imported(ours, format="trajectory", content=json.dumps({**chat, "id": "older"}))
    content = await (await ours.client.get(f"/api/chats/{older}/export?format={form}")).text()
    assert times_of(content, form) == long_ago
    identity = await imported(ours, format=form, content=content)
    exported = await ours.client.get(f"/api/chats/{identity}/export?format={form}")
    assert times_of(await exported.text(), form) == long_ago

    chat = json.loads(
        await (await ours.client.get(f"/api/chats/{identity}/export?format=trajectory")).text()
    )
    restore = {"type": "restore_from_trajectory", "trajectory": chat}
    await ours.client.post("/api/chats", json={"id": "empty"})
    assert (await ours.client.post("/api/chats/empty/commands", json=restore)).status == 202
    again = await ours.client.get("/api/chats/empty/export?format=trajectory")
    assert times_of(await again.text(), "trajectory") == long_ago


async def test_an_imported_chat_keeps_its_id_when_it_is_free(ours: Site) -> None:
    await filled(ours)
    content = await (await ours.client.get("/api/chats/c/export?format=trajectory")).text()
    renamed = json.dumps({**json.loads(content), "id": "elsewhere"})
    assert await imported(ours, format="trajectory", content=renamed) == "elsewhere"


async def test_an_import_does_not_take_the_id_of_a_chat_that_may_come_back(ours: Site) -> None:
    await filled(ours)
    content = await (await ours.client.get("/api/chats/c/export?format=jsonl")).text()
    await ours.client.delete("/api/chats/c")
    assert await imported(ours, format="jsonl", content=content) != "c"
    assert (await ours.client.post("/api/chats/c/restore")).status == 200


async def test_what_was_imported_is_found_by_its_words(ours: Site) -> None:
    line = json.dumps({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "An owl"}]})
    identity = await imported(ours, format="jsonl", content=line)
    body = await (await ours.client.get("/api/chats/search?q=owl")).json()
    assert [result["chat_id"] for result in body["results"]] == [identity]


@pytest.mark.parametrize("query", ["", "?format=", "?format=pdf"])
async def test_an_export_in_no_known_format_is_refused(ours: Site, query: str) -> None:
    await filled(ours)
    refused = await ours.client.get(f"/api/chats/c/export{query}")
    assert (refused.status, error_of(await refused.json())["code"]) == (400, "invalid_request")


async def test_an_unknown_or_deleted_chat_is_not_exported(ours: Site) -> None:
    await filled(ours)
    await ours.client.delete("/api/chats/c")
    for identity in ("c", "nobody"):
        refused = await ours.client.get(f"/api/chats/{identity}/export?format=jsonl")
        assert refused.status == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"format": "trajectory"},
        {"format": "markdown", "content": "# A fox"},
        {"format": ["jsonl"], "content": ""},
        {"format": "jsonl", "content": 7},
        {"format": "jsonl", "content": "{}", "id": "c"},
        {"format": "jsonl", "content": "no JSON"},
        {"format": "trajectory", "content": "{}"},
    ],
)
async def test_a_wrong_import_is_refused_and_makes_no_chat(
    ours: Site, body: dict[str, Any]
) -> None:
    refused = await ours.client.post("/api/chats/import", json=body)
    assert refused.status == 400
    error_of(await refused.json())
    assert (await (await ours.client.get("/api/chats")).json())["chats"] == []


async def test_no_export_holds_a_key_or_the_token(tmp_path: Path) -> None:
    configured = replace(QUIET, openai_api_key=KEY, token="the right token")
    async with site(tmp_path, configured) as ours:
        mine = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key": KEY + "-mine"}
        assert (await ours.client.put("/api/assistant/providers/mine", json=mine)).status == 200
        await filled(ours, f"My keys are {KEY}, {KEY}-mine and the right token")
        for form in TYPES:
            exported = await ours.client.get(f"/api/chats/c/export?format={form}")
            text = await exported.text() + str(exported.headers)
            assert "My keys are [key], [key] and [key]" in text
            assert KEY not in text and "the-right-token" not in text


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("A fox: at dawn?", "chat-A-fox-at-dawn"),
        ("../../etc/passwd", "chat-etc-passwd"),
        ('x"; filename="y.exe', "chat-x-filename-y-exe"),
        ("CON", "chat-CON"),
        ("\u72d0\u72f8", "chat-c"),
        ("x" * 200, "chat-" + "x" * 60),
    ],
)
def test_a_file_has_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(Trajectory("c", title, "user", None, None, (), None)) == name
