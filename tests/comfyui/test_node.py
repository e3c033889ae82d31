"""*Assistant Prompt* in workflows that a real ComfyUI executes, against the scripted provider."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.providers import Script, ScriptedProvider, failure

pytestmark = pytest.mark.comfyui

LIMIT = 60.0  # seconds; a run that takes longer counts as hanging
CLIENT = "node-test"
ENDS = ("execution_success", "execution_error", "execution_interrupted")


class Runner:
    """Queues workflows in a ComfyUI and waits on its socket for their end."""

    def __init__(
        self, session: aiohttp.ClientSession, socket: "aiohttp.ClientWebSocketResponse[bool]"
    ):
        self._session = session
        self._socket = socket

    async def queue(self, prompt: str, seed: int) -> str:
        """Queues *Assistant Prompt* and a node that shows its text; returns the prompt id."""
        inputs = {"prompt": prompt, "seed": seed, "system": "Be brief."}
        workflow = {
            "1": {"class_type": "AssistantPrompt", "inputs": inputs},
            "2": {"class_type": "PreviewAny", "inputs": {"source": ["1", 0]}},
        }
        body = {"prompt": workflow, "client_id": CLIENT}
        async with self._session.post("/api/prompt", json=body) as response:
            assert response.status == 200, await response.text()
            prompt_id: str = (await response.json())["prompt_id"]
            return prompt_id

    async def ended(self, prompt_id: str) -> tuple[str, dict[str, Any]]:
        """Waits until the run is in the history: how it ended, as a message's type and data."""
        return await asyncio.wait_for(self._end_of(prompt_id), LIMIT)

    async def _end_of(self, prompt_id: str) -> tuple[str, dict[str, Any]]:
        ended: tuple[str, dict[str, Any]] | None = None
        async for message in self._socket:
            if message.type != aiohttp.WSMsgType.TEXT:
                continue
            event = message.json()
            kind, data = event["type"], event.get("data") or {}
            if data.get("prompt_id") != prompt_id:
                continue
            if kind in ENDS:
                ended = kind, data
            # ComfyUI reports that nothing runs only after the run is in its history.
            if ended is not None and kind == "executing" and data.get("node") is None:
                return ended
        raise AssertionError("ComfyUI closed its socket.")

    async def text(self, prompt_id: str) -> str:
        """The text that the workflow showed, from the history."""
        async with self._session.get(f"/api/history/{prompt_id}") as response:
            history = await response.json()
        (shown,) = history[prompt_id]["outputs"]["2"]["text"]
        return str(shown)

    async def cancel(self) -> None:
        async with self._session.post("/api/interrupt", json={}) as response:
            assert response.status == 200


@pytest.fixture
async def runner(comfyui: ComfyUI, provider: ScriptedProvider) -> AsyncIterator[Runner]:
    async with (
        aiohttp.ClientSession(comfyui.url) as session,
        session.ws_connect(f"/ws?clientId={CLIENT}") as socket,
    ):
        yield Runner(session, socket)


async def test_the_answer_reaches_the_next_node(runner: Runner, provider: ScriptedProvider) -> None:
    provider.queue("A fox in the snow")
    run = await runner.queue("Describe a fox.", 1)
    assert (await runner.ended(run))[0] == "execution_success"
    assert await runner.text(run) == "A fox in the snow"
    assert provider.requests[0].messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Describe a fox."},
    ]


async def test_the_same_seed_keeps_the_answer_and_a_new_one_asks_again(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue("First")
    first = await runner.queue("Name an animal.", 11)
    assert (await runner.ended(first))[0] == "execution_success"
    again = await runner.queue("Name an animal.", 11)
    assert (await runner.ended(again))[0] == "execution_success"
    assert await runner.text(again) == "First"
    assert len(provider.requests) == 1

    provider.queue("Second")
    other = await runner.queue("Name an animal.", 12)
    assert (await runner.ended(other))[0] == "execution_success"
    assert await runner.text(other) == "Second"


async def test_a_failure_is_the_nodes_error_in_one_sentence(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue(failure(401, "Incorrect API key provided."))
    run = await runner.queue("Describe a hare.", 1)
    kind, error = await runner.ended(run)
    assert kind == "execution_error"
    assert (error["node_id"], error["node_type"]) == ("1", "AssistantPrompt")
    assert "does not accept the key" in error["exception_message"]
    assert len(error["exception_message"].strip().splitlines()) == 1


async def test_cancelling_the_run_closes_the_stream(
    runner: Runner, provider: ScriptedProvider
) -> None:
    provider.queue(Script([{"text": "A bear"}, {"wait": "cancel"}]))
    run = await runner.queue("Describe a bear.", 1)
    await provider.reached("cancel")
    await runner.cancel()
    assert (await runner.ended(run))[0] == "execution_interrupted"
    await provider.client_left()
