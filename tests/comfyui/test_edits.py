"""The model edits a workflow in a real ComfyUI: on the canvas of its own front end, and without a
panel, as `curl` does."""

import copy
import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import aiohttp
import pytest
from playwright.sync_api import expect
from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.node_definitions import NodeDefinitions
from plugin.assistant.workflow.parse import parse_workflow
from plugin.tests.chatting import chunks_of
from plugin.tests.comfyui.conftest import MODEL
from plugin.tests.comfyui.instance import ComfyUI
from plugin.tests.comfyui.panels import opened_panel
from plugin.tests.e2e.canvas import Canvas
from plugin.tests.e2e.graphs import text_to_image
from plugin.tests.providers import Script, ScriptedProvider, tool_call

pytestmark = pytest.mark.comfyui

REQUEST = "Make this two times larger and use a different sampler"
OPERATIONS = [
    {"op": "set", "node": "EmptyLatentImage", "values": {"width": "1024", "height": 1024}},
    {"op": "set", "node": "3", "values": {"sampler_name": "dpmpp_2m"}},
]
"""As a model writes them: a node by its type, a number as text."""
EDIT = Script([tool_call("editWorkflow", {"operations": OPERATIONS})])


def drawn() -> dict[str, Any]:
    """A workflow that this ComfyUI takes: it has the model."""
    graph = text_to_image()
    graph["nodes"][1]["widgets_values"] = [MODEL]
    return graph


def expected(prompt: dict[str, Any]) -> dict[str, Any]:
    """The prompt after the edit."""
    larger = copy.deepcopy(prompt)
    larger["5"]["inputs"] |= {"width": 1024, "height": 1024}
    larger["3"]["inputs"] |= {"sampler_name": "dpmpp_2m"}
    return larger


def assert_taken(comfyui: ComfyUI, prompt: dict[str, Any]) -> None:
    """ComfyUI's own validation takes the prompt; its run, which fails without a model, is over."""
    data = json.dumps({"prompt": prompt}).encode()
    headers = {"Content-Type": "application/json"}
    try:
        with urlopen(Request(f"{comfyui.url}/api/prompt", data, headers)) as response:
            assert json.load(response)["node_errors"] == {}
    except HTTPError as error:
        raise AssertionError(error.read().decode()) from error


@pytest.mark.e2e
def test_the_panel_edits_the_canvas_as_one_undo_step(comfyui: ComfyUI, chromium_path: str) -> None:
    with opened_panel(comfyui, chromium_path) as (panel, provider):
        canvas = Canvas(panel)
        canvas.load(drawn(), "tower")
        canvas.settle()
        canvas.capture()
        before, prompt, (steps, *_) = canvas.state(), canvas.prompt(), canvas.history()
        provider.queue(EDIT, "It is 1024 x 1024 now, with DPM++ 2M.")
        panel.ask(REQUEST)
        expect(panel.answer).to_contain_text("DPM++ 2M")
        panel.idle()
        canvas.settle()
        assert canvas.prompt() == expected(prompt)
        assert_taken(comfyui, canvas.prompt())
        after = canvas.state()
        assert canvas.history()[0] == steps + 1
        canvas.undo()
        assert canvas.state() == before
        canvas.redo()
        assert canvas.state() == after


async def test_curl_gets_the_edited_workflow_and_takes_it_back(
    comfyui: ComfyUI, provider: ScriptedProvider
) -> None:
    definitions = NodeDefinitions(comfyui.read_json("/api/object_info"))
    graph = drawn()
    prompt = api_prompt(parse_workflow(graph), definitions)
    message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": REQUEST}]}
    workflow = {"id": "w1", "name": "tower", "revision": 1, "graph": graph, "selection": []}
    provider.queue(EDIT, "Done.")
    async with aiohttp.ClientSession(comfyui.url) as session:
        body = {"id": "edits-1", "message": message, "workflow": workflow}
        async with session.post("/api/chat", json=body) as response:
            assert response.status == 200, await response.text()
            chunks = chunks_of(await response.read())
        (sent,) = [chunk["data"] for chunk in chunks if chunk["type"] == "data-workflow"]
        assert isinstance(sent, dict)
        made = api_prompt(parse_workflow(sent["graph"]), definitions)
        assert made == expected(prompt)
        assert_taken(comfyui, made)
        answer = comfyui.read_json("/api/chats/edits-1")["messages"][-1]["id"]
        command = {"type": "undo_edits", "message_id": answer}
        async with session.post("/api/chats/edits-1/commands", json=command) as response:
            assert response.status == 202, await response.text()
    newest = comfyui.read_json("/api/chats/edits-1/workflows")["workflows"][0]["revision"]
    kept = comfyui.read_json(f"/api/chats/edits-1/workflows/{newest}")
    assert api_prompt(parse_workflow(kept), definitions) == prompt
