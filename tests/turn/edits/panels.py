"""Workflows to edit, and a panel with a canvas that carries out what the server hands to it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.edits.forecast import forecast
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.preview.catalog import load_catalog
from plugin.preview.comfyui import PreviewComfyUI
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import tool_call
from plugin.tests.sessions.folding import State, fold_event
from plugin.tests.sessions.stage import events_in

Json = dict[str, Any]
CATALOG = load_catalog()
DEFINITIONS = NodeDefinitions(CATALOG.nodes)


def portrait(steps: int = 20, seed: int = 42) -> Json:
    """A small picture workflow: a sampler (3) that a loader (4) and a latent (5) feed."""
    values = [seed, "randomize", steps, 7.5, "euler", "normal", 1.0]
    sampler = {
        "id": 3,
        "type": "KSampler",
        "pos": [400, 0],
        "size": [270, 262],
        "mode": 0,
        "inputs": [
            {"name": "model", "type": "MODEL", "link": 1},
            {"name": "positive", "type": "CONDITIONING", "link": None},
            {"name": "negative", "type": "CONDITIONING", "link": None},
            {"name": "latent_image", "type": "LATENT", "link": 2},
        ],
        "outputs": [{"name": "LATENT", "type": "LATENT", "links": []}],
        "widgets_values": values,
    }
    loader = {
        "id": 4,
        "type": "CheckpointLoaderSimple",
        "pos": [0, 0],
        "size": [315, 98],
        "mode": 0,
        "inputs": [],
        "outputs": [
            {"name": "MODEL", "type": "MODEL", "links": [1]},
            {"name": "CLIP", "type": "CLIP", "links": []},
            {"name": "VAE", "type": "VAE", "links": []},
        ],
        "widgets_values": ["dream.safetensors"],
    }
    latent = {
        "id": 5,
        "type": "EmptyLatentImage",
        "pos": [0, 200],
        "size": [315, 106],
        "mode": 0,
        "inputs": [],
        "outputs": [{"name": "LATENT", "type": "LATENT", "links": [2]}],
        "widgets_values": [512, 512, 1],
    }
    notes = [
        {"id": 10 + n, "type": "Note", "pos": [900, 100 * n], "widgets_values": [f"Note {n}"]}
        for n in range(7)
    ]
    return {
        "last_node_id": 16,
        "last_link_id": 2,
        "nodes": [sampler, loader, latent, *notes],
        "links": [[1, 4, 0, 3, 0, "MODEL"], [2, 5, 0, 3, 3, "LATENT"]],
        "groups": [],
        "config": {},
        "extra": {},
        "version": 0.4,
    }


def workflow(graph: Json | None = None, identity: str = "w1") -> Json:
    return {"id": identity, "name": "portrait", "graph": graph or portrait()}


def sampler_values(graph: Json) -> list[Any]:
    found: list[Any] = next(one for one in graph["nodes"] if one["id"] == 3)["widgets_values"]
    return found


def set_steps(steps: int, id: str = "e1") -> Any:
    return edit({"op": "set", "node": "3", "values": {"steps": steps}}, id=id)


def edit(*operations: Json, id: str = "e1") -> Any:
    return tool_call("editWorkflow", {"operations": list(operations)}, id=id)


def revision(graph: Json) -> str:
    return Snapshot(graph=graph).revision


@contextlib.asynccontextmanager
async def editing(
    folder: Path, provider: Any = None, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Chatting]:
    """A backend that knows ComfyUI's own nodes."""
    comfyui = PreviewComfyUI(CATALOG, folder / "comfyui")
    async with chatting(folder, environ, provider=provider, comfyui=comfyui) as chat:
        yield chat


def results(chat: Chatting) -> list[str]:
    """The tool results of the last request."""
    return [m["content"] for m in chat.provider.requests[-1].messages if m["role"] == "tool"]


async def graphs(chat: Chatting, query: str = "", identity: str = "c1") -> list[Json]:
    async with chat.client.get(f"/api/chats/{identity}/workflows{query}") as response:
        assert response.status == 200, await response.text()
        found: list[Json] = (await response.json())["workflows"]
        return found


