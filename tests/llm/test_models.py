"""Model lists and windows as each kind of server reports them, and discovery on this machine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.errors import ProviderError
from plugin.assistant.llm import discovery
from plugin.assistant.llm.discovery import Discovery, UsualPort
from plugin.assistant.llm.models import (
    OLLAMA_DEFAULT_WINDOW,
    ModelInfo,
    first_chat_model,
    list_models,
    models_in,
    reported_window,
)
from plugin.assistant.llm.network import Network
from plugin.assistant.llm.provider import Provider
from plugin.tests.providers import ScriptedProvider

from .conftest import Routes, StartServer

NETWORK = Network(Settings())


def listing(*ids: str, **more: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": id, **more} for id in ids]}


async def window(port: int, model: str = "qwen3") -> int | None:
    return await reported_window(f"http://127.0.0.1:{port}/v1", model, seconds=5)


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ({"max_model_len": 32768}, 32768),
        ({"context_length": 131072}, 131072),
        ({"context_window": 8192}, 8192),
        ({"meta": {"n_ctx": 4096, "n_ctx_train": 8192}}, 4096),
        ({"max_model_len": None}, None),
        ({}, None),
    ],
)
def test_a_list_of_models_may_name_their_windows(entry: dict[str, Any], tokens: Any) -> None:
    assert models_in({"data": [{"id": "m", **entry}]}) == (ModelInfo("m", tokens),)


@pytest.mark.parametrize(
    ("entry", "vision", "tools"),
    [
        ({"architecture": {"input_modalities": ["text", "image"]}}, True, None),
        ({"architecture": {"input_modalities": ["text"]}}, False, None),
        ({"supported_parameters": ["tools", "seed"]}, None, True),
        ({"supported_parameters": ["seed"]}, None, False),
        ({"capabilities": {"vision": True, "function_calling": False}}, True, False),
        ({"capabilities": ["vision"], "architecture": "x", "supported_parameters": {}}, None, None),
    ],
)
def test_a_list_of_models_may_name_their_abilities(
    entry: dict[str, Any], vision: bool | None, tools: bool | None
) -> None:
    assert models_in({"data": [{"id": "m", **entry}]}) == (ModelInfo("m", None, vision, tools),)


@pytest.mark.parametrize("answer", [None, [], {}, {"data": None}, "x", {"data": {"id": "m"}}])
def test_what_is_no_list_of_models_is_told_from_an_empty_one(answer: Any) -> None:
    assert models_in(answer) is None
    assert models_in({"data": []}) == ()


@pytest.mark.parametrize(
    "name",
    ["nomic-embed-text", "text-embedding-3-large", "BAAI/bge-m3", "whisper-1", "tts-1", "e5-large"],
)
def test_a_model_that_does_not_chat_is_passed_over(name: str) -> None:
    assert first_chat_model([ModelInfo(name), ModelInfo("llama3.2")]) == "llama3.2"
    assert first_chat_model([ModelInfo(name)]) is None


async def test_llama_cpp_reports_its_window_in_the_list(start_server: StartServer) -> None:
    port = await start_server({"/v1/models": listing("qwen3", meta={"n_ctx": 6144})})
    assert await window(port) == 6144


async def test_an_older_llama_cpp_reports_it_in_its_properties(start_server: StartServer) -> None:
    routes = {
        "/v1/models": listing("qwen3"),
        "/props": {"default_generation_settings": {"n_ctx": 5120}},
    }
    assert await window(await start_server(routes)) == 5120


async def test_vllm_reports_it_in_the_list(start_server: StartServer) -> None:
    assert await window(await start_server({"/v1/models": listing("qwen3", max_model_len=9)})) == 9


async def test_ollama_reports_the_window_that_a_model_is_loaded_with(
    start_server: StartServer,
) -> None:
    routes = {
        "/v1/models": listing("qwen3"),
        "/api/ps": {"models": [{"name": "qwen3", "context_length": 40960}]},
        "/api/show": {"parameters": "num_ctx 8192"},
    }
    assert await window(await start_server(routes)) == 40960


async def test_ollama_s_model_file_tells_the_window_before_it_is_loaded(
    start_server: StartServer,
) -> None:
    routes = {
        "/v1/models": listing("qwen3"),
        "/api/ps": {"models": []},
        "/api/show": lambda body: {
            "parameters": 'stop  "<|im|>"\nnum_ctx                        8192',
            "asked": body["model"],
        },
    }
    assert await window(await start_server(routes)) == 8192


async def test_ollama_uses_its_default_where_nothing_is_said(start_server: StartServer) -> None:
    routes = {
        "/v1/models": listing("qwen3"),
        "/api/ps": {"models": []},
        "/api/show": {"parameters": "", "model_info": {"qwen3.context_length": 262144}},
    }
    assert await window(await start_server(routes)) == OLLAMA_DEFAULT_WINDOW


@pytest.mark.parametrize(
    ("entry", "tokens"),
    [
        ({"loaded_context_length": 4096, "max_context_length": 32768}, 4096),
        ({"max_context_length": 32768}, 32768),
        ({}, None),
    ],
)
async def test_lm_studio_reports_the_loaded_window_before_the_largest(
    start_server: StartServer, entry: dict[str, Any], tokens: int | None
) -> None:
    routes = {
        "/v1/models": listing("qwen3"),
        "/api/v0/models": {"data": [{"id": "other"}, {"id": "qwen3", **entry}]},
    }
    assert await window(await start_server(routes)) == tokens


@pytest.mark.parametrize("answer", ["text", 7, {"models": "none"}, {"models": [None, 7]}])
async def test_an_odd_answer_leaves_the_window_unknown(
    start_server: StartServer, answer: Any
) -> None:
    assert await window(await start_server({"/v1/models": answer, "/api/ps": answer})) is None


async def test_a_server_that_is_off_leaves_the_window_unknown() -> None:
    assert await window(1) is None


async def test_models_are_listed_with_the_key() -> None:
    async with ScriptedProvider(models=["a", "b"], key="sk-right-01234567") as server:
        right = Provider("p", server.base_url, "", "sk-right-01234567")
        assert [model.id for model in await list_models(right, NETWORK)] == ["a", "b"]
        with pytest.raises(ProviderError) as refusal:
            await list_models(Provider("p", server.base_url, "", "sk-wrong-01234567"), NETWORK)
    assert refusal.value.code == "key_refused"


@pytest.mark.parametrize(
    ("routes", "code"),
    [
        ({}, "unreachable"),
        ({"/v1/models": {"hello": 1}}, "garbage"),
        ({"/v1/models": 7}, "garbage"),
    ],
)
async def test_a_server_without_a_list_of_models_is_told_in_a_sentence(
    start_server: StartServer, routes: Routes, code: str
) -> None:
    port = await start_server(routes)
    with pytest.raises(ProviderError) as failure:
        await list_models(Provider("p", f"http://127.0.0.1:{port}/v1", ""), NETWORK)
    assert failure.value.code == code
    assert f"127.0.0.1:{port}" in failure.value.message


async def test_models_of_a_server_that_is_off_or_silent_are_told(silent_server: str) -> None:
    with pytest.raises(ProviderError) as off:
        await list_models(Provider("p", "http://127.0.0.1:1/v1", ""), NETWORK)
    assert off.value.code == "unreachable"
    with pytest.raises(ProviderError) as silent:
        await list_models(Provider("p", silent_server, ""), NETWORK, seconds=0.1)
    assert silent.value.code == "timeout"


# Discovery


async def test_servers_are_found_in_the_order_of_their_ports(start_server: StartServer) -> None:
    second = await start_server({"/v1/models": listing("b")})
    first = await start_server({"/v1/models": listing("a")})
    ports = (UsualPort("First", first), UsualPort("Off", 1), UsualPort("Second", second))
    assert [server.name for server in await Discovery(ports).servers()] == ["First", "Second"]


async def test_another_kind_of_server_on_a_usual_port_is_no_llm(start_server: StartServer) -> None:
    port = await start_server({"/v1/models": {"page": "hello"}})
    assert await Discovery((UsualPort("Vite", port),)).servers() == ()


async def test_a_silent_port_does_not_hold_up_the_others(
    start_server: StartServer, silent_server: str
) -> None:
    silent = int(silent_server.split(":")[2].split("/")[0])
    port = await start_server({"/v1/models": listing("a")})
    ports = (UsualPort("Silent", silent), UsualPort("Quick", port))
    found = await asyncio.wait_for(Discovery(ports).servers(), 5)
    assert [server.name for server in found] == ["Quick"]


async def test_a_finding_is_kept_for_seconds_then_looked_up_again(
    start_server: StartServer,
) -> None:
    asked = 0

    def answer(body: Any) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return listing("a")

    now = 0.0
    port = await start_server({"/v1/models": answer})
    ours = Discovery((UsualPort("One", port),), clock=lambda: now)
    await asyncio.gather(*(ours.servers() for _ in range(5)))
    assert asked == 1
    now = 60.0
    await ours.servers()
    assert asked == 2


async def test_discovery_that_is_switched_off_asks_nobody(start_server: StartServer) -> None:
    port = await start_server({"/v1/models": listing("a")})
    assert await Discovery((UsualPort("One", port),), enabled=False).servers() == ()


async def test_ports_where_nobody_says_that_nobody_listens_cost_no_whole_probe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on Windows, which tries to connect to a closed port for two seconds."""

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", never)
    monkeypatch.setattr(discovery, "PROBE_SECONDS", 600.0)
    found = await asyncio.wait_for(Discovery().servers(), 10)
    assert found == ()
