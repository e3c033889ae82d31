"""A provider that sends too much, or what nobody sends: the loop goes on, the answer ends with one
sentence, and what came until then is kept.

Each test runs the whole product, from a client's request to the stored answer. The bounds of stalls
are generous; what the tests guard against takes many times as long, or never ends.
"""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.llm import chunk_reader, silence
from plugin.tests.chatting import Chatting, Stream, chatting, chunks_of
from plugin.tests.hostile import (
    END,
    LONGEST_STALL,
    HostileServer,
    Ticks,
    delta,
    endless,
    event,
    head,
    hostile,
)

KB, MB = 1024, 1024 * 1024
MOST_SECONDS = 60
"""A hostile answer has ended after so many seconds, however slow the machine is."""
CALL = {"type": "function", "function": {"name": "listUserSkills", "arguments": "{}"}}


async def say(chat: Chatting) -> tuple[Stream, float]:
    """The answer to a message, and the longest stall of the loop until its last byte."""
    body = {"message": chat.user("Hi"), "id": "c1"}

    async def ask() -> Stream:
        async with chat.client.post("/api/chat", json=body) as response:
            return Stream(response.status, await response.read(), response.headers)

    async with Ticks() as ticks:
        stream = await asyncio.wait_for(ask(), MOST_SECONDS)
    stream.chunks.extend(chunks_of(stream.raw))
    return stream, ticks.longest


async def ends_at_cap(
    folder: Path, server: HostileServer, setting: str, environ: dict[str, str] | None = None
) -> tuple[Stream, list[dict[str, Any]]]:
    """Checks an answer that ends at the cap of `setting`; returns it and its stored parts."""
    async with chatting(folder, {**server.environ, **(environ or {})}) as chat:
        stream, stall = await say(chat)
        stored = (await chat.stored())["messages"][-1]
    assert stream.error["code"] == "too_large"
    sentence = stream.error["message"]
    assert setting in sentence and sentence.endswith(".")
    assert stream.types[-1] == "error"
    assert stored["metadata"]["error"]["message"] == sentence
    assert await server.client_left(), "the connection stayed open"
    assert server.requests == 1
    assert stall < LONGEST_STALL
    return stream, stored["parts"]


def calls(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"index": n, "id": f"c{n}", **CALL, **fields} for n in range(count)]


async def test_calls_without_end_stop_at_the_cap(tmp_path: Path) -> None:
    def flood() -> Iterator[bytes]:
        number = 0
        while True:
            many = range(number, number := number + 100)
            yield b"".join(
                event(delta(tool_calls=[{"index": n, "id": f"c{n}", **CALL}])) for n in many
            )

    async with hostile(head(), flood) as server:
        _, parts = await ends_at_cap(tmp_path, server, "LLM_MAX_CALLS_PER_ROUND")
    tools = [part for part in parts if part["type"] == "dynamic-tool"]
    assert len(tools) == 64
    assert {part["state"] for part in tools} == {"output-error"}


async def test_ten_thousand_calls_in_one_chunk(tmp_path: Path) -> None:
    chunk = event(delta(tool_calls=calls(10_000)))
    async with hostile(head(), chunk, lambda: endless(b": ping\n\n")) as server:
        _, parts = await ends_at_cap(tmp_path, server, "LLM_MAX_CALLS_PER_ROUND")
    assert sum(part["type"] == "dynamic-tool" for part in parts) == 64


async def test_calls_that_never_get_a_name_count_too(tmp_path: Path) -> None:
    nameless = {"type": "function", "function": {"arguments": "{"}}
    many = [{"index": n, **nameless} for n in range(10_000)]
    chunks = b"".join(event(delta(tool_calls=[call])) for call in many)
    async with hostile(head(), chunks, lambda: endless(b": ping\n\n")) as server:
        await ends_at_cap(tmp_path, server, "LLM_MAX_CALLS_PER_ROUND")


