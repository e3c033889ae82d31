"""What Ollama, LM Studio and llama.cpp say about the sight and the tools of their models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.llm.abilities import MOST_SHOWN, is_near, with_abilities
from plugin.assistant.llm.models import ModelInfo
from plugin.assistant.llm.network import Network
from plugin.assistant.llm.provider import Provider

from .conftest import Routes, StartServer

NETWORK = Network(Settings())
LIST = (ModelInfo("a"), ModelInfo("b"))


Told = Callable[..., Awaitable[list[tuple[bool | None, bool | None]]]]


@pytest.fixture
def told(start_server: StartServer) -> Told:
    """The abilities of the models (pictures, tools) where a server has these routes."""

    async def ask(
        routes: Routes, models: tuple[ModelInfo, ...] = LIST, vision: bool | None = None
    ) -> list[tuple[bool | None, bool | None]]:
        found = await with_abilities(
            models, await provider_at(start_server, routes, vision), NETWORK
        )
        assert [model.id for model in found] == [model.id for model in models]
        return [(model.vision, model.tools) for model in found]

    return ask


async def provider_at(start: StartServer, routes: Routes, vision: bool | None = None) -> Provider:
    return Provider("p", f"http://127.0.0.1:{await start(routes)}/v1", "", vision=vision)


async def test_ollama_says_it_of_each_model(told: Told) -> None:
    able = {"a": ["completion", "vision"], "b": ["completion", "tools"]}
    routes = {
        "/api/ps": {"models": []},
        "/api/show": lambda body: {"capabilities": able[body["model"]]},
    }
    assert await told(routes) == [(True, False), (False, True)]


async def test_an_older_ollama_says_nothing(told: Told) -> None:
    routes = {"/api/ps": {"models": []}, "/api/show": {"parameters": ""}}
    assert await told(routes) == [(None, None), (None, None)]


async def test_lm_studio_says_it_in_a_list_of_its_own(told: Told) -> None:
    entries = [{"id": "a", "type": "vlm"}, {"id": "b", "type": "llm", "capabilities": ["tool_use"]}]
    assert await told({"/api/v0/models": {"data": entries}}) == [(True, None), (False, True)]


async def test_llama_cpp_says_it_of_its_one_model(told: Told) -> None:
    routes = {
        "/props": {"modalities": {"vision": True}, "chat_template_caps": {"supports_tools": True}}
    }
    assert await told(routes, LIST[:1]) == [(True, True)]


async def test_where_nobody_says_it_the_providers_setting_counts(told: Told) -> None:
    assert await told({}, vision=True) == [(True, None), (True, None)]
    assert await told({}) == [(None, None), (None, None)]
    said = (ModelInfo("a", None, False, True), ModelInfo("b"))
    assert await told({}, said, vision=True) == [(False, True), (True, None)]


@pytest.mark.parametrize("odd", [7, "x", [], {"models": 1}, {"data": [None]}, {"modalities": 1}])
async def test_odd_answers_say_nothing(told: Told, odd: Any) -> None:
    routes = dict.fromkeys(("/api/ps", "/api/show", "/api/v0/models", "/props"), odd)
    assert await told(routes) == [(None, None), (None, None)]
    assert await told(routes, LIST[:1]) == [(None, None)]


async def test_what_the_list_says_is_not_asked_again_and_of_many_models_not_all(
    start_server: StartServer,
) -> None:
    asked: list[str] = []

    def running(_: Any) -> dict[str, Any]:
        asked.append("ps")
        return {"models": []}

    def show(_: Any) -> dict[str, Any]:
        asked.append("show")
        return {"capabilities": ["vision"]}

    provider = await provider_at(start_server, {"/api/ps": running, "/api/show": show})
    known = tuple(ModelInfo(f"m{at}", None, True, True) for at in range(3))
    assert await with_abilities(known, provider, NETWORK) == known
    assert asked == []
    many = tuple(ModelInfo(f"m{at}") for at in range(MOST_SHOWN + 5))
    found = await with_abilities(many, provider, NETWORK)
    assert asked.count("show") == MOST_SHOWN
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
