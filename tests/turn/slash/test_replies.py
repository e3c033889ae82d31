"""Slash commands over HTTP: the answers, the changes of the chat, and the actions for the client
(R41)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.turn.slash.slash_commands import COMMANDS, slash_in
from plugin.tests.chatting import Chatting, chatting

ROW = (
    "new chats open rename delete cleanup export history search context tokens compact skill "
    "skills memory model help"
).split()


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        running.provider.queue("A fox is **red**.")
        await running.say("Tell me about foxes")
        yield running
        assert running.provider.unexpected == 0


def actions(stream: Any) -> list[dict[str, Any]]:
    return [chunk["data"] for chunk in stream.of("data-action")]


async def test_one_list_is_for_every_client(chat: Chatting) -> None:
    async with chat.client.get("/api/assistant/commands") as response:
        listed = (await response.json())["commands"]
    assert {entry["name"] for entry in listed} == {*ROW, "settings"}
    for entry in listed:
        assert set(entry) == {"name", "aliases", "argument", "line", "place"}
        assert entry["place"] in ("server", "client")
        assert "\n" not in entry["line"] and entry["line"]
    by_name = {entry["name"]: entry for entry in listed}
    assert by_name["compact"]["aliases"] == ["summarize", "summarise"]
    assert [name for name in by_name if by_name[name]["place"] == "client"] == [
        "new", "open", "delete", "settings",
    ]  # fmt: skip


async def test_help_has_one_line_for_each(chat: Chatting) -> None:
    lines = (await chat.say("/help")).text.splitlines()
    for command in COMMANDS:
        assert sum(
            line.startswith(f"- `/{command.name}") and command.line in line for line in lines
        )


@pytest.mark.parametrize("name", [one for one in ROW if one != "skill"])
async def test_every_command_is_answered_without_the_model(chat: Chatting, name: str) -> None:
    asked = len(chat.provider.requests)
    stream = await chat.say(f"/{name}")
    assert stream.text
    assert stream.message.metadata["command"] == name
    assert len(chat.provider.requests) == asked


@pytest.mark.parametrize(
    "text", ["/newer", "new", "/skill fox", "/help\nme", "/ help", "/history of art"]
)
def test_other_text_is_no_command(text: str) -> None:
    assert slash_in(text) is None


async def test_what_changes_the_screen_is_for_the_client_to_do(chat: Chatting) -> None:
    assert actions(await chat.say("/new")) == [{"action": "new_chat"}]
    assert actions(await chat.say("/delete")) == [{"action": "delete_chat", "chat_id": "c1"}]
    assert actions(await chat.say("/open foxes", chat="c2")) == [
        {"action": "open_chat", "chat_id": "c1"}
    ]
    assert actions(await chat.say("/open red", chat="c2")) == [
        {"action": "open_chat", "chat_id": "c1"}
    ]
    assert actions(await chat.say("/open badger", chat="c2")) == []
    assert (await chat.stored())["title"] == "Tell me about foxes"


async def test_a_chat_is_renamed(chat: Chatting) -> None:
    assert "Red" in (await chat.say("/rename  Red *foxes*")).text
    assert (await chat.stored())["title"] == "Red *foxes*"


async def test_a_provider_that_does_not_answer_now_is_no_name_of_a_model(chat: Chatting) -> None:
    path, asked = "/api/assistant/providers/Home", len(chat.provider.requests)
    await chat.client.put(path, json={"base_url": "http://127.0.0.1:9/v1"})
    name = (await (await chat.client.get("/api/assistant/settings")).json())["providers"][1]["name"]
    await chat.client.post(f"/api/assistant/providers/{name}/activate", json={})
    assert "Nothing answers at http://127.0.0.1:9" in (await chat.say("/model Home")).text
    assert (await chat.stored())["params"] == {"provider": "Home"}
    assert (await chat.say("Hi")).error["code"] == "unreachable"
    assert len(chat.provider.requests) == asked


async def test_a_chat_gets_another_model_and_the_usual_one_again(chat: Chatting) -> None:
    chat.provider.models = ["scripted", "large"]
    assert "`scripted`" in (await chat.say("/model")).text
    assert "`large`" in (await chat.say("/model large")).text
    assert (await chat.stored())["params"] == {"model": "large"}
    chat.provider.queue("Yes")
    await chat.say("And badgers?")
    assert chat.provider.requests[-1].body["model"] == "large"
    await chat.say("/model default")
    assert (await chat.stored())["params"] == {}


async def test_a_model_that_the_server_does_not_list_is_refused_with_the_nearest(
    chat: Chatting,
) -> None:
    chat.provider.models = ["scripted", "large"]
    said = (await chat.say("/model larg")).text
    assert said.startswith("There is no model larg. There are: `large`")
    assert (await chat.stored())["params"] == {}


async def test_search_and_history_show_what_was_said_as_text(chat: Chatting) -> None:
    found = (await chat.say("/search red fox", chat="c2")).text
    assert found.splitlines() == [
        "**Tell me about foxes**",
        "",
        "- Assistant: A **fox** is **red**.",
    ]
    said = (await chat.say("/history")).text
    assert said.splitlines() == [
        "- **You**: Tell me about foxes",
        "- **Assistant**: A fox is \\*\\*red\\*\\*.",
    ]


async def test_memory_is_what_the_user_told(chat: Chatting) -> None:
    await chat.client.post("/api/user-context/rules", json={"text": "Use metric units"})
    await chat.client.put("/api/user-context/preferences/sampler", json={"value": "euler"})
    folder = chat.assistant.space_of("default").folder
    (folder / "goals.md").write_text("Paint the sea.", encoding="utf-8")
    text = (await chat.say("/memory")).text
    for words in ("Use metric units", "sampler: euler", "Paint the sea."):
        assert words in text


async def test_lists_name_what_there_is(chat: Chatting) -> None:
    assert "Tell me about foxes" in (await chat.say("/chats", chat="c2")).text
    assert "/api/chats/c1/export?format=markdown" in (await chat.say("/export")).text
    assert "Model guides" in (await chat.say("/skills")).text


async def test_without_a_chat_that_is_kept_commands_say_so(chat: Chatting) -> None:
    for name in ("rename x", "delete", "export", "model x"):
        assert "kept" in (await chat.say(f"/{name}", chat=None)).text