async def test_thousands_of_calls_without_ids_take_no_time_to_name(tmp_path: Path) -> None:
    """The prefix of made ids is a hash of the whole request."""
    many = b"".join(event(delta(tool_calls=[{"index": n, **CALL}])) for n in range(2_000))
    environ = {"LLM_MAX_CALLS_PER_ROUND": "2000"}
    broken = b"data: broken\n\n"
    async with (
        hostile(head(), many, broken) as server,
        chatting(tmp_path, {**server.environ, **environ}) as chat,
    ):
        stream, stall = await say(chat)
    assert len(stream.of("tool-input-start")) == 2_000
    assert stall < LONGEST_STALL


async def test_a_line_without_end_is_read_up_to_the_cap(tmp_path: Path) -> None:
    begin = event(delta(content="Hello")) + b'data: {"choices": "'
    async with hostile(head(), begin, lambda: endless(b"x")) as server:
        stream, _ = await ends_at_cap(tmp_path, server, "LLM_MAX_LINE_BYTES")
    assert stream.text == "Hello"
    assert server.sent < 64 * MB


async def test_lines_of_one_event_count_together(tmp_path: Path) -> None:
    lines = b"data: " + b"x" * 65_000 + b"\n"
    async with hostile(head(), lambda: endless(lines)) as server:
        await ends_at_cap(tmp_path, server, "LLM_MAX_LINE_BYTES")


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
async def test_a_flood_of_other_line_ends_stalls_nothing(tmp_path: Path, end: bytes) -> None:
    body = json.dumps(delta(content="x" * 100)).encode()
    flood = b"data: " + body + end + end
    async with hostile(head(), lambda: endless(flood)) as server:
        stream, _ = await ends_at_cap(tmp_path, server, "LLM_MAX_ANSWER_BYTES")
    assert stream.text == "x" * 2 * MB


async def test_a_body_without_end_is_read_up_to_the_cap(tmp_path: Path) -> None:
    async with hostile(head("application/json"), b'{"x": "', lambda: endless(b"x")) as server:
        await ends_at_cap(tmp_path, server, "LLM_MAX_LINE_BYTES")


@pytest.mark.slow
async def test_arguments_in_small_pieces_stop_at_the_cap(tmp_path: Path) -> None:
    """Each piece repeats the name, so that each could begin another call."""
    first = {"index": 0, "id": "c0", "function": {"name": "listUserSkills", "arguments": '{"a": "'}}
    piece = {"index": 0, "id": "c0", "function": {"name": "listUserSkills", "arguments": "x" * 20}}
    begin = event(delta(tool_calls=[first]))
    more = event(delta(tool_calls=[piece]))
    async with hostile(head(), begin, lambda: endless(more)) as server:
        stream, parts = await ends_at_cap(tmp_path, server, "LLM_MAX_ARGUMENT_BYTES")
    [tool] = [part for part in parts if part["type"] == "dynamic-tool"]
    assert tool["state"] == "output-error"
    assert MB - KB < len(tool["input"]) <= MB
    assert stream.types.count("tool-output-available") == 0


@pytest.mark.slow
async def test_an_endless_text_is_kept_up_to_the_cap(tmp_path: Path) -> None:
    flood = event(delta(content="word " * 20))
    async with hostile(head(), lambda: endless(flood)) as server:
        stream, parts = await ends_at_cap(tmp_path, server, "LLM_MAX_ANSWER_BYTES")
    [text] = [part["text"] for part in parts if part["type"] == "text"]
    assert text == stream.text
    assert len(text) == 2 * MB


