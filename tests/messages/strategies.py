"""UI messages as hypothesis makes them: JSON as clients send it, and messages as we keep them."""

from typing import Any

from hypothesis import strategies as st
from plugin.assistant.messages.parts import (
    ROLES,
    TOOL_STATES,
    Approval,
    DataPart,
    FilePart,
    Message,
    OpaquePart,
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
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
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
    """A call in any state, with what belongs to that state."""
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
"""What a client may send in the place of anything."""
