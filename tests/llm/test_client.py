"""The client over real HTTP: requests, retries, errors, closing the connection."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
import traceback
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from plugin.assistant.config import Settings
from plugin.assistant.errors import ContextOverflow, ProviderError, ToolsRefused
from plugin.assistant.llm.client import MOST_SECONDS_OF_RETRIES
from plugin.assistant.llm.connection import Chunks, _let_end
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.request import LLMRequest
from plugin.assistant.llm.stream_events import (
    Finish,
    ModelName,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolCallStart,
    Usage,
)
from plugin.assistant.messages.prompt import PromptMessage
from plugin.tests.providers import Script, ScriptedProvider, failure, text, tool_call

from .conftest import ASK, KEY, PatientClient, Serve

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
WITH_TOOLS = replace(ASK, tools=(TOOL,))
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def words(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_answer_comes_as_events_and_ends_with_finish(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(text("Hel", "lo", usage={"prompt_tokens": 5, "completion_tokens": 2}))
    answer = await client.ask(provider)
    assert answer.events == [
        ModelName("scripted"),
        TextDelta("Hel"),
        TextDelta("lo"),
        Usage(5, 2),
        Finish("stop"),
    ]


async def test_events_come_while_the_server_is_still_answering(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "first"}, {"wait": "more"}, {"text": "second"}]))
    async with contextlib.aclosing(client.stream(provider, ASK)) as events:
        seen = [await events.__anext__(), await events.__anext__()]
        assert seen[-1] == TextDelta("first")
        server.release("more")
        assert words([event async for event in events]) == "second"


async def test_the_body_is_canonical_and_asks_for_usage(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("a", "b")
    request = LLMRequest(
        (PromptMessage("system", "Be brief."), PromptMessage("user", "Hi")),
        tools=(TOOL,),
        temperature=0.5,
        max_output_tokens=100,
        reasoning_effort="low",
        seed=7,
    )
    await client.ask(provider, request)
    await client.ask(provider, request)
    first, second = (list(seen.body.items()) for seen in server.requests)
    assert first == second
    assert dict(first) == {
        "model": "scripted",
        "tools": [TOOL],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "max_tokens": 100,
        "reasoning_effort": "low",
        "seed": 7,
    }


async def test_what_is_not_set_is_not_sent(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("a")
    await client.ask(provider)
    assert set(server.requests[0].body) == {"model", "messages", "stream", "stream_options"}


async def test_the_key_is_sent_to_its_own_provider(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue("a")
    await client.ask(provider)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_nothing_of_the_environment_goes_to_another_provider(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"environment-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    server.queue("a")
    await client.ask(replace(provider, api_key=""))
    headers = server.requests[0].headers
    assert "authorization" not in headers
    assert not [value for value in headers.values() if "environment-" in value]


async def test_a_loopback_server_is_asked_without_the_proxy_of_the_environment(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server.queue("a")
    assert (await client.ask(provider)).error is None


async def test_tool_calls_reasoning_and_think_tags_arrive_from_the_wire(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"reasoning": "hm"}, {"text": "<think>so</think>"}, tool_call("look")]))
    events = (await client.ask(provider, WITH_TOOLS)).events
    assert ReasoningDelta("hm", "reasoning_content") in events
    assert ReasoningDelta("so", "think") in events
    assert ToolCallStart(0, "call_1_0", "look") in events
    assert events[-1] == Finish("tool-calls")


async def test_a_made_id_is_the_same_for_the_same_request_only(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    call = {"function": {"name": "look", "arguments": "{}"}}
    chunk = {"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}
    server.queue(*[Script([{"chunk": chunk}], complete=False)] * 3)
    other = replace(WITH_TOOLS, seed=1)
    answers = [await client.ask(provider, request) for request in (WITH_TOOLS, WITH_TOOLS, other)]
    ids = [e.id for a in answers for e in a.events if isinstance(e, ToolCallStart)]
    assert ids[0] == ids[1] != ids[2]


async def test_a_server_that_does_not_stream_works_too(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "Hi"}, tool_call("look", {"a": 1})], as_json=True))
    events = (await client.ask(provider, WITH_TOOLS)).events
    assert words(events) == "Hi"
    assert events[-1] == Finish("tool-calls")


async def test_a_stream_that_its_server_never_closes_ends_after_a_moment(
    server: ScriptedProvider, provider: Provider
) -> None:
    client = PatientClient(grace_seconds=0.05)
    finish = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    server.queue(Script([{"chunk": finish}, {"wait": "never"}], complete=False))
    assert (await client.ask(provider)).events == [TextDelta("x"), Finish("stop")]
    await client.close()


# Failures, and the sentence of each.


async def test_no_server_is_told_with_what_to_do(client: PatientClient) -> None:
    answer = await client.ask(Provider("off", "http://127.0.0.1:1/v1", "m"))
    assert answer.failure.code == "unreachable"
    assert "http://127.0.0.1:1" in answer.failure.message
    assert client.waits == [1.0]


async def test_a_refused_key_is_told_without_the_key(
    client: PatientClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with ScriptedProvider(key="the-right-key") as server:
        answer = await client.ask(Provider("p", server.base_url, "m", KEY))
    error = answer.failure
    assert error.code == "key_refused"
    assert error.actions[0] == "enter-key"
    shown = f"{error!r} {error.detail} {''.join(traceback.format_exception(error))} {caplog.text}"
    assert KEY not in shown
    assert client.waits == []


@pytest.mark.parametrize("key", ["sk-with\nnewline", "sk-ключ", "sk with space", "sk-\x00"])
def test_a_key_never_shows_in_the_repr_of_a_provider(key: str) -> None:
    assert key not in repr(Provider("p", "http://127.0.0.1/v1", "m", key))


@pytest.mark.parametrize("key", ["sk-with\nnewline", "sk-ключ", "sk with space", "sk-\x00"])
async def test_a_key_that_cannot_be_sent_is_told_before_sending(
    client: PatientClient, provider: Provider, key: str
) -> None:
    error = (await client.ask(replace(provider, api_key=key))).failure
    assert error.code == "key_refused"
    assert key not in error.message + error.detail


async def test_an_unknown_model_is_told(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(404, "model 'scripted' not found"))
    assert (await client.ask(provider)).failure.code == "unknown_model"


async def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(429, "slow down", headers={"Retry-After": "5"}), "Hi")
    answer = await client.ask(provider)
    assert client.waits == [5.0]
    notice = answer.events[0]
    assert isinstance(notice, Notice)
    assert notice.code == "waiting"
    assert "5 s" in notice.message
    assert words(answer.events) == "Hi"


@pytest.mark.parametrize(
    ("status", "words_of_server", "happened", "advice"),
    [
        (429, "slow down", "gets more requests than it allows for this key", "try again later"),
        (500, "oops", "failed with an error of its own (status 500)", "try again"),
        (503, "loading model", "is still loading scripted", "try again in a moment"),
        (0, "oops", "reported an error", "its own words are below"),
    ],
)
async def test_the_advice_comes_after_the_last_try_and_not_while_another_one_is_made(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    status: int,
    words_of_server: str,
    happened: str,
    advice: str,
) -> None:
    if status:
        one: Script = failure(status, words_of_server, headers={"Retry-After": "12"})
    else:
        one = Script([{"raw": f'data: {{"error": {{"message": "{words_of_server}"}}}}\n\n'}])
    server.queue(*[one] * 3)
    answer = await client.ask(provider)
    notices = [event.message for event in answer.events if isinstance(event, Notice)]
    assert notices
    for notice in notices:
        assert f" {happened}." in notice
        assert advice not in notice
    assert f"{happened}: {advice}." in answer.failure.message


async def test_waiting_never_takes_more_than_thirty_seconds_in_all(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(*[failure(429, "slow down", headers={"Retry-After": "12"})] * 3)
    error = (await client.ask(provider)).failure
    assert error.code == "rate_limited"
    assert client.waits == [12.0, 12.0]
    assert sum(client.waits) <= MOST_SECONDS_OF_RETRIES


async def test_a_longer_wait_than_we_take_is_told_at_once(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(429, "slow down", headers={"Retry-After": "90"}))
    error = (await client.ask(provider)).failure
    assert client.waits == []
    assert error.retry_after == 90.0
    assert "90 s" in error.message


async def test_an_account_without_credit_is_not_asked_again(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(429, "You exceeded your current quota"))
    assert (await client.ask(provider)).failure.code == "no_credit"
    assert client.waits == []


async def test_a_server_s_own_error_is_retried_with_growing_waits_then_told(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(*[failure(500, "boom")] * 3)
    error = (await client.ask(provider)).failure
    assert error.code == "provider_error"
    assert error.detail == "boom"
    assert client.waits == [1.0, 2.0]


async def test_a_server_that_recovers_is_not_noticed(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(502, "bad gateway"), "Hi")
    answer = await client.ask(provider)
    assert words(answer.events) == "Hi"
    assert not [event for event in answer.events if isinstance(event, Notice)]


async def test_a_server_that_loads_its_model_is_waited_for(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(*[failure(503, "Loading model")] * 5, "Hi")
    assert words((await client.ask(provider)).events) == "Hi"
    assert client.waits == [2.0] * 5


async def test_silence_before_the_answer_is_told(silent_server: str) -> None:
    client = PatientClient(Settings(timeout_seconds=0.1))
    error = (await client.ask(Provider("p", silent_server, "m"))).failure
    assert error.code == "timeout"
    assert "did not answer" in error.message
    assert client.waits == []
    await client.close()


async def test_silence_within_the_answer_keeps_what_came(
    server: ScriptedProvider, provider: Provider
) -> None:
    client = PatientClient(Settings(timeout_seconds=0.2))
    server.queue(Script([{"text": "half"}, {"wait": "never"}]))
    answer = await client.ask(provider)
    assert words(answer.events) == "half"
    assert answer.failure.code == "timeout"
    assert answer.failure.actions[0] == "continue"
    await client.close()


async def test_a_connection_that_breaks_keeps_what_came_and_offers_to_continue(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "half"}, {"cut": True}]))
    answer = await client.ask(provider)
    assert words(answer.events) == "half"
    assert answer.failure.code == "cut"
    assert answer.failure.actions[0] == "continue"
    assert client.waits == []


async def test_text_held_back_for_a_tag_is_not_lost_when_the_connection_breaks(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "<thi"}, {"cut": True}]))
    answer = await client.ask(provider)
    assert words(answer.events) == "<thi"
    assert answer.failure.code == "cut"


async def test_a_connection_that_breaks_before_the_answer_is_tried_once_more(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"cut": True}]), "Hi")
    assert words((await client.ask(provider)).events) == "Hi"


async def test_a_stream_without_a_finish_reason_is_cut(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "half"}, {"raw": "data: [DONE]\n\n"}], complete=False))
    answer = await client.ask(provider)
    assert words(answer.events) == "half"
    assert answer.failure.code == "cut"


async def test_a_break_after_the_finish_reason_is_a_whole_answer(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    finish = {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}
    server.queue(Script([{"chunk": finish}, {"cut": True}]))
    assert (await client.ask(provider)).events == [TextDelta("x"), Finish("stop")]


@pytest.mark.parametrize("raw", ['data: {"choices": [\n\n', "data: nonsense\n\n", "data: 7\n\n"])
async def test_a_malformed_chunk_keeps_what_came(
    client: PatientClient, server: ScriptedProvider, provider: Provider, raw: str
) -> None:
    server.queue(Script([{"text": "half"}, {"raw": raw}]))
    answer = await client.ask(provider)
    assert words(answer.events) == "half"
    assert answer.failure.code == "garbage"
    assert answer.failure.actions[0] == "continue"


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "upstream is overloaded", "code": 502}},
        {"error": {"message": "upstream is overloaded", "code": 502}, "choices": []},
        {"error": "upstream is overloaded"},
    ],
)
async def test_an_error_inside_the_stream_keeps_what_came(
    client: PatientClient, server: ScriptedProvider, provider: Provider, chunk: Any
) -> None:
    server.queue(Script([{"text": "half"}, {"chunk": chunk}]))
    answer = await client.ask(provider)
    assert words(answer.events) == "half"
    assert answer.failure.code == "provider_error"
    assert "upstream is overloaded" in answer.failure.detail


async def test_an_error_as_the_first_chunk_is_retried_like_a_status(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    chunk = {"error": {"message": "Rate limit exceeded", "code": 429}}
    server.queue(Script([{"chunk": chunk}], complete=False), "Hi")
    assert words((await client.ask(provider)).events) == "Hi"
    assert client.waits == [1.0]


async def test_a_finish_reason_of_error_is_an_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(text("half", finish="error"))
    answer = await client.ask(provider)
    assert answer.failure.code == "provider_error"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("<html>Welcome</html>", "text/html"), ("", "text/event-stream"), ("hello", "text/plain")],
)
async def test_a_200_that_is_no_answer_is_garbage(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    body: str,
    content_type: str,
) -> None:
    server.queue(Script(body=body, headers={"Content-Type": content_type}))
    error = (await client.ask(provider)).failure
    assert error.code == "garbage"
    assert "/v1" in error.message


@pytest.mark.parametrize("body", [{}, {"status": "ok"}, [1, 2], {"choices": "none"}])
async def test_json_that_is_no_answer_is_garbage(
    client: PatientClient, server: ScriptedProvider, provider: Provider, body: Any
) -> None:
    server.queue(Script(body=body))
    assert (await client.ask(provider)).failure.code == "garbage"


async def test_an_error_with_status_200_is_an_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script(body={"error": {"message": "model 'scripted' not found"}}))
    assert (await client.ask(provider)).failure.code == "unknown_model"


async def test_an_empty_answer_is_told(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(text("", " \n"))
    assert (await client.ask(provider)).failure.code == "empty"


async def test_an_answer_of_reasoning_alone_is_not_empty(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(text("<think>only this"))
    answer = await client.ask(provider)
    assert ReasoningDelta("only this", "think") in answer.events
    assert answer.events[-1] == Finish("stop")


@pytest.mark.parametrize(
    ("word", "reason"), [("content_filter", "content-filter"), ("length", "length")]
)
async def test_a_filtered_or_full_answer_finishes_as_such_even_when_empty(
    client: PatientClient, server: ScriptedProvider, provider: Provider, word: str, reason: str
) -> None:
    server.queue(Script([], finish=word))
    answer = await client.ask(provider)
    assert answer.error is None
    assert answer.events[-1] == Finish(reason)  # type: ignore[arg-type]


async def test_an_overflow_is_its_own_kind_of_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(400, "prompt is too long: 213462 tokens > 200000 maximum"))
    assert isinstance((await client.ask(provider)).failure, ContextOverflow)


async def test_refused_tools_are_their_own_kind_of_error(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(400, "gemma does not support tools"))
    assert isinstance((await client.ask(provider, WITH_TOOLS)).failure, ToolsRefused)


async def test_a_redirect_is_not_followed(client: PatientClient, server: ScriptedProvider) -> None:
    async def elsewhere(request: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": f"{server.base_url}/chat/completions"})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", elsewhere)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    moved = Provider("p", f"http://127.0.0.1:{runner.addresses[0][1]}/v1", "m", KEY)
    error = (await client.ask(moved)).failure
    await runner.cleanup()
    assert error.code == "unreachable"
    assert "another address" in error.message
    assert server.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\nContent-Type: application/json\r\n\r\n{",
        STREAM_HEAD + b"data: \xff\xfe\n\n",
        STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + b"no gzip",
    ],
)
async def test_broken_http_is_an_error_with_a_sentence(
    client: PatientClient, serve_bytes: Serve, answer: bytes
) -> None:
    error = (await client.ask(Provider("p", await serve_bytes(answer), "m"))).failure
    assert error.code in ("cut", "garbage", "unreachable")


async def test_a_stream_split_at_every_byte_reads_the_same(
    client: PatientClient, serve_bytes: Serve
) -> None:
    event = 'data: {"choices": [{"delta": {"content": "ü€𝄞"}, "finish_reason": "stop"}]}\r\n\r\n'
    body = (": keep-alive\n\n" + event + "data: [DONE]\n\n").encode()
    head = STREAM_HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n")
    pieces = b"".join(b"1\r\n" + body[i : i + 1] + b"\r\n" for i in range(len(body)))
    url = await serve_bytes(head + pieces + b"0\r\n\r\n")
    assert words((await client.ask(Provider("p", url, "m"))).events) == "ü€𝄞"


# Settings that a server refuses.


async def test_a_renamed_limit_is_sent_under_the_name_that_is_wanted(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    wanted = "Unsupported parameter: 'max_tokens' is not supported with this model. "
    server.queue(failure(400, wanted + "Use 'max_completion_tokens' instead."), "Hi")
    answer = await client.ask(provider, replace(ASK, max_output_tokens=50))
    assert server.requests[1].body["max_completion_tokens"] == 50
    assert "max_tokens" not in server.requests[1].body
    assert words(answer.events) == "Hi"
    assert not [event for event in answer.events if isinstance(event, Notice)]


async def test_a_refused_temperature_is_left_out_and_told(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    wanted = "Unsupported value: 'temperature' does not support 0.2 with this model."
    server.queue(failure(400, wanted), "Hi")
    answer = await client.ask(provider, replace(ASK, temperature=0.2))
    assert "temperature" not in server.requests[1].body
    assert (
        Notice("setting_left_out", "scripted takes no temperature; it was left out.")
        in answer.events
    )


async def test_another_bad_request_is_not_sent_again(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(failure(400, "messages: must alternate"))
    error = (await client.ask(provider, replace(ASK, temperature=0.2))).failure
    assert error.code == "bad_request"
    assert error.detail == "messages: must alternate"


# Closing the connection.


async def test_closing_the_answer_hangs_up(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(Script([{"text": "half"}, {"wait": "never"}]))
    async with contextlib.aclosing(client.stream(provider, ASK)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    await server.client_left()


@pytest.mark.parametrize("steps", [[{"wait": "here"}], [{"text": "half"}, {"wait": "here"}]])
async def test_cancelling_the_task_hangs_up(
    client: PatientClient, server: ScriptedProvider, provider: Provider, steps: list[Any]
) -> None:
    server.queue(Script(steps))
    task = asyncio.create_task(client.ask(provider))
    await server.reached("here")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.client_left()


async def test_a_waiting_retry_can_be_cancelled(
    server: ScriptedProvider, provider: Provider
) -> None:
    waiting = asyncio.Event()

    class StuckClient(PatientClient):
        async def _wait(self, seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

    client = StuckClient()
    server.queue(failure(500, "boom"))
    task = asyncio.create_task(client.ask(provider))
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await client.close()


async def test_many_answers_at_once_do_not_mix(
    client: PatientClient, server: ScriptedProvider, provider: Provider
) -> None:
    server.queue(*(text(*[f"{number} "] * 20) for number in range(20)))
    answers = await asyncio.gather(*(client.ask(provider) for _ in range(20)))
    seen = sorted(words(answer.events) for answer in answers)
    assert seen == sorted(f"{number} " * 20 for number in range(20))


async def test_an_error_of_our_own_making_is_not_blamed_on_the_server(
    client: PatientClient, provider: Provider
) -> None:
    class NoJson:
        pass

    request = replace(ASK, tools=({"type": NoJson()},))
    with pytest.raises(TypeError):
        await client.ask(provider, request)


async def test_a_failing_prepare_gives_the_user_its_error(provider: Provider) -> None:
    async def prepare(provider: Provider) -> Provider:
        raise ProviderError("The file is gone.", code="no_provider")

    client = PatientClient()
    client._prepare = prepare
    assert (await client.ask(provider)).failure.message == "The file is gone."
    await client.close()


def test_importing_the_package_does_not_import_openai() -> None:
    import subprocess
    from pathlib import Path

    root = Path(__file__).resolve().parents[2]
    code = (
        "import sys; from bootstrap import register; register(); import plugin.assistant.llm;"
        "raise SystemExit('openai' in sys.modules or 'httpx' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root / "scripts", check=False)
    assert done.returncode == 0


async def test_a_stop_while_the_answer_ends_leaves_no_lost_exception(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wait after the finish reason is cancelled while the connection ends by itself."""
    lost: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: lost.append(about))
    waiting = asyncio.Event()

    async def read(self: Chunks) -> Any:
        yield {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
        try:
            waiting.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    monkeypatch.setattr(Chunks, "read", read)
    server.queue("Hi")

    async def consume() -> None:
        async for _ in client.stream(provider, ASK):
            pass

    consuming = asyncio.create_task(consume())
    await waiting.wait()
    consuming.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await consuming
    del consuming
    gc.collect()
    await asyncio.sleep(0)
    assert lost == []


@pytest.mark.parametrize("more", [True, False])
async def test_a_stop_while_the_last_chunk_comes_is_not_lost(
    client: PatientClient,
    server: ScriptedProvider,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    more: bool,
) -> None:
    async def read(self: Chunks) -> Any:
        yield {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
        consuming.cancel()
        if more:
            yield {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}

    monkeypatch.setattr(Chunks, "read", read)
    server.queue("Hi")
    consuming = asyncio.create_task(client.ask(provider))
    with pytest.raises(asyncio.CancelledError):
        await consuming


async def test_a_stop_while_the_connection_ends_is_not_lost() -> None:
    async def rest() -> AsyncIterator[bytes]:
        ending.cancel()
        yield b""

    ending = asyncio.create_task(_let_end(rest()))
    with pytest.raises(asyncio.CancelledError):
        await ending
