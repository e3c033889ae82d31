"""What Ollama, LM Studio and llama.cpp say about the sight and the tools of their models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.config import Settings
from plugin.assistant.llm.abilities import MOST_SHOWN, is_near, with_abilities
from plugin.assistant.llm.models import ModelInfo
from plugin.assistant.llm.network import Network
from plugin.assistant.llm.provider import Provider

NETWORK = Network(Settings())
LIST = (ModelInfo("a"), ModelInfo("b"))


@asynccontextmanager
async def server(routes: Mapping[str, Any], asked: list[str] | None = None) -> AsyncIterator[str]:
    """The base URL of a server that answers each path with JSON, or with a function of the body."""

    async def answer(request: web.Request) -> web.Response:
        if asked is not None:
            asked.append(request.path)
        found = routes.get(request.path)
        if found is None:
            return web.Response(status=404)
        body = await request.json() if request.can_read_body else None
        return web.json_response(found(body) if callable(found) else found)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def told(
    routes: Mapping[str, Any], models: tuple[ModelInfo, ...] = LIST, vision: bool | None = None
) -> list[tuple[bool | None, bool | None]]:
    async with server(routes) as url:
        found = await with_abilities(models, Provider("p", url, "", vision=vision), NETWORK)
    assert [model.id for model in found] == [model.id for model in models]
    return [(model.vision, model.tools) for model in found]


async def test_ollama_says_it_of_each_model() -> None:
    able = {"a": ["completion", "vision"], "b": ["completion", "tools"]}
    routes = {
        "/api/ps": {"models": []},
        "/api/show": lambda body: {"capabilities": able[body["model"]]},
    }
    assert await told(routes) == [(True, False), (False, True)]


async def test_an_older_ollama_says_nothing() -> None:
    routes = {"/api/ps": {"models": []}, "/api/show": {"parameters": ""}}
    assert await told(routes) == [(None, None), (None, None)]


async def test_lm_studio_says_it_in_a_list_of_its_own() -> None:
    entries = [{"id": "a", "type": "vlm"}, {"id": "b", "type": "llm", "capabilities": ["tool_use"]}]
    assert await told({"/api/v0/models": {"data": entries}}) == [(True, None), (False, True)]


async def test_llama_cpp_says_it_of_its_one_model() -> None:
    routes = {
        "/props": {"modalities": {"vision": True}, "chat_template_caps": {"supports_tools": True}}
    }
    assert await told(routes, LIST[:1]) == [(True, True)]


async def test_where_nobody_says_it_the_providers_setting_counts() -> None:
    assert await told({}, vision=True) == [(True, None), (True, None)]
    assert await told({}) == [(None, None), (None, None)]
    said = (ModelInfo("a", None, False, True), ModelInfo("b"))
    assert await told({}, said, vision=True) == [(False, True), (True, None)]


@pytest.mark.parametrize("odd", [7, "x", [], {"models": 1}, {"data": [None]}, {"modalities": 1}])
async def test_odd_answers_say_nothing(odd: Any) -> None:
    routes = dict.fromkeys(("/api/ps", "/api/show", "/api/v0/models", "/props"), odd)
    assert await told(routes) == [(None, None), (None, None)]
    assert await told(routes, LIST[:1]) == [(None, None)]


async def test_what_the_list_says_is_not_asked_again_and_of_many_models_not_all() -> None:
    known = tuple(ModelInfo(f"m{at}", None, True, True) for at in range(3))
    asked: list[str] = []
    async with server({}, asked) as url:
        assert await with_abilities(known, Provider("p", url, ""), NETWORK) == known
        assert asked == []
    routes = {"/api/ps": {"models": []}, "/api/show": {"capabilities": ["vision"]}}
    async with server(routes, asked) as url:
        many = tuple(ModelInfo(f"m{at}") for at in range(MOST_SHOWN + 5))
        found = await with_abilities(many, Provider("p", url, ""), NETWORK)
    assert asked.count("/api/show") == MOST_SHOWN
    assert [model.vision for model in found[-6:]] == [True, *[None] * 5]


@pytest.mark.parametrize(
    ("url", "near"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://192.168.1.7:11434/v1", True),
        ("http://[fd00::7]:1234/v1", True),
        ("http://workstation:8080/v1", True),
        ("http://studio.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
    ],
)
def test_only_servers_nearby_are_asked_at_their_own_routes(url: str, near: bool) -> None:
    assert is_near(url) is near
