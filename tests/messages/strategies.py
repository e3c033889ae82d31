"""Hypothesis strategies for UI message JSON and for `Message` values."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.parts import (
    ROLES,
    TOOL_STATES,
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    StepStart,
    TextPart,
    ToolPart,
    ToolState,
)

CHARACTERS = st.characters(exclude_categories=())
TEXTS = st.text(CHARACTERS, max_size=30)
GIANTS = st.builds(
    lambda piece, count: piece * count,
    st.sampled_from(["x", "word ", "图", "\U0001f600", '{"a":1}']),
    st.integers(500, 9_000),
)
IDENTITIES = st.sampled_from(["a", "b", "c", "call_0", "call_1", "ä"])
FIELDS = TEXTS.filter(lambda name: name not in ("__proto__", "constructor"))
"""Names of fields; `json_limits` refuses values that would change a JavaScript prototype."""
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(FIELDS, JSON, max_size=3)
FILES = st.builds(
    FilePart,
    st.sampled_from(["image/png", "image/svg+xml", "text/plain", "application/pdf", "", "text/x"]),
    st.sampled_from(
        ["data:image/png;base64,AAAA", "data:text/plain,h%C3%A9", "data:,\ud800", "blob:x", ""]
    ),
    st.none() | TEXTS,
)


@st.composite
def tool_parts(draw: st.DrawFn) -> ToolPart:
    """A tool call in any state, with the fields of that state."""
    state: ToolState = draw(st.sampled_from(TOOL_STATES))
    approval = None
    if state in ("approval-requested", "approval-responded", "output-denied"):
        approved = None if state == "approval-requested" else draw(st.booleans())
        approval = Approval(draw(TEXTS), approved, draw(st.none() | TEXTS))
    return ToolPart(
        tool_call_id=draw(IDENTITIES),
        tool_name=draw(st.sampled_from(["getUserSkill", "x y", "ünknown", "n" * 70])),
        state=state,
        input=draw(OBJECTS | JSON),
        output=draw(JSON | GIANTS) if state == "output-available" else None,
        error_text=draw(TEXTS) if state == "output-error" else None,
        approval=approval,
        title=draw(st.none() | TEXTS),
        provider_executed=draw(st.booleans()),
    )


PARTS = st.one_of(
    st.builds(TextPart, TEXTS | GIANTS),
    st.builds(ReasoningPart, TEXTS, st.none() | st.just({"assistant": {"field": "reasoning"}})),
    st.just(StepStart()),
    FILES,
    tool_parts(),
    st.builds(DataPart, st.sampled_from(["notice", "skill", ""]), OBJECTS, st.none() | TEXTS),
    st.builds(lambda url: OpaquePart({"type": "source-url", "sourceId": "s", "url": url}), TEXTS),
)
MESSAGES = st.builds(
    Message,
    st.text("abc", min_size=1, max_size=3),
    st.sampled_from(ROLES),
    st.lists(PARTS, max_size=6).map(tuple),
    OBJECTS,
)
CHATS = st.lists(MESSAGES, min_size=1, max_size=6, unique_by=lambda message: message.id)

BROKEN: st.SearchStrategy[Any] = st.sampled_from(
    [None, 7, 1.5, True, "", "x", [], {}, float("nan"), "\ud800", [[]], {"type": "text"}]
)
"""Values that a client may send in the place of any value."""


@st.composite
def answers(draw: st.DrawFn, message_id: str = "m1") -> tuple[list[Chunk], Message]:
    """An answer as chunks that a turn may send, and the message that they make."""
    begun, ended = draw(METADATA), draw(METADATA)
    sent: list[Chunk] = [chunks.start(message_id, begun)]
    parts: list[Part] = []
    for step in range(draw(st.integers(1, 3))):
        sent.append(chunks.start_step())
        parts.append(StepStart())
        settling: list[Chunk] = []
        calls = iter(draw(st.lists(IDENTITIES, max_size=3, unique=True)))
        for number, kind in enumerate(draw(st.lists(BLOCKS, max_size=5))):
            if kind == "tool":
                if (call_id := next(calls, None)) is not None:
                    part, announced, settled = draw(_tool_calls(call_id))
                    parts.append(part)
                    sent += announced
                    settling += settled
            else:
                made, block = draw(_blocks(kind, f"s{step}-{number}"))
                parts += made
                sent += block
        sent += [*settling, chunks.finish_step()]
    metadata = {**begun, **ended, "usage": {**begun["usage"], **ended["usage"]}}
    sent.append(chunks.message_metadata({"usage": begun["usage"]}))
    sent.append(chunks.data("context", {"request": 1}, transient=True))
    sent.append(chunks.finish(draw(st.sampled_from(["stop", "length", "tool-calls"])), ended))
    return sent, Message(message_id, "assistant", tuple(parts), metadata)


BLOCKS = st.sampled_from(
    ["text", "reasoning", "tool", "tool", "notice", "progress", "source", "picture", "block"]
)
METADATA = st.builds(
    lambda model, name, count: {"model": model, "usage": {name: count}},
    TEXTS,
    st.sampled_from(["input_tokens", "output_tokens"]),
    st.integers(0, 9_999),
)
SMALL_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9_999, 9_999) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
    max_leaves=6,
)
"""JSON that JavaScript reads without loss."""


@st.composite
def _blocks(draw: st.DrawFn, kind: str, part_id: str) -> tuple[list[Part], list[Chunk]]:
    deltas = draw(st.lists(TEXTS, max_size=3))
    text = "".join(deltas)
    if kind == "text":
        grown = [chunks.text_delta(part_id, delta) for delta in deltas]
        block = [chunks.text_start(part_id), *grown, chunks.text_end(part_id)]
        return [TextPart(text)], block
    if kind == "reasoning":
        kept = draw(st.none() | st.just({"field": "reasoning_content", "details": [{"a": 1}]}))
        grown = [chunks.reasoning_delta(part_id, delta) for delta in deltas]
        block = [chunks.reasoning_start(part_id), *grown, chunks.reasoning_end(part_id, kept)]
        return [ReasoningPart(text, {"assistant": kept} if kept else None)], block
    if kind == "source":
        url = f"https://docs.example/{part_id}"
        chunk = chunks.source_url(part_id, url, draw(st.none() | TEXTS))
        return [OpaquePart(chunk)], [chunk]
    if kind == "picture":
        url = "data:image/png;base64,AAAA"
        return [FilePart("image/png", url)], [chunks.file("image/png", url)]
    if kind == "block":
        contents = draw(st.lists(SMALL_JSON, min_size=1, max_size=3))
        block = [chunks.server_block(part_id, "search", content) for content in contents]
        data = {"kind": "search", "content": contents[-1]}
        return [DataPart(chunks.SERVER_BLOCK, data, part_id)], block
    if kind == "notice":
        said = {"code": "cut", "message": text}
        return [DataPart("notice", said)], [chunks.notice("cut", text)]
    values = draw(st.lists(SMALL_JSON, min_size=1, max_size=3))
    block = [chunks.data("progress", value, part_id=part_id) for value in values]
    return [DataPart("progress", values[-1], part_id)], block


@st.composite
def _tool_calls(draw: st.DrawFn, call_id: str) -> tuple[ToolPart, list[Chunk], list[Chunk]]:
    """A call, the chunks that begin it, and the chunks that end it."""
    end = draw(st.sampled_from(["streaming", "waiting", "refused", "asking", "done", "failed"]))
    on_server = True if end == "refused" else draw(st.booleans())
    value, output, words = draw(SMALL_JSON), draw(SMALL_JSON), draw(TEXTS)
    part = ToolPart(
        call_id, "getUserSkill", "input-streaming", title="Read", provider_executed=on_server
    )
    sent = [chunks.tool_input_start(call_id, "getUserSkill", "Read", on_server=on_server)]
    sent += [chunks.tool_input_delta(call_id, delta) for delta in draw(st.lists(TEXTS, max_size=2))]
    if end == "streaming":
        return part, sent, []
    if end == "refused":
        sent.append(chunks.tool_input_error(call_id, "getUserSkill", "Read", value, words))
        return replace(part, state="output-error", input=value, error_text=words), sent, []
    sent.append(
        chunks.tool_input_available(call_id, "getUserSkill", "Read", value, on_server=on_server)
    )
    part = replace(part, state="input-available", input=value)
    settled: list[Chunk] = []
    if end == "asking" or (end != "waiting" and draw(st.booleans())):
        settled.append(chunks.tool_approval_request(call_id, f"approve-{call_id}"))
        asked = Approval(f"approve-{call_id}")
        part = replace(part, state="approval-requested", approval=asked)
    if end == "asking" and draw(st.booleans()):
        settled.append(chunks.tool_output_denied(call_id))
        part = replace(part, state="output-denied")
    elif end == "done":
        settled.append(chunks.tool_output_available(call_id, output, on_server=on_server))
        part = replace(part, state="output-available", output=output)
    elif end == "failed":
        settled.append(chunks.tool_output_error(call_id, words, on_server=on_server))
        part = replace(part, state="output-error", error_text=words)
    return part, sent, settled
