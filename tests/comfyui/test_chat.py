"""The chat in a real ComfyUI: a streamed answer, and the facts about this ComfyUI that the model
gets."""

import re
import time

import aiohttp
import pytest
from plugin.tests.chatting import chunks_of
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.providers import Script, ScriptedProvider, text, tool_call

pytestmark = pytest.mark.comfyui

LIMIT = 60.0  # seconds
GRAPH = {
    "nodes": [{"id": 3, "type": "KSampler", "title": "The sampler", "widgets_values": []}],
    "links": [],
}


async def say(comfyui: ComfyUI, chat: str, words: str) -> list[dict[str, object]]:
    """One user message; the chunks of its answer."""
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": words}]}
    workflow = {"id": "w1", "name": "Test", "revision": 1, "graph": GRAPH, "selection": []}
    body = {"id": chat, "message": message, "workflow": workflow}
    async with (
        aiohttp.ClientSession(comfyui.url) as session,
        session.post("/api/chat", json=body) as response,
    ):
        assert response.status == 200, await response.text()
        assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
        return chunks_of(await response.read())


async def test_an_answer_streams_and_is_kept(comfyui: ComfyUI, provider: ScriptedProvider) -> None:
    provider.queue(text("Hello ", "there"))
    chunks = await say(comfyui, "comfyui-1", "Hi")
    deltas = [chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta"]
    assert deltas == ["Hello ", "there"]
    assert chunks[-1]["type"] == "finish"
    stored = comfyui.read_json("/api/chats/comfyui-1")
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]


async def test_the_model_reads_the_workflow_that_the_panel_sent(
    comfyui: ComfyUI, provider: ScriptedProvider
) -> None:
    provider.queue(Script([tool_call("getWorkflowInfo")]), "It has one node.")
    await say(comfyui, "comfyui-2", "Explain this workflow")
    result = provider.requests[1].messages[-1]
    assert result["role"] == "tool"
    assert "KSampler" in result["content"]


async def test_the_model_is_told_what_this_comfyui_has(
    comfyui: ComfyUI, provider: ScriptedProvider
) -> None:
    summary = comfyui.folder / "user" / "__assistant" / "default" / "environment" / "summary.json"
    deadline = time.monotonic() + LIMIT
    while not summary.exists():  # the user's first request starts the count in the background
        comfyui.read_json("/api/assistant/health")
        assert time.monotonic() < deadline, "ComfyUI was not counted."
    provider.queue("Hello")
    await say(comfyui, "comfyui-3", "Hi")
    system = provider.requests[0].messages[0]["content"]
    counts = re.search(r"(\d+) packages, (\d+) node types, (\d+) models?", system)
    assert counts, system
    packages, node_types, models = map(int, counts.groups())
    assert packages > 10
    assert node_types == len(comfyui.read_json("/api/object_info"))
    assert models == 1


async def test_health_names_the_provider_and_comfyuis_version(
    comfyui: ComfyUI, provider: ScriptedProvider
) -> None:
    health = comfyui.read_json("/api/assistant/health")
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", health["comfyui"])
    assert health["provider"]["base_url"] == provider.base_url
    assert health["problems"] == []
    assert health["saving"] == {"ok": True}
