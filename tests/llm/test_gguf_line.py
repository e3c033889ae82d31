"""A model that we serve answers one request at a time, says who waits, and is replaced when it
hangs. A stand-in (`gguf_program.py`) serves instead of llama.cpp."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.llm import gguf
from plugin.assistant.llm.client import Client
from plugin.assistant.llm.gguf import GgufModel, GgufServer
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.stream_events import Notice, TextDelta
from plugin.tests.chatting import client_of, read_stream

from .conftest import ASK, Answer, answer_of

LONG_SECONDS = 20.0


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf, "PROGRAM", Path(__file__).with_name("gguf_program.py"))
    monkeypatch.setattr(gguf, "_found", lambda package: ModuleSpec(package, None))


class Served:
    """A model that is served by the stand-in, and a client for it."""

    def __init__(self, file: Path, timeout: float) -> None:
        self.file = file
        self.server = GgufServer(GgufModel("Slow model", "slow", file, "gguf", 4_096))
        self.client = Client(
            Settings(timeout_seconds=timeout), prepare=self._ready, place_of=self._place
        )

    async def _ready(self, _: Provider) -> Provider:
        return await self.server.ready()

    def _place(self, _: Provider) -> gguf.ModelPlace:
        return self.server.join()

    async def ask(self) -> Answer:
        return await answer_of(self.client, self.server.known, ASK)

    def requests(self) -> list[list[str]]:
        """For each request that has come: process id, requests at a time, most tokens."""
        lines = self.file.with_suffix(".log").read_text(encoding="utf-8").splitlines()
        return [line.split() for line in lines]


Serve = Callable[..., Served]


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    made: list[Served] = []

    def serve_as(*, timeout: float = LONG_SECONDS, **behaviour: Any) -> Served:
        file = tmp_path / "model.gguf"
        file.write_text(json.dumps(behaviour), encoding="utf-8")
        made.append(Served(file, timeout))
        return made[-1]

    yield serve_as
    for served in made:
        await served.client.close()
        await served.server.close()


def notices(answer: Answer) -> list[str]:
    return [event.message for event in answer.events if isinstance(event, Notice)]


async def test_requests_come_one_at_a_time_and_say_how_many_are_before(serve: Serve) -> None:
    served = serve(seconds=0.3)
    answers = await asyncio.gather(*(served.ask() for _ in range(4)))
    assert [answer.error for answer in answers] == [None] * 4
    assert all(TextDelta("Hello") in answer.events for answer in answers)
    assert [at_a_time for _, at_a_time, _ in served.requests()] == ["1"] * 4
    assert notices(answers[0]) == []
    assert notices(answers[2]) == [
        "Slow model answers one request at a time: 2 others are before yours.",
        "Slow model answers one request at a time: 1 other is before yours.",
    ]


async def test_waiting_is_no_silence_of_the_server(serve: Serve) -> None:
    """Twenty chats at once: the last one waits far longer than the timeout."""
    served = serve(seconds=0.3, timeout=1.5)
    answers = await asyncio.gather(*(served.ask() for _ in range(8)))
    assert [answer.error for answer in answers] == [None] * 8


async def test_a_request_that_is_given_up_leaves_the_line(serve: Serve) -> None:
    served = serve(seconds=0.3)
    first, second, third = (asyncio.create_task(served.ask()) for _ in range(3))
    await asyncio.sleep(0.1)
    second.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await second
    assert (await first).error is None
    assert (await asyncio.wait_for(third, LONG_SECONDS)).error is None
    assert len(served.requests()) == 2


async def test_a_server_that_hangs_is_replaced(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf, "LONGEST_SIGN_OF_LIFE_SECONDS", 0.5)
    served = serve(hangs=1, timeout=0.5)
    waiting = [asyncio.create_task(served.ask()) for _ in range(2)]
    first, second = await asyncio.gather(*waiting)
    assert first.failure.code == "timeout"
    assert second.error is None
    processes = [process for process, *_ in served.requests()]
    assert processes[0] != processes[-1]


async def test_a_server_that_is_only_slow_is_kept(serve: Serve) -> None:
    served = serve(seconds=1.5, timeout=0.5)
    assert (await served.ask()).failure.code == "timeout"
    first = (await served.server.ready()).base_url
    assert (await served.ask()).failure.code == "timeout"
    assert (await served.server.ready()).base_url == first
    assert len({process for process, *_ in served.requests()}) == 1


async def test_closing_in_the_middle_of_a_check_ends_the_process(serve: Serve) -> None:
    served = serve(hangs=1, timeout=0.5)
    assert (await served.ask()).failure.code == "timeout"
    await asyncio.wait_for(served.server.close(), LONG_SECONDS)


def test_only_the_demo_model_has_a_longest_answer(tmp_path: Path) -> None:
    assert gguf.demo_model().most_tokens == gguf.DEMO_ANSWER_TOKENS
    assert gguf.gguf_model(tmp_path / "model.gguf", None).most_tokens is None


async def test_the_program_is_told_the_longest_answer(serve: Serve) -> None:
    served = serve()
    assert (await served.ask()).error is None
    (order,) = served.file.with_suffix(".starts").read_text(encoding="utf-8").splitlines()
    assert json.loads(order)["n_predict"] == -1


async def test_people_see_that_they_wait(tmp_path: Path) -> None:
    """Over HTTP: three chats at once, each answered, with a notice that stays with its answer."""
    file = tmp_path / "model.gguf"
    file.write_text(json.dumps({"seconds": 0.3}), encoding="utf-8")
    environ = {"LLM_GGUF": str(file), "ASSISTANT_DISCOVER": "0"}
    async with client_of(tmp_path, environ) as client:

        async def say(chat: str) -> Any:
            message = {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hi"}]}
            async with client.post("/api/chat", json={"id": chat, "message": message}) as response:
                return await read_stream(response)

        streams = await asyncio.gather(*map(say, ("a", "b", "c")))
    assert [stream.text for stream in streams] == ["Hello"] * 3
    waited = [chunk["data"] for stream in streams for chunk in stream.of("data-notice")]
    assert {data["code"] for data in waited} == {"waiting"}
    assert any("2 others are before yours" in data["message"] for data in waited)
