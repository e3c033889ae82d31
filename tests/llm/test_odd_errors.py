"""Errors of a provider in forms that no provider should send: each is one `ProviderError`, and a
turn writes one line about it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.llm.provider import Provider
from plugin.tests.chatting import chatting
from plugin.tests.providers import Script, ScriptedProvider

from .conftest import PatientClient, Serve


@pytest.fixture
async def client() -> AsyncIterator[PatientClient]:
    client = PatientClient(Settings(timeout_seconds=1.0))
    yield client
    await client.close()


ODD: list[Any] = [
    {"error": {"message": "no", "code": 1301}},
    {"error": {"message": "no", "code": -1}},
    {"error": {"message": "no", "code": 10**40}},
    {"error": {"message": None, "code": None, "type": {"a": [1]}}},
    {"error": ["no", 1]},
    {"error": 7},
    {"error": True},
    {"error": {}, "detail": "no"},
    {"error": {"message": "no", "metadata": {"raw": "x"}, "code": True}},
    {"error": {"message": "\ud800 \x00", "code": "x" * 100_000}},
]


@pytest.mark.parametrize("error", ODD)
@pytest.mark.parametrize("whole", [True, False])
async def test_an_odd_error_in_an_answer_is_a_provider_s_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider, error: Any, whole: bool
) -> None:
    body = Script(body=error) if whole else Script([{"chunk": error}], complete=False)
    for _ in range(8):
        server.queue(body)
    answer = await client.ask(provider)
    server._scripts.clear()
    assert answer.failure.code in ("provider_error", "bad_request", "garbage", "cut")


@pytest.mark.parametrize("error", ODD)
@pytest.mark.parametrize("status", [400, 418, 500, 599])
async def test_an_odd_refusal_is_a_provider_s_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider, error: Any, status: int
) -> None:
    for _ in range(8):
        server.queue(Script(status=status, body=error))
    answer = await client.ask(provider)
    server._scripts.clear()
    assert answer.error is not None


@pytest.mark.parametrize("status", [b"HTTP/1.1 999 No", b"HTTP/1.1 600 No", b"HTTP/1.1 100 Go on"])
async def test_an_odd_status_is_a_provider_s_error(
    client: PatientClient, serve_bytes: Serve, status: bytes
) -> None:
    base_url = await serve_bytes(status + b"\r\nContent-Length: 2\r\n\r\n{}")
    answer = await client.ask(Provider("odd", base_url, "m"))
    assert answer.error is not None


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Type: text/event-stream\r\nContent-Encoding: gzip",
        b"Content-Type: application/json\r\nContent-Encoding: gzip",
        b"Content-Type: application/json\r\nContent-Encoding: br, gzip, deflate",
        b"Content-Type: text/html\r\nContent-Encoding: deflate",
        b"Content-Type: application/json; charset=utf-16-nothing",
        b"Retry-After: 1e400\r\nContent-Type: application/json",
        b"Transfer-Encoding: chunked",
        b"Content-Type: text/event-stream; charset=\xff",
    ],
)
@pytest.mark.parametrize("status", [b"200 OK", b"400 No", b"503 No"])
async def test_a_broken_body_is_a_provider_s_error(
    client: PatientClient, serve_bytes: Serve, headers: bytes, status: bytes
) -> None:
    body = b"zz not what the headers say"
    length = b"" if b"chunked" in headers else b"\r\nContent-Length: %d" % len(body)
    base_url = await serve_bytes(
        b"HTTP/1.1 " + status + b"\r\n" + headers + length + b"\r\n\r\n" + body
    )
    answer = await client.ask(Provider("odd", base_url, "m"))
    assert answer.error is not None


@pytest.mark.parametrize("depth", [100_000])
async def test_a_deeply_nested_answer_is_a_provider_s_error(
    client: PatientClient, serve_bytes: Serve, depth: int
) -> None:
    body = b'{"error": ' + b"[" * depth + b"]" * depth + b"}"
    for status in (b"200 OK", b"400 No"):
        head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\nContent-Length: %d"
        base_url = await serve_bytes(head % len(body) + b"\r\n\r\n" + body)
        answer = await client.ask(Provider("odd", base_url, "m"))
        assert answer.error is not None


async def test_a_provider_s_fault_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with chatting(tmp_path) as chat:
        odd = {"chunk": {"error": {"message": "no", "code": 1301}}}
        chat.provider.queue(Script([{"text": "Well"}, odd], complete=False))
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            error = (await chat.say("Hi")).error
    assert error["code"] == "provider_error"
    lines = [r for r in caplog.records if r.name == "comfyui_assistant"]
    assert [(line.levelname, line.exc_info) for line in lines] == [("WARNING", None)]
