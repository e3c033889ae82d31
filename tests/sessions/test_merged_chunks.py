"""Chunks kept short for readers that join in the middle, and the operation of each chunk (R38)."""

import inspect
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.messages import chunks
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.merged_chunks import MergedChunks
from plugin.assistant.messages.parts import Message
from plugin.tests.sessions.operations import Operation, delta_operation

OPERATIONS: list[tuple[dict[str, Any], str | None]] = [
    (chunks.start("m", {"created": "now"}), "MergeExtra"),
    ({"type": "start", "messageId": "m"}, None),
    (chunks.start_step(), "AddServerContentBlock"),
    (chunks.finish_step(), None),
    (chunks.text_start("t"), "AppendContent"),
    (chunks.text_delta("t", "x"), "AppendContent"),
    (chunks.text_end("t"), "AppendContent"),
    (chunks.reasoning_start("r"), "AppendReasoning"),
    (chunks.reasoning_delta("r", "x"), "AppendReasoning"),
    (chunks.reasoning_end("r"), "AppendReasoning"),
    (chunks.reasoning_end("r", {"details": [{"signature": "s"}]}), "SetThinkingBlocks"),
    (chunks.tool_input_start("c", "t", "T", on_server=True), "SetToolCalls"),
    (chunks.tool_input_delta("c", "{"), "SetToolCalls"),
    (chunks.tool_input_available("c", "t", "T", {}, on_server=False), "SetToolCalls"),
    (chunks.tool_input_error("c", "t", "T", "{", "no JSON"), "SetToolCalls"),
    (chunks.tool_approval_request("c", "a"), "SetToolCalls"),
    (chunks.tool_output_available("c", 1, on_server=True), "SetToolCalls"),
    (chunks.tool_output_error("c", "no", on_server=True), "SetToolCalls"),
    (chunks.tool_output_denied("c"), "SetToolCalls"),
    (chunks.source_url("s", "http://x", "X"), "AddCitation"),
    (chunks.file("image/png", "data:,"), "AddServerContentBlock"),
    (chunks.server_block("b", "web_search", {}), "AddServerContentBlock"),
    (chunks.data("skill", {}), "AddServerContentBlock"),
    (chunks.data("context", {}, transient=True), None),
    (chunks.notice("c", "m"), "AddServerContentBlock"),
    (chunks.message_metadata({"model": "m"}), "MergeExtra"),
    (chunks.message_metadata({"usage": {"input_tokens": 1}}), "SetUsage"),
    (chunks.finish("stop", {"usage": {"input_tokens": 1}}), "SetUsage"),
    (chunks.finish("stop", {"steps": 1}), "MergeExtra"),
    (chunks.abort("stopped"), None),
    (chunks.error("failed"), None),
]


@pytest.mark.parametrize(("chunk", "operation"), OPERATIONS, ids=lambda value: str(value)[:40])
def test_a_chunk_carries_the_operation_that_it_means(
    chunk: dict[str, Any], operation: str | None
) -> None:
    assert delta_operation(chunk) == operation


def test_every_chunk_that_we_send_and_every_operation_is_in_the_table() -> None:
    made = {
        name
        for name, function in vars(chunks).items()
        if inspect.isfunction(function)
        and function.__module__ == chunks.__name__
        and function.__annotations__.get("return") == "Chunk"
        and not name.startswith("_")
    }
    words = {str(chunk["type"]).removeprefix("data-").replace("-", "_") for chunk, _ in OPERATIONS}
    assert made - {"data"} <= words
    assert {operation for _, operation in OPERATIONS if operation} == set(get_args(Operation))


@st.composite
def streams(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Texts, reasoning and calls, one after the other, each in any number of pieces."""
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 4))):
        pieces = draw(st.lists(st.text(max_size=3), max_size=4))
        kind = draw(st.sampled_from(["text", "reasoning", "tool"]))
        if kind == "tool":
            name = f"c{number}"
            found.append(chunks.tool_input_start(name, "t", "T", on_server=True))
            found += [chunks.tool_input_delta(name, piece) for piece in pieces]
            found.append(chunks.tool_input_available(name, "t", "T", {}, on_server=True))
            continue
        start, delta, end = (
            (chunks.text_start, chunks.text_delta, chunks.text_end)
            if kind == "text"
            else (chunks.reasoning_start, chunks.reasoning_delta, chunks.reasoning_end)
        )
        found.append(start(f"p{number}"))
        found += [delta(f"p{number}", piece) for piece in pieces]
        found.append(end(f"p{number}"))
        if draw(st.booleans()):
            found.append(chunks.data("context", {"n": number}, transient=True))
    return found


@given(streams(), st.data())
def test_merged_chunks_fold_to_the_same_message_at_every_moment(
    stream: list[dict[str, Any]], data: st.DataObject
) -> None:
    answer = Message("m", "assistant", ())
    merged = MergedChunks()
    for count, chunk in enumerate(stream, 1):
        merged.add(chunk)
        if data.draw(st.booleans()):
            assert fold(answer, merged.chunks) == fold(answer, stream[:count])
    # Merging chunks twice, or in two parts, gives the same chunks.
    cut = data.draw(st.integers(0, len(stream)))
    first = MergedChunks(stream[:cut]).chunks
    assert MergedChunks((*first, *stream[cut:])).chunks == merged.chunks
    kinds = [(chunk["type"], chunk.get("id")) for chunk in merged.chunks]
    deltas = [
        kind for kind in kinds if kind[0].endswith("-delta") and kind[0] != "tool-input-delta"
    ]
    assert len(deltas) == len(set(deltas))
