"""A turn goes to the provider that the user chose, or nowhere: over real HTTP, with one provider
that was chosen and another one that was not."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.errors import ProviderError
from plugin.assistant.llm import resolver
from plugin.assistant.llm.discovery import KEPT_SECONDS, Discovery, UsualPort
from plugin.tests.chatting import Chatting, client_of
from plugin.tests.providers import ScriptedProvider

KEY = "sk-planted-0123456789abcdef"
QUIET = {"ASSISTANT_DISCOVER": "0", "LLM_CONTEXT_WINDOW": "32768"}
CLOSED = "http://127.0.0.1:9/v1"


@pytest.fixture
async def default(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ScriptedProvider]:
    """The provider that a key without an address goes to. It must not be asked anything."""
    async with ScriptedProvider() as server:
        server.long_answer(pause=0)
        monkeypatch.setattr(resolver, "OPENAI_BASE_URL", server.base_url)
        yield server


@contextlib.asynccontextmanager
async def backend(
    folder: Path, default: ScriptedProvider, environ: Mapping[str, str], dotenv: str | bytes = ""
) -> AsyncIterator[Chatting]:
    if dotenv:
        (folder / "plugin").mkdir()
        raw = dotenv.encode() if isinstance(dotenv, str) else dotenv
        (folder / "plugin" / ".env").write_bytes(raw)
    async with client_of(folder, {**QUIET, **environ}) as client:
        yield Chatting(client, default)


async def health_of(chat: Chatting) -> dict[str, Any]:
    body: dict[str, Any] = await (await chat.client.get("/api/assistant/health")).json()
    return body


async def refused(chat: Chatting, default: ScriptedProvider) -> dict[str, Any]:
    """The error of a turn, a request of a node and the health; nothing may have been sent."""
    error = (await chat.say("My secret workflow", chat=None)).error
    assert error["code"] == "no_provider", error
    assert {"choose-model", "open-settings"} <= set(error["actions"])
    with pytest.raises(ProviderError) as failure:
        await chat.assistant.complete("The text of a node")
    assert failure.value.code == "no_provider"
    assert (await health_of(chat))["provider"] is None
    assert default.requests == []
    return error


@pytest.mark.parametrize(
    "address", ["localhost:11434/v1", "htp://127.0.0.1/v1", KEY, "http://me:word@127.0.0.1/v1"]
)
async def test_an_address_that_is_given_and_unusable_is_no_provider(
    tmp_path: Path, default: ScriptedProvider, address: str
) -> None:
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": address}
    async with backend(tmp_path, default, environ) as chat:
        error = await refused(chat, default)
        assert "OPENAI_BASE_URL" in error["message"]
        problems = (await health_of(chat))["problems"]
        assert "OPENAI_BASE_URL" in [problem.get("variable") for problem in problems]
        assert KEY not in json.dumps(problems)


@pytest.mark.parametrize(
    "line",
    [
        "OPENAI_BASE_URL http://127.0.0.1:11434/v1",
        "OPENAI_BASE_URL: http://127.0.0.1:11434/v1",
        'OPENAI_BASE_URL="http://127.0.0.1:11434/v1',
        "OPENAI_BASE_URL='http://127.0.0.1:11434/v1",
        'OPENAI_BASE_URL="http://127.0.0.1:11434/v1" and more',
        "http://127.0.0.1:11434/v1",
        'OPENAI_MODEL="qwen3\nOPENAI_BASE_URL=http://127.0.0.1:11434/v1\nX="',
        "OPENAI_BASE_URL=http://127.0.0.1:11434/v1\x00",
    ],
)
async def test_a_line_that_cannot_be_read_does_not_lead_to_the_default_provider(
    tmp_path: Path, default: ScriptedProvider, line: str
) -> None:
    async with backend(tmp_path, default, {}, f"OPENAI_API_KEY={KEY}\n{line}\n") as chat:
        await refused(chat, default)
        problems = (await health_of(chat))["problems"]
        assert any(".env, line 2" in problem["message"] for problem in problems)
        assert KEY not in json.dumps(problems)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_BASE",
        "OPENAI_BASEURL",
        "openai_base_url",
        "OPENAI-BASE-URL",
        "OPENAI_SERVER",
        "LLM_BASE_URL",
        "BASE_URL",
    ],
)
async def test_an_address_under_another_name_does_not_lead_to_the_default_provider(
    tmp_path: Path, default: ScriptedProvider, name: str
) -> None:
    dotenv = f"OPENAI_API_KEY={KEY}\n{name}=http://127.0.0.1:11434/v1\n"
    async with backend(tmp_path, default, {}, dotenv) as chat:
        assert name in (await refused(chat, default))["message"]


@pytest.mark.parametrize(
    "content",
    [b"OPENAI_BASE_URL=http://127.0.0.1/v1\xff\n", b"#" * 9_000_000 + b"\nOPENAI_BASE_URL=x\n"],
)
async def test_a_file_that_cannot_be_read_does_not_lead_to_the_default_provider(
    tmp_path: Path, default: ScriptedProvider, content: bytes
) -> None:
    async with backend(tmp_path, default, {"OPENAI_API_KEY": KEY}, content) as chat:
        await refused(chat, default)


async def test_an_address_of_the_environment_serves_whatever_the_file_has(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    async with ScriptedProvider() as told:
        told.queue("Here")
        environ = {"OPENAI_BASE_URL": told.base_url, "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}
        async with backend(tmp_path, default, environ, "OPENAI_BASE_URL htp\n") as chat:
            assert (await chat.say("Hi")).text == "Here"
            assert len((await health_of(chat))["problems"]) == 1


async def test_a_chosen_local_server_that_ended_is_an_error_until_it_is_back(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    async with backend(tmp_path, default, environ) as chat:
        local = ScriptedProvider(models=["qwen3"])
        local.queue("From here")
        await local.start()
        port = int(local.base_url.split(":")[2].split("/")[0])
        seconds = [0.0]
        chat.assistant.resolver._discovery = Discovery(
            (UsualPort("Ollama", port),), clock=lambda: seconds[0]
        )
        path = "/api/assistant/providers/Ollama%20(local)/activate"
        assert (await chat.client.post(path, json={})).status == 204
        assert (await chat.say("Hi")).text == "From here"
        await local.stop()
        assert (await chat.say("Again")).error["code"] == "unreachable"
        seconds[0] += 2 * KEPT_SECONDS
        error = await refused(chat, default)
        assert "Ollama (local)" in error["message"] and "retry" in error["actions"]
        settings = await (await chat.client.get("/api/assistant/settings")).json()
        assert settings["active"] is None
        assert [provider["source"] for provider in settings["providers"]] == ["environment"]
        back = ScriptedProvider(models=["qwen3"])
        back.queue("I am back")
        await back.start(port)
        seconds[0] += 2 * KEPT_SECONDS
        assert (await chat.say("And now")).text == "I am back"
        await back.stop()
        assert default.requests == []


async def test_a_damaged_file_of_providers_is_an_error_until_a_provider_is_chosen(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "providers.json").write_text('{"active": "Mine", "prov')
    async with backend(tmp_path, default, environ) as chat:
        await refused(chat, default)
    async with backend(tmp_path, default, environ) as chat:  # after a restart, too
        await refused(chat, default)
        assert "providers_damaged" in [p["code"] for p in (await health_of(chat))["problems"]]
        name = (await (await chat.client.get("/api/assistant/settings")).json())["providers"][0]
        path = f"/api/assistant/providers/{name['name']}/activate"
        assert (await chat.client.post(path, json={})).status == 204
        assert (await chat.say("Hi")).text.startswith("word 1")
    async with backend(tmp_path, default, environ) as chat:
        assert (await health_of(chat))["problems"] == []
        assert (await chat.say("Hi", chat=None)).text.startswith("word 1")


async def test_a_provider_that_was_deleted_while_it_was_in_use_is_an_error(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    async with backend(tmp_path, default, environ) as chat:
        path = "/api/assistant/providers/Mine"
        await chat.client.put(path, json={"base_url": CLOSED, "model": "m"})
        assert (await chat.client.delete(path)).status == 204
        assert "Mine" in (await refused(chat, default))["message"]


async def test_a_chat_whose_own_provider_is_gone_is_an_error(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    async with backend(tmp_path, default, environ) as chat:
        path = "/api/assistant/providers/Mine"
        await chat.client.put("/api/assistant/providers/Other", json={"base_url": CLOSED})
        await chat.client.put(path, json={"base_url": CLOSED, "model": "m"})
        await chat.client.post("/api/chats", json={"id": "c1"})
        set_it = await chat.command(type="set_params", params={"provider": "Mine"})
        assert set_it.status in (200, 202), await set_it.text()
        await chat.client.delete(path)
        error = (await chat.say("My secret workflow")).error
        assert error["code"] == "no_provider" and "Mine" in error["message"]
        assert default.requests == []


async def test_a_gguf_file_that_is_gone_does_not_lead_to_another_model(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    port = int(default.base_url.split(":")[2].split("/")[0])
    environ = {"LLM_GGUF": str(tmp_path / "gone.gguf")}
    async with backend(tmp_path, default, environ) as chat:
        chat.assistant.resolver._discovery = Discovery((UsualPort("Ollama", port),))
        error = await refused(chat, default)
        assert "LLM_GGUF" in error["message"]


async def test_who_chose_nothing_chats_with_the_server_that_runs_here(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    port = int(default.base_url.split(":")[2].split("/")[0])
    async with backend(tmp_path, default, {}) as chat:
        chat.assistant.resolver._discovery = Discovery((UsualPort("Ollama", port),))
        assert (await chat.say("Hi")).text.startswith("word 1")
        assert (await health_of(chat))["problems"] == []


async def test_a_picture_of_an_imported_message_makes_the_provider_load_nothing(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    web = "http://169.254.169.254/latest/meta-data"
    picture = {"type": "file", "mediaType": "image/png", "url": web}
    earlier = [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Look"}, picture]},
        {"id": "a1", "role": "assistant", "parts": [{"type": "text", "text": "A fox."}]},
        {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "Which colour?"}]},
    ]
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    async with backend(tmp_path, default, environ) as chat:
        for identity in ("c1", None):
            body = {"messages": earlier} if identity is None else {"id": "c1", "messages": earlier}
            assert (await chat.post(body)).status == 200
    assert len(default.requests) == 2
    for request in default.requests:
        assert web not in json.dumps(request.body)
        assert "Look" in json.dumps(request.body)


async def test_a_folder_that_cannot_be_used_is_a_problem_and_hides_the_choice_in_it(
    tmp_path: Path, default: ScriptedProvider
) -> None:
    """Its `providers.json` says which provider the user chose."""
    environ = {"OPENAI_BASE_URL": default.base_url, "OPENAI_MODEL": "scripted"}
    async with backend(tmp_path, default, environ, "ASSISTANT_USER_DIR=/a\x00b\n") as chat:
        assert "ASSISTANT_USER_DIR" in (await refused(chat, default))["message"]
        problems = (await health_of(chat))["problems"]
        assert [problem.get("variable") for problem in problems] == [None, "ASSISTANT_USER_DIR"]
