"""Which workflow a turn's tools read, which graphs a chat keeps, and `set_workflow`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats.graphs import ChatGraphs
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.tools import Bench

LOOK = Script([tool_call("getWorkflowInfo")])


def workflow(node_type: str, identity: str = "w") -> dict[str, Any]:
    node = {"id": 1, "type": node_type, "pos": [0, 0], "inputs": [], "outputs": []}
    return {"id": identity, "name": "mine", "graph": {"nodes": [node], "links": []}}


def seen(chat: Chatting) -> str:
    """The last tool result that a request had."""
    messages = [one for request in chat.provider.requests for one in request.messages]
    return str([one["content"] for one in messages if one["role"] == "tool"][-1])


async def kept(chat: Chatting, query: str = "") -> list[dict[str, Any]]:
    async with chat.client.get(f"/api/chats/c1/workflows{query}") as response:
        assert response.status == 200, await response.text()
        found: list[dict[str, Any]] = (await response.json())["workflows"]
        return found


async def set_workflow(client: Chatting, node_type: str, **more: Any) -> int:
    command = {"type": "set_workflow", "workflow": workflow(node_type), **more}
    async with await client.command(**command) as response:
        return response.status


async def test_the_graph_of_a_message_is_kept_and_given_back(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi", workflow={**workflow("KSampler"), "revision": 7})
    (entry,) = await kept(chat)
    assert entry["message_id"] == "u1" and entry["workflow_id"] == "w"
    assert (entry["name"], entry["nodes"]) == ("mine", 1)
    async with chat.client.get(f"/api/chats/c1/workflows/{entry['revision']}") as response:
        assert await response.json() == workflow("KSampler")["graph"]
    for path in ("c1/workflows/00000000", "c9/workflows", "c9/workflows/00000000"):
        async with chat.client.get(f"/api/chats/{path}") as response:
            assert response.status == 404


async def test_the_same_graph_is_kept_once_and_another_as_well(chat: Chatting) -> None:
    for node_type in ("KSampler", "KSampler", "VAEDecode"):
        chat.provider.queue("Hello")
        await chat.say("Hi", workflow=workflow(node_type))
    entries = await kept(chat)
    assert [one["message_id"] for one in entries] == ["u3", "u2"]
    assert len(await kept(chat, "?limit=1")) == 1
    assert await kept(chat, f"?before={entries[0]['revision']}") == entries[1:]


async def test_a_message_without_a_workflow_reads_the_newest(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi", workflow=workflow("KSampler"))
    assert await set_workflow(chat, "VAEDecode") == 202
    chat.provider.queue(LOOK, "It is a decoder.")
    await chat.say("What is open?")
    assert "VAEDecode" in seen(chat)
    assert [one["message_id"] for one in await kept(chat)] == [None, "u1"]


async def test_a_turn_that_makes_its_chat_asks_the_store_for_no_workflow(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def newest(self: ChatGraphs, chat_id: str) -> None:
        asked.append(chat_id)

    monkeypatch.setattr(ChatGraphs, "newest", newest)
    chat.provider.queue("Hello", "Hello again")
    await chat.say("Hi")
    await chat.say("Hi")
    assert asked == []


async def test_after_a_restart_the_newest_graph_is_read(tmp_path: Path) -> None:
    async with chatting(tmp_path) as chat:
        chat.provider.queue("Hello")
        await chat.say("Hi", workflow=workflow("KSampler"))
    async with chatting(tmp_path) as chat:
        chat.user("The id of the first message.")
        chat.provider.queue(LOOK, "A sampler.")
        await chat.say("What is open?")
        assert "KSampler" in seen(chat)


async def test_only_the_panel_of_the_turn_changes_what_its_tools_read(chat: Chatting) -> None:
    """Another panel, another workflow and a client without an id count from the next turn."""
    chat.provider.queue(Script([{"wait": "go"}, tool_call("getWorkflowInfo")]), "Read.")
    asking = chat.say("Look", workflow=workflow("KSampler"), client_id="panel-1")
    saying = asyncio.create_task(asking)
    await chat.provider.reached("go")
    assert await set_workflow(chat, "Theirs", client_id="panel-2") == 202
    assert await set_workflow(chat, "Nobodys") == 202
    other = {"workflow": workflow("Other", "w2"), "client_id": "panel-1"}
    assert await set_workflow(chat, "Other", **other) == 202
    assert await set_workflow(chat, "VAEDecode", client_id="panel-1") == 202
    chat.provider.release("go")
    await saying
    assert "VAEDecode" in seen(chat)
    by_type = {one["revision"]: one["message_id"] for one in await kept(chat)}
    assert sorted(by_type.values(), key=str) == [None, None, None, "u1", "u1"]


async def test_other_panels_do_not_change_what_a_turn_reads(chat: Chatting) -> None:
    chat.provider.queue(Script([{"wait": "go"}, tool_call("getWorkflowInfo")]), "Read.", LOOK, "Ok")
    asking = chat.say("Look", workflow=workflow("KSampler"), client_id="panel-1")
    saying = asyncio.create_task(asking)
    await chat.provider.reached("go")
    assert await set_workflow(chat, "Theirs", client_id="panel-2") == 202
    chat.provider.release("go")
    await saying
    assert "KSampler" in seen(chat)
    await chat.say("And now?")
    assert "Theirs" in seen(chat)


async def test_a_suspended_turn_reads_what_its_panel_changed(chat: Chatting, bench: Bench) -> None:
    chat.provider.queue(Script([tool_call("erase")]))
    await chat.say("Erase", workflow=workflow("KSampler"), client_id="panel-1")
    assert await set_workflow(chat, "Theirs", client_id="panel-2") == 202
    assert await set_workflow(chat, "VAEDecode", client_id="panel-1") == 202
    chat.provider.queue(LOOK, "A decoder.")
    waiting = (await chat.stored())["messages"][-1]["parts"]
    call = next(part for part in waiting if part.get("approval"))
    seen_question: Any = {"approval_ids": [call["approval"]["id"]]}
    ids: Any = [call["toolCallId"]]
    assert (await chat.command(type="approve_tools", ids=ids, **seen_question)).status == 202
    await chat.idle()
    assert "VAEDecode" in seen(chat)


async def test_an_unknown_chat_and_a_missing_workflow_are_refused(chat: Chatting) -> None:
    assert await set_workflow(chat, "KSampler", chat="nowhere") == 404
    chat.provider.queue("Hello")
    await chat.say("Hi")
    async with await chat.command(type="set_workflow") as response:
        assert response.status == 400
        assert (await response.json())["error"]["where"] == "workflow"


async def test_a_workflow_that_is_too_large_is_said_to_the_model_and_the_user(
    chat: Chatting,
) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi", workflow=workflow("KSampler"))
    chat.provider.queue(LOOK, "I cannot see it.")
    large = {"id": "w", "name": "huge", "graph": None, "too_large": 23_400_000}
    stream = await chat.say("What is this?", workflow=large)
    (notice,) = stream.of("data-notice")
    assert notice["data"]["code"] == "workflow_too_large" and "23 MB" in notice["data"]["message"]
    assert "too large" in seen(chat) and "KSampler" not in seen(chat)


async def test_what_is_no_workflow_is_not_kept(chat: Chatting) -> None:
    chat.provider.queue("Hello", "Hello")
    await chat.say("Hi", workflow={"id": "w", "graph": {"nodes": 7}})
    await chat.say("Hi", workflow={"id": "w", "graph": {}})
    assert await kept(chat) == []
