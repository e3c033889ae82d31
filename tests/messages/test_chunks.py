"""The chunks and their bytes."""

import inspect
import json

import pytest
from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Message
from plugin.assistant.messages.ui import message_from_ui, message_to_ui

# The contract's table: chunk -> fields that must be there, fields that may be.
TABLE = {
    "start": ("", "messageId messageMetadata"),
    "start-step": ("", ""),
    "finish-step": ("", ""),
    "text-start": ("id", "providerMetadata"),
    "text-delta": ("id delta", "providerMetadata"),
    "text-end": ("id", "providerMetadata"),
    "reasoning-start": ("id", "providerMetadata"),
    "reasoning-delta": ("id delta", "providerMetadata"),
    "reasoning-end": ("id", "providerMetadata"),
    "tool-input-start": ("toolCallId toolName", "dynamic title providerExecuted"),
    "tool-input-delta": ("toolCallId inputTextDelta", ""),
    "tool-input-available": ("toolCallId toolName input", "dynamic title providerExecuted"),
    "tool-input-error": ("toolCallId toolName input errorText", "dynamic title providerExecuted"),
    "tool-approval-request": ("approvalId toolCallId", ""),
    "tool-output-available": ("toolCallId output", "dynamic preliminary providerExecuted"),
    "tool-output-error": ("toolCallId errorText", "dynamic providerExecuted"),
    "tool-output-denied": ("toolCallId", ""),
    "data-context": ("data", "id transient"),
    "data-notice": ("data", "id transient"),
    "data-server-block": ("data", "id transient"),
    "source-url": ("sourceId url", "title"),
    "file": ("url mediaType", ""),
    "message-metadata": ("messageMetadata", ""),
    "finish": ("", "finishReason messageMetadata"),
    "abort": ("", "reason"),
    "error": ("errorText", ""),
}
EXAMPLES = [
    chunks.start("m", {"model": "x"}),
    chunks.start_step(),
    chunks.finish_step(),
    chunks.text_start("t"),
    chunks.text_delta("t", "x"),
    chunks.text_end("t"),
    chunks.reasoning_start("r"),
    chunks.reasoning_delta("r", "x"),
    chunks.reasoning_end("r", {"field": "reasoning"}),
    chunks.tool_input_start("c", "n", "t", on_server=True),
    chunks.tool_input_delta("c", "{"),
    chunks.tool_input_available("c", "n", "t", {}, on_server=True),
    chunks.tool_input_error("c", "n", "t", "{", "no"),
    chunks.tool_approval_request("c", "a"),
    chunks.tool_output_available("c", None, on_server=True),
    chunks.tool_output_error("c", "no", on_server=False),
    chunks.tool_output_denied("c"),
    chunks.data("context", {}, part_id="p", transient=True),
    chunks.notice("code", "words"),
    chunks.source_url("s", "https://docs.example/a", "A"),
    chunks.file("image/png", "data:image/png;base64,AAAA"),
    chunks.server_block("b", "web_search", {"query": "fox"}),
    chunks.message_metadata({}),
    chunks.finish("stop", {}),
    chunks.abort("why"),
    chunks.error("no"),
]


@pytest.mark.parametrize("chunk", EXAMPLES, ids=lambda chunk: chunk["type"])
def test_a_chunk_has_the_fields_of_the_contract_and_no_other(chunk: Chunk) -> None:
    needed, allowed = (set(names.split()) for names in TABLE[chunk["type"]])
    assert needed <= set(chunk) - {"type"} <= needed | allowed


def test_every_function_that_makes_a_chunk_has_an_example_here() -> None:
    made = {
        name
        for name, function in inspect.getmembers(chunks, inspect.isfunction)
        if function.__module__ == chunks.__name__ and not name.startswith("_")
    }
    assert len(made - {"encode"}) == len(EXAMPLES)


def test_a_chunk_is_one_event_of_one_line() -> None:
    body = chunks.encode(chunks.text_delta("t", "one\ntwo\r\u2028三"))
    assert body.startswith(b"data: {")
    assert body.endswith(b"}\n\n")
    assert b"\n" not in body[:-2]
    assert b"\r" not in body
    assert json.loads(body[len(b"data: ") :])["delta"] == "one\ntwo\r\u2028三"


def test_half_a_surrogate_pair_reaches_the_reader_to_be_joined() -> None:
    bodies = [chunks.encode(chunks.text_delta("t", half)) for half in ("\ud83d", "\ude00")]
    read = [json.loads(body.decode("utf-8")[len("data: ") :])["delta"] for body in bodies]
    assert json.loads(json.dumps("".join(read))) == "\U0001f600"


def test_every_part_of_the_panel_s_tools_is_dynamic_and_only_the_server_s_are_executed() -> None:
    for chunk in EXAMPLES:
        if chunk["type"].startswith("tool-") and "toolName" in chunk:
            assert chunk["dynamic"] is True
    ours = chunks.tool_input_available("c", "n", "t", {}, on_server=True)
    panel = chunks.tool_input_available("c", "n", "t", {}, on_server=False)
    assert ours["providerExecuted"] is True
    assert "providerExecuted" not in panel


def test_reasoning_that_needs_nothing_back_has_no_provider_metadata() -> None:
    assert chunks.reasoning_end("r", {}) == {"type": "reasoning-end", "id": "r"}


def test_whatever_a_model_or_a_tool_gives_can_be_kept_and_read_again() -> None:
    deep: object = 1
    for _ in range(5_000):
        deep = {"a": deep}
    sent = [
        chunks.tool_input_available("c", "", "t", deep, on_server=True),
        chunks.tool_output_available("c", {"n": [float("nan"), (deep,)]}, on_server=True),
        chunks.tool_input_error("\n", "", "t", float("inf"), "no"),
    ]
    message = fold(Message("m", "assistant", ()), sent)
    assert message_from_ui(json.loads(json.dumps(message_to_ui(message)))) == message
    assert all(json.loads(chunks.encode(chunk)[len(b"data: ") :]) == chunk for chunk in sent)
