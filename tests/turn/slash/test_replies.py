"""Slash commands over HTTP: the answers, the changes of the chat, and the actions for the client
(R41)."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.turn.slash.nearest import nearest
from plugin.assistant.turn.slash.slash_commands import COMMANDS, NAMES, Slash, slash_in
from plugin.tests.chatting import ROOT, Chatting, chatting

ROW = (
    "new chats open rename delete cleanup export history search context tokens compact skill "
    "skills memory remember forget model help"
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
    assert by_name["chats"]["aliases"] == ["sessions"]
    assert by_name["open"]["aliases"] == ["session"]
    arguments = {name: by_name[name]["argument"] for name in ("delete", "export", "history")}
    assert arguments == {"delete": "[id]", "export": "[format]", "history": "[count]"}
    assert [name for name in by_name if by_name[name]["place"] == "client"] == [
        "new", "open", "delete", "export", "tokens", "settings",
    ]  # fmt: skip


def test_the_documentation_lists_the_same_commands() -> None:
    text = (ROOT / "docs" / "chats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`/[^|]+) \|", text, re.MULTILINE)
    listed = [re.findall(r"`/([a-z]+)(?: ([^`]+))?`", row) for row in rows]
    wanted = [
        [(one.name, one.argument or ""), *((name, "") for name in one.aliases)] for one in COMMANDS
    ]
    assert listed == wanted


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
    "text",
    [
        "new",
        "/skill fox",
        "/help\nme",
        "/ help",
        "/history of art",
        "/export as an API workflow",
        "/tmp is full",
        "/home/tom/models is empty",
        "/workspace",
        "/flux what does the second sampler do?",
        "/foo is the folder where I put all of my models",
        "/2 of the steps",
    ],
)
def test_other_text_is_no_command(text: str) -> None:
    assert slash_in(text) is None


@pytest.mark.parametrize(
    ("text", "slash"),
    [
        ("/sessions", Slash("chats")),
        ("/session c1", Slash("open", "c1")),
        ("/Help", Slash("help")),
        ("/history 5", Slash("history", "5")),
        ("/foo bar", Slash("foo", "bar", known=False)),
        ("/hepl me with the colours of this picture please", None),
        ("/newer", Slash("newer", known=False)),
    ],
)
def test_commands_are_read_with_their_arguments(text: str, slash: Slash | None) -> None:
    found = slash_in(text)
    assert found == (slash or Slash("hepl", text.partition(" ")[2], known=False))


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


async def test_an_unknown_command_is_answered_with_the_nearest_one(chat: Chatting) -> None:
    asked = len(chat.provider.requests)
    for typed, offered in (
        ("/hepl", "/help"),
        ("/serach red fox", "/search"),
        ("/hist", "/history"),
        ("/clear", "/new"),
        ("/20_model_sdxl", "/skill 20_model_sdxl"),
    ):
        stream = await chat.say(typed)
        assert f"There is no command `{typed.split()[0]}`." in stream.text
        assert f"Did you mean `{offered}`?" in stream.text
    text = (await chat.say("/foo bar")).text
    assert "There is no command `/foo`." in text and "Did you mean" not in text
    assert "`/help`" in text
    assert len(chat.provider.requests) == asked
    chat.provider.queue("Red.")
    await chat.say("Which colour?")
    sent = json.dumps(chat.provider.requests[-1].body["messages"])
    assert "/foo" not in sent and "no command" not in sent


def test_a_command_that_is_nothing_like_the_name_is_not_offered() -> None:
    assert [nearest(name, NAMES) for name in ("quokka", "umbrella", "zzz", "s", "xy")] == [None] * 5


async def test_a_chat_is_named_by_its_id(chat: Chatting) -> None:
    listed = (await chat.say("/sessions", chat="c2")).text.splitlines()
    created = (await chat.stored())["created"][:10]
    assert f"- `c1`, {created}, 2 messages: Tell me about foxes" in listed
    assert actions(await chat.say("/session c1", chat="c2")) == [
        {"action": "open_chat", "chat_id": "c1"}
    ]
    assert actions(await chat.say("/delete c1", chat="c2")) == [
        {"action": "delete_chat", "chat_id": "c1"}
    ]
    unknown = await chat.say("/delete everything", chat="c2")
    assert actions(unknown) == [] and "`/chats`" in unknown.text


async def test_the_beginning_of_an_id_names_a_chat_to_open_but_none_to_delete(
    chat: Chatting,
) -> None:
    await chat.client.post("/api/chats", json={"id": "chat-8f31ab", "title": "Owls"})
    assert actions(await chat.say("/open chat-8f", chat="c2")) == [
        {"action": "open_chat", "chat_id": "chat-8f31ab"}
    ]
    assert actions(await chat.say("/delete chat-8f", chat="c2")) == []


async def test_an_export_takes_a_format_or_the_name_of_a_file(chat: Chatting) -> None:
    link = "/api/chats/c1/export?format="
    for typed, form, name in (
        ("/export md", "markdown", None),
        ("/export JSONL", "jsonl", None),
        ("/export trajectory", "trajectory", None),
        ("/export conversation.md", "markdown", "conversation.md"),
        ("/export my-chat.json", "trajectory", "my-chat.json"),
    ):
        stream = await chat.say(typed)
        wanted = {"action": "export_chat", "chat_id": "c1", "format": form}
        assert actions(stream) == [wanted if name is None else {**wanted, "name": name}]
        assert f"{link}{form})" in stream.text
    for typed in ("/export pdf", "/export ../up.md", "/export con.pdf"):
        refused = await chat.say(typed)
        assert actions(refused) == [] and "`/export markdown`" in refused.text


async def test_the_history_is_as_long_as_asked(chat: Chatting) -> None:
    for number in range(6):
        chat.provider.queue(f"answer {number}")
        await chat.say(f"question {number}")
    usual = (await chat.say("/history")).text.splitlines()
    assert usual[0] == "4 older messages are above."
    assert len([line for line in usual if line.startswith("- ")]) == 10
    assert (await chat.say("/history 2")).text.splitlines()[-2:] == [
        "- **You**: question 5",
        "- **Assistant**: answer 5",
    ]
    assert "1 to 200" in (await chat.say("/history many")).text
    assert "1 to 200" in (await chat.say("/history 0")).text


async def test_tokens_are_shown_under_each_answer_or_not(chat: Chatting) -> None:
    assert actions(await chat.say("/tokens on")) == [{"action": "show_tokens"}]
    assert actions(await chat.say("/tokens off")) == [{"action": "hide_tokens"}]
    plain = await chat.say("/tokens")
    assert actions(plain) == [] and "`/tokens on`" in plain.text
    assert "`/tokens on`" in (await chat.say("/tokens maybe")).text


async def test_a_model_that_the_server_does_not_list_is_refused(chat: Chatting) -> None:
    chat.provider.models[:] = ["scripted", "gpt-5", "Gpt-5-mini", "qwen3:latest", "text-embed-9"]
    refused = (await chat.say("/model gpt-9")).text
    assert "has no model `gpt-9`" in refused and "`gpt-5`" in refused
    assert "embed" not in refused
    assert "It has `scripted`, `gpt-5`, `Gpt-5-mini`." in (await chat.say("/model zzz")).text
    assert (await chat.stored())["params"] == {}
    assert "`Gpt-5-mini`" in (await chat.say("/model gpt-5-mini")).text
    for name in ("qwen3", "gpt-5:free"):
        assert f"`{name}`" in (await chat.say(f"/model {name}")).text
        assert (await chat.stored())["params"] == {"model": name}


async def test_a_model_of_a_server_that_lists_none_is_taken(chat: Chatting) -> None:
    chat.provider.models.clear()
    await chat.say("/model anything")
    assert (await chat.stored())["params"] == {"model": "anything"}


async def test_a_chat_gets_another_model_and_the_usual_one_again(chat: Chatting) -> None:
    chat.provider.models.append("large")
    assert "`scripted`" in (await chat.say("/model")).text
    assert "`large`" in (await chat.say("/model large")).text
    assert (await chat.stored())["params"] == {"model": "large"}
    chat.provider.queue("Yes")
    await chat.say("And badgers?")
    assert chat.provider.requests[-1].body["model"] == "large"
    await chat.say("/model default")
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
