"""Failures of the LLM's server, through `POST /api/chat`: one sentence, the text so far, the end.

Each test is one kind of failure. `tests/llm` tests what a server's wording means; these tests check
what the user gets, and that the chat goes on afterwards.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from plugin.tests.chatting import Chatting, Stream, chatting
from plugin.tests.providers import Script, failure, text, tool_call

if TYPE_CHECKING:
    from llmock.pytest_plugin import LLMock

HALF = "Half an answer"
WORDS = "one two three four five six"
MOST_SECONDS_OF_RETRIES = 30.0
LONGEST_SENTENCE = 300


@pytest.fixture
def waits(chat: Chatting, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries, in seconds; they take no time, but the client's clock shows them."""
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(chat.assistant.client, "_sleep", wait)
    monkeypatch.setattr(chat.assistant.client, "_clock", lambda: sum(waited))
    return waited


async def told(chat: Chatting, stream: Stream, code: str, partial: str = "") -> str:
    """Checks a failed turn from every side; returns its sentence."""
    assert stream.status == 200
    assert stream.types[-2:] == ["message-metadata", "error"]
    assert stream.types.count("error") == 1
    sentence = str(stream.chunks[-1]["errorText"])
    assert stream.error["code"] == code
    assert stream.error["message"] == sentence
    assert stream.error["actions"]
    assert sentence.endswith(".")
    assert len(sentence) < LONGEST_SENTENCE
    assert "Traceback" not in sentence
    assert stream.text == partial
    for kind in ("text", "reasoning"):
        assert len(stream.of(f"{kind}-start")) == len(stream.of(f"{kind}-end"))
    assert stream.types.count("start-step") == stream.types.count("finish-step")
    stored = await chat.stored()
    assert stored["state"] == "error"
    answer = stored["messages"][-1]
    assert answer["metadata"]["error"]["message"] == sentence
    texts = [part["text"] for part in answer["parts"] if part["type"] == "text"]
    assert "".join(texts) == partial
    await goes_on(chat)
    return sentence


async def goes_on(chat: Chatting) -> None:
    """Checks that the chat's next message is answered."""
    chat.provider.queue("Here I am")
    assert (await chat.say("And now?")).text == "Here I am"


async def test_no_provider(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"OPENAI_BASE_URL": "", "OPENAI_MODEL": ""}) as chat:
        stream = await chat.say("Hi")
        assert stream.error["code"] == "no_provider"
        assert stream.error["actions"][0] == "open-settings"
        assert stream.types[-1] == "error"
        assert (await chat.stored())["state"] == "error"


async def test_no_server(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}) as chat:
        chat.assistant.client._sleep = at_once
        stream = await chat.say("Hi")
        assert stream.error["code"] == "unreachable"
        assert "127.0.0.1:9" in stream.error["message"]
        assert stream.types[-1] == "error"


async def at_once(_: float) -> None:
    return


async def test_a_refused_key(chat: Chatting) -> None:
    chat.provider.queue(failure(401, "Incorrect API key provided: sk-abc123456789."))
    sentence = await told(chat, await chat.say("Hi"), "key_refused")
    assert "sk-abc" not in sentence
    stored = str(await chat.stored())
    assert "sk-abc123456789" not in stored


async def test_an_unknown_model(chat: Chatting) -> None:
    chat.provider.queue(failure(404, "The model `scripted` does not exist."))
    sentence = await told(chat, await chat.say("Hi"), "unknown_model")
    assert "scripted" in sentence


async def test_a_rate_limit_is_waited_out_as_long_as_the_server_says(
    chat: Chatting, waits: list[float]
) -> None:
    chat.provider.queue(failure(429, "Slow down", headers={"Retry-After": "7"}), "Hello")
    stream = await chat.say("Hi")
    assert stream.text == "Hello"
    assert waits == [7.0]
    [notice] = stream.of("data-notice")
    assert notice["data"]["code"] == "waiting"


async def test_waits_in_a_row_are_one_line(chat: Chatting, waits: list[float]) -> None:
    limit = failure(429, "Slow down", headers={"Retry-After": "7"})
    chat.provider.queue(limit, limit, "Hello")
    stream = await chat.say("Hi")
    assert waits == [7.0, 7.0]
    notices = [part for part in stream.message.parts if getattr(part, "name", "") == "notice"]
    assert len(notices) == 1


