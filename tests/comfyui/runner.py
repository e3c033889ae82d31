"""Queues workflows in a real ComfyUI and waits for their end."""

import asyncio
from typing import Any

import aiohttp

LIMIT = 60.0  # seconds until a run that should end counts as hanging
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
            # ComfyUI says that nothing runs any more when the run is in its history, not before.
            if ended is not None and kind == "executing" and data.get("node") is None:
                return ended
        raise AssertionError("ComfyUI closed its socket.")

    async def text(self, prompt_id: str, node: str = "2") -> str:
        """What a node of the workflow showed, from the history."""
        async with self._session.get(f"/api/history/{prompt_id}") as response:
            history = await response.json()
        (shown,) = history[prompt_id]["outputs"][node]["text"]
        return str(shown)

    async def cancel(self) -> None:
        async with self._session.post("/api/interrupt", json={}) as response:
            assert response.status == 200