async def newest(chat: Chatting, identity: str = "c1") -> Json:
    """The newest graph that the chat has."""
    first = (await graphs(chat, identity=identity))[0]
    path = f"/api/chats/{identity}/workflows/{first['revision']}"
    async with chat.client.get(path) as response:
        found: Json = await response.json()
        return found


async def told(client: Chatting, status: int = 202, /, **command: Any) -> Json:
    """What a command is answered."""
    async with await client.command(**command) as response:
        body: Json = await response.json()
        assert response.status == status, body
        return body


class Panel:
    """A panel that is subscribed to the chat. `canvas` is its workflow, which it changes as the
    server's forecast does; `change` may do something else to it in between."""

    def __init__(self, chat: Chatting, client_id: str = "tab-1", graph: Json | None = None) -> None:
        self.chat = chat
        self.client_id = client_id
        self.workflow_id = "w1"
        self.canvas = graph or portrait()
        self.state: State | None = None
        self.verdicts: list[Json] = []
        self.applied: dict[str, Json] = {}
        self._reading: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @contextlib.asynccontextmanager
    async def subscribed(self, canvas: bool = True) -> AsyncIterator[Panel]:
        query = {"chat_id": "c1", "client_id": self.client_id}
        if canvas:
            query["canvas"] = "1"
        async with self.chat.client.get("/api/chats/subscribe", params=query) as response:
            assert response.status == 200, await response.text()
            self._reading = asyncio.create_task(self._read(response))
            try:
                await self.until(lambda: self.state is not None)
                yield self
            finally:
                self._reading.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await self._reading

    async def _read(self, response: Any) -> None:
        rest = b""
        while not response.content.at_eof():
            rest += await response.content.readany()
            whole, border, rest = rest.rpartition(b"\n\n")
            for event in events_in(whole + border):
                if "seq" in event:
                    self.state = fold_event(self.state, event)
            self._news.set()

    async def until(self, is_true: Callable[[], bool]) -> None:
        """Waits for what an event brings."""
        async with asyncio.timeout(90) if hasattr(asyncio, "timeout") else contextlib.nullcontext():
            while not is_true():
                self._news.clear()
                await self._news.wait()

    @property
    def runtime(self) -> Json:
        assert self.state is not None
        found: Json = self.state["runtime"]
        return found

    @property
    def waiting(self) -> Json | None:
        """The call that waits for this panel's canvas."""
        runtime = self.runtime
        if runtime["state"] != "waiting_client" or runtime["client_id"] != self.client_id:
            return None
        found = [one for one in runtime["waiting"] if isinstance(one, dict)]
        return found[0] if found else None

    async def handed(self) -> Json:
        await self.until(lambda: self.waiting is not None)
        assert self.waiting is not None
        return self.waiting

    async def carry_out(self, call: Json) -> Json:
        """Edits the canvas as the call says, and sends the result; one that was applied before is
        only sent again."""
        identity = call["tool_call_id"]
        if identity not in self.applied:
            before = copy.deepcopy(self.canvas)
            done = forecast(before, call["input"]["operations"], DEFINITIONS)
            self.canvas = copy.deepcopy(done.content)
            self.applied[identity] = {
                "before": before,
                "after": copy.deepcopy(self.canvas),
                "ids": dict(done.ids),
            }
        return await self.send(identity, self.applied[identity])

    async def send(self, call_id: str, output: Any) -> Json:
        verdict = await told(
            self.chat,
            type="tool_result",
            tool_call_id=call_id,
            output=output,
            client_id=self.client_id,
        )
        self.verdicts.append(verdict)
        if verdict.get("verdict") == "undo" and call_id in self.applied:
            self.canvas = self.applied[call_id]["before"]
        return verdict

    async def say(self, text: str, *scripts: Any, **more: Any) -> asyncio.Task[Any]:
        """Sends a message with the canvas; the answer comes as the provider's scripts say."""
        self.chat.provider.queue(*scripts)
        sent = {"id": self.workflow_id, "name": "portrait", "graph": copy.deepcopy(self.canvas)}
        saying = self.chat.say(text, client_id=self.client_id, workflow=sent, **more)
        return asyncio.create_task(saying)