async def test_one_piece_that_is_too_long_is_kept_up_to_the_cap(tmp_path: Path) -> None:
    """A character of several bytes is not torn."""
    chunk = event(delta(content="\u20ac" * 4 * MB))  # 12 MB of escapes would be 24 MB
    environ = {"LLM_MAX_LINE_BYTES": str(64 * MB)}
    async with hostile(head(), chunk, lambda: endless(b": ping\n\n")) as server:
        stream, _ = await ends_at_cap(tmp_path, server, "LLM_MAX_ANSWER_BYTES", environ)
    assert stream.text == "\u20ac" * (2 * MB // 3)


async def test_an_answer_in_tiny_pieces_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece is kept for readers that join, and costs more memory than its text."""
    monkeypatch.setattr(chunk_reader, "MOST_PIECES", 5_000)
    async with hostile(head(), lambda: endless(event(delta(content="w")))) as server:
        stream, _ = await ends_at_cap(tmp_path, server, "5,000 pieces")
    assert len(stream.text) == 5_000


async def test_an_answer_that_changes_between_thinking_and_speaking_ends(tmp_path: Path) -> None:
    """Each change is a part of the message, which is stored, sent and drawn."""
    both = event(delta(reasoning_content="r")) + event(delta(content="t"))
    async with hostile(head(), lambda: endless(both)) as server:
        _, parts = await ends_at_cap(tmp_path, server, "2,000 times")
    kinds = [part["type"] for part in parts if part["type"] in ("text", "reasoning")]
    assert kinds == ["reasoning", "text"] * 1_000


@pytest.mark.slow
async def test_endless_reasoning_is_kept_up_to_the_cap(tmp_path: Path) -> None:
    flood = event(delta(reasoning_content="hm, " * 25))
    async with hostile(head(), lambda: endless(flood)) as server:
        _, parts = await ends_at_cap(tmp_path, server, "LLM_MAX_REASONING_BYTES")
    [reasoning] = [part["text"] for part in parts if part["type"] == "reasoning"]
    assert len(reasoning) == 2 * MB


async def test_reasoning_blocks_count_as_reasoning(tmp_path: Path) -> None:
    def flood() -> Iterator[bytes]:
        number = 0
        while True:
            number += 1
            block = {"type": "reasoning.encrypted", "id": f"r{number}", "data": "x" * 200}
            yield event(delta(reasoning_details=[block]))

    async with hostile(head(), flood) as server:
        await ends_at_cap(tmp_path, server, "LLM_MAX_REASONING_BYTES")


async def test_the_text_of_all_rounds_counts_together(tmp_path: Path) -> None:
    text = event(delta(content="x" * 3_000))
    finish = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    call = event(delta(tool_calls=[{"index": 0, "id": "c", **CALL}]))
    async with hostile(head(), text, call, finish, b"data: [DONE]\n\n") as server:
        environ = {**server.environ, "LLM_MAX_ANSWER_BYTES": "5000"}
        async with chatting(tmp_path, environ) as chat:
            stream, _ = await say(chat)
    assert stream.error["code"] == "too_large"
    assert len(stream.text) == 5_000
    assert server.requests == 2


async def test_the_reasoning_blocks_of_all_rounds_count_together(tmp_path: Path) -> None:
    block = {"type": "reasoning.encrypted", "id": "r", "data": "x" * 3_000}
    finish = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    call = event(delta(tool_calls=[{"index": 0, "id": "c", **CALL}]))
    thought = event(delta(reasoning_details=[block]))
    async with hostile(head(), thought, call, finish, b"data: [DONE]\n\n") as server:
        environ = {**server.environ, "LLM_MAX_REASONING_BYTES": "5000"}
        async with chatting(tmp_path, environ) as chat:
            stream, _ = await say(chat)
    assert stream.error["code"] == "too_large"
    assert server.requests == 2


@pytest.mark.slow
@pytest.mark.parametrize("blank", ["\n", "  "])
async def test_an_endless_run_of_white_space_is_linear(tmp_path: Path, blank: str) -> None:
    flood = event(delta(content=blank))
    async with hostile(head(), lambda: endless(flood)) as server:
        await ends_at_cap(
            tmp_path, server, "LLM_MAX_ANSWER_BYTES", {"LLM_MAX_ANSWER_BYTES": "300000"}
        )


EMPTY = {
    "comments": b": keep-alive\n\n",
    "line ends": b"\n\n",
    "chunks": event(delta(content="")),
    "events without data": b"event: ping\n\n",
}


@pytest.mark.parametrize("kind", EMPTY)
async def test_a_flood_of_nothing_ends(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "MOST_EMPTY_LINES", 20_000)
    begin = event(delta(content="Hello"))
    async with (
        hostile(head(), begin, lambda: endless(EMPTY[kind])) as server,
        chatting(tmp_path, server.environ) as chat,
    ):
        stream, stall = await say(chat)
        assert await server.client_left()
    assert stream.text == "Hello"
    assert stream.error["code"] == "timeout"
    assert stall < LONGEST_STALL


async def test_keep_alives_do_not_hold_a_turn_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "SILENT_TIMEOUTS", 1)

    def slow() -> Iterator[bytes]:
        while True:
            time.sleep(0.05)
            yield b": keep-alive\n\n"

    async with (
        hostile(head(), event(delta(content="Hello")), slow) as server,
        chatting(tmp_path, {**server.environ, "LLM_TIMEOUT_SECONDS": "1"}) as chat,
    ):
        stream, _ = await say(chat)
    assert stream.error["code"] == "timeout"
    assert stream.text == "Hello"


@pytest.mark.parametrize("line", ["[" + "[]," * 5_000_000 + "[]]", '{"a":' * 3_000_000])
async def test_a_line_of_many_small_values_is_not_decoded(tmp_path: Path, line: str) -> None:
    chunk = b'data: {"choices": ' + line.encode() + b"}\n\n"
    async with (
        hostile(head(), event(delta(content="Hello")), chunk, END) as server,
        chatting(tmp_path, server.environ) as chat,
    ):
        stream, stall = await say(chat)
    assert stream.error["code"] == "garbage"
    assert stream.text == "Hello"
    assert stall < LONGEST_STALL


async def test_arguments_of_many_small_values_are_refused(tmp_path: Path) -> None:
    value = '{"a": [' + "[]," * 300_000 + "[]]}"
    call = {"index": 0, "id": "c", "function": {"name": "listUserSkills", "arguments": value}}
    finish = event({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    async with hostile(head(), event(delta(tool_calls=[call])), finish) as server:
        environ = {"LLM_MAX_STEPS": "1", "LLM_CONTEXT_WINDOW": "8000000"}
        async with chatting(tmp_path, {**server.environ, **environ}) as chat:
            stream, stall = await say(chat)
    [refused] = stream.of("tool-input-error")
    assert "values" in refused["errorText"]
    assert stall < LONGEST_STALL


HUGE = "1" + "0" * 400
USAGES = {
    "10^400": HUGE,
    "5,000 digits": "9" * 5_000,
    "infinity": "Infinity",
    "minus infinity": "-Infinity",
    "1e999": "1e999",
    "nan": "NaN",
    "negative": "-5",
    "true": "true",
    "text": '"12"',
    "a list": "[12]",
}


@pytest.mark.parametrize("number", USAGES.values(), ids=USAGES)
async def test_a_usage_that_is_no_count_ends_no_answer(tmp_path: Path, number: str) -> None:
    names = (
        "prompt_tokens completion_tokens total_tokens input_tokens output_tokens cached_tokens "
        "cache_read_input_tokens cache_creation_input_tokens prompt_cache_hit_tokens"
    ).split()
    fields = ", ".join(f'"{name}": {number}' for name in names)
    usage = f'data: {{"created": {number}, "choices": [], "usage": {{{fields}}}}}\n\n'.encode()
    async with hostile(head(), event(delta(content="Hello")), usage, END) as server:
        # A model with a price, so that the counts are multiplied.
        environ = {**server.environ, "OPENAI_MODEL": "gpt-4o"}
        async with chatting(tmp_path, environ) as chat:
            stream, _ = await say(chat)
            stored = (await chat.stored())["messages"][-1]
            context = await (await chat.client.get("/api/chats/c1/context")).json()
    assert stream.types[-1] == "finish"
    assert stream.text == "Hello"
    assert stored["metadata"].get("usage", {}) == {}
    assert context["report"]["usage"] is None


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("levels", [70, 900, 1_100, 20_000])
async def test_a_nested_field_does_not_end_the_answer(
    tmp_path: Path, opening: str, levels: int
) -> None:
    closing = "]" if opening == "[" else "}"
    nested = opening * levels + "1" + closing * levels
    for name in ("content", "reasoning_details", "tool_calls", "unknown"):
        fields = f'{{"content": "Hel", "{name}": {nested}}}'
        if name == "content":
            fields = f'{{"content": "Hel", "refusal": {nested}}}'
        chunk = f'data: {{"choices": [{{"delta": {fields}}}], "x": {nested}}}\n\n'.encode()
        rest = event(delta(content="lo"))
        async with (
            hostile(head(), chunk, rest, END) as server,
            chatting(tmp_path / name, server.environ) as chat,
        ):
            stream, _ = await say(chat)
        assert stream.types[-1] == "finish", name
        assert stream.text == "Hello", name


@pytest.mark.parametrize("status", ["400 Bad Request", "200 OK"])
async def test_an_error_body_of_a_hundred_megabytes_is_not_read(
    tmp_path: Path, status: str
) -> None:
    begin = b'{"error": {"message": "maximum context length is 1 ('
    kind = "application/json" if status[0] == "4" else "text/html"
    async with (
        hostile(
            head(kind, status), begin, lambda: endless(b"maximum context length is 1 (")
        ) as server,
        chatting(tmp_path, server.environ) as chat,
    ):
        stream, stall = await say(chat)
        assert await server.client_left()
    assert stream.types[-1] == "error"
    assert stream.error["code"] in ("bad_request", "context_overflow", "garbage", "output_limit")
    assert server.sent < 32 * MB
    assert stall < LONGEST_STALL


@pytest.mark.parametrize("code", [HUGE, "-1", "true", "1000", '"x"', "[]", "null"])
async def test_a_strange_code_in_an_error_is_the_provider_s_fault(
    tmp_path: Path, code: str
) -> None:
    chunk = f'data: {{"error": {{"message": "It broke", "code": {code}}}}}\n\n'.encode()
    async with (
        hostile(head(), event(delta(content="Hello")), chunk) as server,
        chatting(tmp_path, server.environ) as chat,
    ):
        stream, _ = await say(chat)
    assert stream.error["code"] == "provider_error"
    assert stream.error["detail"] == "It broke"


@pytest.mark.slow
async def test_a_compressed_answer_cannot_grow_without_bounds(tmp_path: Path) -> None:
    """A megabyte of zeros is a kilobyte, compressed."""
    pack = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = pack.compress(b'data: {"x": "' + b"0" * 200 * MB) + pack.flush()
    async with (
        hostile(head(more="Content-Encoding: gzip\r\n"), body) as server,
        chatting(tmp_path, server.environ) as chat,
    ):
        stream, stall = await say(chat)
    assert stream.error["code"] == "too_large"
    assert stall < LONGEST_STALL


@pytest.mark.parametrize(
    "flood",
    [
        event(delta(content="w")),
        event(delta(reasoning_content="w")),
        event(delta(content="")),
        event(delta(tool_calls=[{"index": 0, "id": "c", **CALL}])),
    ],
    ids=["text", "reasoning", "nothing", "one call"],
)
async def test_an_abort_within_a_flood_is_answered_at_once(tmp_path: Path, flood: bytes) -> None:
    most = {"LLM_MAX_ANSWER_BYTES": "1000000000", "LLM_MAX_REASONING_BYTES": "1000000000"}
    async with (
        hostile(head(), lambda: endless(flood)) as server,
        chatting(tmp_path, {**server.environ, **most}) as chat,
    ):
        await chat.client.post("/api/chats", json={"id": "c1"})
        assert (await chat.command(type="user_message", message=chat.user("Hi"))).status == 202
        assert await server.has_sent(MB)
        began = time.perf_counter()
        async with Ticks() as ticks:
            response = await asyncio.wait_for(chat.command(type="abort"), 20)
        seconds = time.perf_counter() - began
        assert response.status == 202
        await chat.idle()
        assert await server.client_left()
        stored = (await chat.stored())["messages"][-1]
    assert stored["metadata"]["cut"] == "aborted"
    assert seconds < 2
    assert ticks.longest < LONGEST_STALL
