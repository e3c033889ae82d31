"""How many clients there are for the requests of one server."""

import asyncio
import importlib
from typing import Any

import pytest
from plugin.assistant.llm import openai_clients
from plugin.assistant.llm.connection import Connections
from plugin.assistant.llm.openai_clients import AT_ONCE, MOST_CLIENTS, OpenAIClients
from plugin.assistant.llm.provider import Provider
from plugin.tests.providers import Script, ScriptedProvider

from .conftest import PatientClient


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The library's clients that were made."""
    made: list[Any] = []
    make = Connections._make

    def noted(*arguments: Any) -> Any:
        made.append(make(*arguments))
        return made[-1]

    monkeypatch.setattr(Connections, "_make", noted)
    return made


async def ask_at_once(
    client: PatientClient, server: ScriptedProvider, provider: Provider, count: int
) -> None:
    """Requests that are all open at a time, until the last has come."""
    names = [f"{number} of {count}" for number in range(count)]
    server.queue(*(Script([{"text": "ok"}, {"wait": name}]) for name in names))
    asking = [asyncio.create_task(client.ask(provider)) for _ in names]
    for name in names:
        await server.reached(name)
    for name in names:
        server.release(name)
    answers = await asyncio.gather(*asking)
    assert all(answer.error is None for answer in answers)


async def test_requests_one_after_another_use_one_client(
    client: PatientClient, server: ScriptedProvider, provider: Provider, made: list[Any]
) -> None:
    server.queue("a", "b", Script(status=500, body={}), "c")
    for _ in range(3):
        await client.ask(provider)
    assert len(made) == 1


async def test_many_requests_at_once_use_several_clients(
    client: PatientClient, server: ScriptedProvider, provider: Provider, made: list[Any]
) -> None:
    await ask_at_once(client, server, provider, 2 * AT_ONCE + 1)
    assert len(made) == 3
    await ask_at_once(client, server, provider, 2 * AT_ONCE)
    assert len(made) == 3


async def test_a_client_that_nobody_uses_is_closed(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    made: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await ask_at_once(client, server, provider, 2 * AT_ONCE + 1)
    assert not any(one.is_closed() for one in made)
    monkeypatch.setattr(openai_clients, "UNUSED_SECONDS", -1.0)
    server.queue("alone")
    await client.ask(provider)
    assert [one.is_closed() for one in made] == [False, True, True]


def test_the_clients_share_what_is_too_much() -> None:
    clients = OpenAIClients()
    for _ in range(MOST_CLIENTS):
        assert clients.free() is None
        clients.add(None).requests = AT_ONCE + 1
    quiet = clients.free()
    assert quiet is not None
    quiet.requests = AT_ONCE
    assert clients.free() is quiet


async def test_a_library_that_is_missing_is_named(
    client: PatientClient, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_openai(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", without_openai)
    error = (await client.ask(provider)).error
    assert error is not None
    assert error.code == "not_installed"
    assert "package openai is missing" in error.message
    assert "requirements.txt" in error.message