async def test_a_rate_limit_that_lasts_is_given_up_after_half_a_minute(
    chat: Chatting, waits: list[float]
) -> None:
    limit = failure(429, "Slow down", headers={"Retry-After": "9"})
    chat.provider.queue(*[limit] * 4)
    await told(chat, await chat.say("Hi"), "rate_limited")
    assert sum(waits) <= MOST_SECONDS_OF_RETRIES
    assert len(chat.provider.requests) == 5


async def test_a_rate_limit_of_an_hour_is_not_waited_for(
    chat: Chatting, waits: list[float]
) -> None:
    chat.provider.queue(failure(429, "Slow down", headers={"Retry-After": "3600"}))
    sentence = await told(chat, await chat.say("Hi"), "rate_limited")
    assert "60 min" in sentence
    assert waits == []


async def test_a_stop_ends_the_wait_for_a_rate_limit(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = asyncio.Event()

    async def wait(_: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(chat.assistant.client, "_sleep", wait)
    chat.provider.queue(failure(429, "Slow down", headers={"Retry-After": "20"}))
    saying = asyncio.create_task(chat.say("Hi"))
    await waiting.wait()
    await chat.command(type="abort")
    assert (await saying).types[-1] == "abort"
    await goes_on(chat)


async def test_a_server_error_is_tried_again(chat: Chatting, waits: list[float]) -> None:
    chat.provider.queue(failure(503, "Overloaded"), "Hello")
    assert (await chat.say("Hi")).text == "Hello"
    assert len(waits) == 1


async def test_a_server_error_that_lasts(chat: Chatting, waits: list[float]) -> None:
    chat.provider.queue(*[failure(500, "Out of memory")] * 3)
    await told(chat, await chat.say("Hi"), "provider_error")
    assert len(waits) == 2


async def test_a_timeout_before_the_answer(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_TIMEOUT_SECONDS": "1"}) as chat:
        chat.provider.queue(Script([{"wait": "never"}]))
        sentence = await told(chat, await chat.say("Hi"), "timeout")
        assert "LLM_TIMEOUT_SECONDS" in sentence


async def test_a_timeout_within_the_answer(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_TIMEOUT_SECONDS": "1"}) as chat:
        chat.provider.queue(Script([{"text": HALF}, {"wait": "never"}]))
        stream = await chat.say("Hi")
        await told(chat, stream, "timeout", partial=HALF)
        assert stream.error["actions"][0] == "continue"


async def test_a_connection_that_breaks(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": HALF}, {"cut": True}]))
    stream = await chat.say("Hi")
    await told(chat, stream, "cut", partial=HALF)
    assert stream.error["actions"][0] == "continue"
    assert stream.message.metadata["cut"] == "cut"


async def test_a_connection_that_breaks_within_a_call(chat: Chatting) -> None:
    chat.provider.queue(Script([tool_call("getUserSkill", {"slug": "a"}), {"cut": True}]))
    stream = await chat.say("Hi")
    [refused] = stream.of("tool-input-error")
    assert "did not run" in refused["errorText"]
    await told(chat, stream, "cut")
    sent = chat.provider.requests[-1].messages
    assert [message["role"] for message in sent[1:]] == ["user", "assistant", "tool", "user"]


async def test_a_malformed_chunk(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": HALF}, {"raw": "data: {oops\n\n"}]))
    await told(chat, await chat.say("Hi"), "garbage", partial=HALF)


async def test_a_stream_without_its_end(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": HALF}], complete=False))
    stream = await chat.say("Hi")
    await told(chat, stream, "cut", partial=HALF)
    assert "continue" in stream.error["actions"]


@pytest.mark.parametrize(
    "body",
    ["<html>Welcome to the router</html>", "Ollama is running", {"hello": "world"}],
)
async def test_an_answer_that_is_none(chat: Chatting, body: Any) -> None:
    html = {"Content-Type": "text/html"} if isinstance(body, str) else {}
    chat.provider.queue(Script(body=body, headers=html))
    await told(chat, await chat.say("Hi"), "garbage")


async def test_an_empty_answer(chat: Chatting) -> None:
    chat.provider.queue(text("", " \n"))
    await told(chat, await chat.say("Hi"), "empty")


async def test_an_answer_of_thoughts_alone(chat: Chatting) -> None:
    chat.provider.queue(Script([{"reasoning": "Hm."}]))
    stream = await chat.say("Hi")
    assert stream.of("reasoning-delta")
    assert "thought" in await told(chat, stream, "empty")


async def test_a_message_that_the_content_rules_refuse(chat: Chatting) -> None:
    body = {"error": {"message": "The response was filtered", "code": "content_filter"}}
    chat.provider.queue(Script(status=400, body=body))
    await told(chat, await chat.say("Hi"), "content_filter")


async def test_an_answer_that_the_content_rules_end(chat: Chatting) -> None:
    chat.provider.queue(text(HALF, finish="content_filter"))
    await told(chat, await chat.say("Hi"), "content_filter", partial=HALF)


async def test_an_answer_at_its_length_limit_is_whole_but_cut(chat: Chatting) -> None:
    chat.provider.queue(text(HALF, finish="length"))
    stream = await chat.say("Hi")
    assert stream.chunks[-1]["finishReason"] == "length"
    assert stream.message.metadata["cut"] == "length"
    await goes_on(chat)


OVERFLOWS = {
    "OpenAI": (
        400,
        {
            "error": {
                "message": "This model's maximum context length is 8192 tokens. However, your "
                "messages resulted in 9000 tokens. Please reduce the length of the messages.",
                "code": "context_length_exceeded",
            }
        },
    ),
    "llama.cpp": (
        400,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
            }
        },
    ),
    "Ollama": (
        400,
        {"error": {"message": "the input length exceeds the context length", "type": "api_error"}},
    ),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 4096 tokens. However, you requested "
            "5000 tokens (4800 in the messages, 200 in the completion).",
            "code": 400,
        },
    ),
    "LM Studio": (
        400,
        {
            "error": "Trying to keep the first 5000 tokens when context the overflows. However, "
            "the model is loaded with context length of only 4096 tokens, which is not enough."
        },
    ),
    "Anthropic-compatible": (
        400,
        {"type": "error", "error": {"message": "prompt is too long: 213462 tokens > 200000"}},
    ),
}


@pytest.mark.parametrize("server", OVERFLOWS)
async def test_a_chat_that_is_longer_than_the_window(chat: Chatting, server: str) -> None:
    status, body = OVERFLOWS[server]
    chat.provider.queue(Script(status=status, body=body))
    stream = await chat.say("Hi")
    # What does not fit are the rules and tools, which a new chat would have, too.
    assert stream.error["actions"][0] == "choose-model"
    await told(chat, stream, "context_overflow")


ATTACHMENTS = {
    "too large": (
        Script(status=413),
        r"does not take a request as large as this one \(\d+ kB\)",
    ),
    "no sight": (failure(400, "qwen3 is not a multimodal model"), "cannot see pictures"),
    "another kind": (failure(400, "Unsupported image format: tiff"), "does not take this attach"),
}


@pytest.mark.parametrize("why", ATTACHMENTS)
async def test_a_refused_attachment_can_be_removed_and_an_older_one_stays_behind_in_its_chat(
    chat: Chatting, why: str
) -> None:
    refusal, sentence = ATTACHMENTS[why]
    picture = {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AAAA"}
    chat.provider.queue(refusal)
    parts = [picture, {"type": "text", "text": "What is this?"}]
    message = {"id": "picture", "role": "user", "parts": parts}
    stream = await chat.post({"id": "c1", "message": message})
    assert re.search(sentence, stream.error["message"])
    assert sorted(stream.error["actions"]) == ["choose-model", "remove-attachment"]
    chat.provider.queue(refusal)
    later = await chat.say("And now?")
    assert sorted(later.error["actions"]) == ["choose-model", "new-chat"]


async def test_a_limit_of_the_answer_is_not_an_overflow(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_MAX_OUTPUT_TOKENS": "100000"}) as chat:
        message = "max_tokens is too large: 100000. This model supports at most 16384 tokens."
        chat.provider.queue(failure(400, message))
        sentence = await told(chat, await chat.say("Hi"), "output_limit")
        assert "LLM_MAX_OUTPUT_TOKENS" in sentence


async def test_a_message_that_is_larger_than_a_known_window_is_not_sent(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_CONTEXT_WINDOW": "4096"}) as chat:
        stream = await chat.say("word " * 8_000)
        assert stream.error["code"] == "context_overflow"
        assert chat.provider.requests == []


async def test_refused_tools_are_said_and_the_answer_comes_without_them(chat: Chatting) -> None:
    chat.provider.queue(failure(400, "scripted does not support tools"), "Hello")
    stream = await chat.say("Hi")
    assert stream.text == "Hello"
    [notice] = stream.of("data-notice")
    assert notice["data"]["code"] == "tools_refused"
    assert "tools" not in chat.provider.requests[1].body
    assert stream.types.count("start-step") == 1


async def test_tools_that_are_refused_in_mid_answer_do_not_answer_twice(chat: Chatting) -> None:
    refusal = 'data: {"error": {"message": "scripted does not support tools"}}\n\n'
    chat.provider.queue(Script([{"text": HALF}, {"raw": refusal}]))
    stream = await chat.say("Hi")
    assert len(chat.provider.requests) == 1
    await told(chat, stream, "tools_refused", partial=HALF)


async def test_a_failure_in_a_later_round_keeps_the_rounds_before(chat: Chatting) -> None:
    chat.provider.queue(
        Script([{"text": "Let me look. "}, tool_call("listUserSkills")]),
        Script([{"text": HALF}, {"cut": True}]),
    )
    stream = await chat.say("Hi")
    assert stream.of("tool-output-available")
    await told(chat, stream, "cut", partial="Let me look. " + HALF)


async def mocked(folder: Path, llmock: LLMock) -> Stream:
    """A turn against llmock, which makes the faults instead of our scripted provider."""
    environ = {
        "OPENAI_BASE_URL": llmock.base_url(),
        "OPENAI_API_KEY": "k",
        "OPENAI_MODEL": "gpt-4o",
    }
    async with chatting(folder, {**environ, "LLM_TIMEOUT_SECONDS": "2"}) as chat:
        stream = await chat.say("Hi")
        stored = (await chat.stored())["messages"][-1]
        texts = [part["text"] for part in stored["parts"] if part["type"] == "text"]
        assert "".join(texts) == stream.text
        return stream


async def test_llmocks_rate_limit_is_waited_out(tmp_path: Path, llmock: LLMock) -> None:
    llmock.rate_limit(times=1, retry_after=0.1).reply("Hello")
    assert (await mocked(tmp_path, llmock)).text == "Hello"
    llmock.assert_resilient()


async def test_llmocks_dropped_stream_is_told(tmp_path: Path, llmock: LLMock) -> None:
    llmock.disconnect(after_chunks=3).reply(WORDS)
    stream = await mocked(tmp_path, llmock)
    assert stream.error["code"] == "cut"
    assert WORDS.startswith(stream.text)
    assert stream.text


async def test_llmocks_truncated_stream_is_told(tmp_path: Path, llmock: LLMock) -> None:
    llmock.truncate(after_chunks=3).reply(WORDS)
    stream = await mocked(tmp_path, llmock)
    assert stream.error["code"] == "cut"
    assert "continue" in stream.error["actions"]


async def test_llmocks_corrupted_chunk_is_told(tmp_path: Path, llmock: LLMock) -> None:
    llmock.corrupt(after_chunks=3).reply(WORDS)
    assert (await mocked(tmp_path, llmock)).error["code"] == "garbage"


async def test_llmocks_overflow_is_told(tmp_path: Path, llmock: LLMock) -> None:
    llmock.context_overflow()
    assert (await mocked(tmp_path, llmock)).error["code"] == "context_overflow"


async def test_llmocks_refused_key_is_told_at_once(tmp_path: Path, llmock: LLMock) -> None:
    llmock.fail(401, times=None)
    assert (await mocked(tmp_path, llmock)).error["code"] == "key_refused"
    assert len(llmock.requests) == 1


async def test_llmocks_broken_arguments_reach_the_model_as_an_error(
    tmp_path: Path, llmock: LLMock
) -> None:
    llmock.break_tool_call("malformed_arguments").call_tool("getUserSkill", {"slug": "a"}, times=1)
    stream = await mocked(tmp_path, llmock)
    [refused] = stream.of("tool-input-error")
    assert "no valid JSON" in refused["errorText"]
    assert stream.types[-1] == "finish"
    assert stream.text
