"""The scripted server behaves as other tests expect."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import aiohttp
import pytest
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.stream_events import Finish, TextDelta, Usage
from plugin.tests.providers import ScriptedProvider, text

from .conftest import PatientClient
from .test_client import words

PROGRAM = Path(__file__).resolve().parents[1] / "providers.py"


async def test_scripts_that_nobody_asked_for_fail_the_test() -> None:
    with pytest.raises(AssertionError, match="not asked for"):
        async with ScriptedProvider() as server:
            server.queue("never")


async def test_a_request_without_a_script_fails_the_test(client: PatientClient) -> None:
    with pytest.raises(AssertionError, match="without a script"):
        async with ScriptedProvider() as server:
            await client.ask(Provider("p", server.base_url, "m"))


async def test_a_failing_test_is_not_covered_by_the_server_s_own_complaint() -> None:
    async def fail() -> None:
        async with ScriptedProvider() as server:
            server.queue("never")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()


async def test_a_long_answer_serves_whatever_is_not_scripted(client: PatientClient) -> None:
    async with ScriptedProvider() as server:
        server.long_answer(pause=0)
        server.queue("first")
        provider = Provider("p", server.base_url, "m")
        assert words((await client.ask(provider)).events) == "first"
        long = await client.ask(provider)
    assert len([event for event in long.events if isinstance(event, TextDelta)]) == 400
    assert long.events[-1] == Finish("stop")


async def test_usage_counts_what_begins_like_the_last_request_as_cached(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(text("a"), text("b"))
    usages = [
        event
        for _ in range(2)
        for event in (await client.ask(provider)).events
        if isinstance(event, Usage)
    ]
    assert usages[0].cached_tokens == 0
    assert usages[1].cached_tokens == usages[1].input_tokens


async def test_it_serves_on_its_own_too(client: PatientClient, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"steps": [{"text": "one"}]}]), encoding="utf-8")
    command = [sys.executable, str(PROGRAM), "--script", str(script), "--key", "k-12345678"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        base_url = json.loads(await process.stdout.readline())["base_url"]
        root = base_url.removesuffix("/v1")
        provider = Provider("p", base_url, "m", "k-12345678")
        assert words((await client.ask(provider)).events) == "one"
        async with aiohttp.ClientSession() as session:
            await session.post(f"{root}/script", json=[{"steps": [{"text": "two"}]}])
            assert words((await client.ask(provider)).events) == "two"
            seen = await (await session.get(f"{root}/requests")).json()
    finally:
        process.kill()
        await process.wait()
    assert [request["body"]["model"] for request in seen["requests"]] == ["m", "m"]
    assert seen["waiting"] == 0
