"""A provider's events as chunks: parts are closed before the next, calls announced or refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.llm.stream_events import (
    Event,
    Finish,
    KeptReasoning,
    ModelName,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Message, ReasoningPart, ToolPart
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.assistant.turn.answer_writer import AnswerWriter, parse_arguments
from plugin.assistant.turn.json_limits import MOST_LEVELS, fault_of
from plugin.tests.turn.tools import Bench

TOOLS = Toolset((*standard_toolset(), *Bench().tools))


def written(*events: Event, cut: bool = False) -> list[Chunk]:
    sent: list[Chunk] = []
    writer = AnswerWriter(sent.append, TOOLS, lambda wanted: wanted, "s1")
    for event in events:
        writer.add(event)
    if cut:
        writer.cut()
    else:
        writer.finish_calls()
    return sent


def types(sent: list[Chunk]) -> list[str]:
    return [chunk["type"] for chunk in sent]


def a_call(index: int = 0, name: str = "getUserSkill", *arguments: str) -> tuple[Event, ...]:
    start = ToolCallStart(index, f"c{index}", name)
    return (start, *(ToolCallDelta(index, piece) for piece in arguments))


def test_reasoning_is_closed_before_text_and_text_before_a_call() -> None:
    sent = written(ReasoningDelta("hm", "think"), TextDelta("So"), *a_call(0, "listUserSkills"))
    assert types(sent) == [
        "reasoning-start",
        "reasoning-delta",
        "reasoning-end",
        "text-start",
        "text-delta",
        "text-end",
        "tool-input-start",
        "tool-input-available",
    ]


def test_every_part_has_an_id_of_its_own() -> None:
    sent = written(TextDelta("a"), ReasoningDelta("b", "think"), TextDelta("c"))
    assert [c["id"] for c in sent if c["type"].endswith("-start")] == ["s1-0", "s1-1", "s1-2"]


def test_line_breaks_alone_are_no_text_but_stand_before_one() -> None:
    assert (
        written(TextDelta("\n"), TextDelta(" \n"), *a_call(0, "listUserSkills"))[0]["type"]
        == "tool-input-start"
    )
    sent = written(TextDelta("\n\n"), TextDelta("Hi"), TextDelta("\n"))
    assert [c["delta"] for c in sent if c["type"] == "text-delta"] == ["\n\nHi", "\n"]


def test_a_notice_closes_the_text_and_the_next_of_its_kind_replaces_it() -> None:
    wait = Notice("waiting", "Trying again in 2 s.")
    again = Notice("waiting", "Trying again in 4 s.")
    message = fold(Message("m", "assistant", ()), written(wait, again, TextDelta("Hi")))
    assert [type(part).__name__ for part in message.parts] == ["DataPart", "TextPart"]
    assert message.data("notice")["message"] == again.message


def test_parallel_calls_are_announced_in_their_order() -> None:
    sent = written(
        ToolCallStart(0, "c0", "getUserSkill"),
        ToolCallStart(1, "c1", "getUserSkill"),
        ToolCallDelta(1, '{"slug":'),
        ToolCallDelta(0, '{"slug":"a"}'),
        ToolCallDelta(1, '"b"}'),
    )
    available = [c for c in sent if c["type"] == "tool-input-available"]
    assert [(c["toolCallId"], c["input"]) for c in available] == [
        ("c0", {"slug": "a"}),
        ("c1", {"slug": "b"}),
    ]


def test_a_call_of_the_server_is_marked_and_one_of_the_panel_is_not() -> None:
    for name, on_server in (("getUserSkill", True), ("paintNode", None), ("nothing", True)):
        start = written(*a_call(0, name))[0]
        assert start.get("providerExecuted") is on_server
        assert start["dynamic"] is True


def test_a_tool_that_does_not_exist_is_refused_and_the_others_are_named() -> None:
    refused = written(*a_call(0, "fly", "{}"))[-1]
    assert refused["type"] == "tool-input-error"
    assert "There is no tool 'fly'" in refused["errorText"]
    assert "getWorkflowInfo" in refused["errorText"]


@pytest.mark.parametrize("arguments", ["", "  \n", "{}", "null"])
def test_no_arguments_are_an_empty_object(arguments: str) -> None:
    assert parse_arguments(arguments) == ({}, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"a": ', "no valid JSON"),
        ("{'a': 1}", "no valid JSON"),
        ('{"a": NaN}', "NaN is no JSON value"),
        ('{"a": -Infinity}', "-Infinity is no JSON value"),
        ('{"a": 1e999}', "inf is no JSON number"),
        ("[1]", "must be a JSON object"),
        ('"text"', "must be a JSON object"),
        ("7", "must be a JSON object"),
        ('{"a":' + "[" * 200 + "]" * 200 + "}", "nested deeper"),
        ("[" * 100_000, "no valid JSON"),
    ],
)
def test_wrong_arguments_are_said_in_a_short_sentence(arguments: str, said: str) -> None:
    value, error = parse_arguments(arguments)
    assert value is None
    assert error is not None
    assert said in error
    assert len(error) < 1_000


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"SDXL\model.safetensors", r"SDXL\model.safetensors"),
        (r"SDXL\\model \u00e9", "SDXL\\model \u00e9"),
        (r"C:\users\u12", r"C:\users\u12"),
        (r"\\\\nas\models \"x\"", r'\\nas\models "x"'),
    ],
)
def test_one_backslash_of_a_windows_path_stays_one(written: str, meant: str) -> None:
    """JSON has no such escape, so there is one reading. Models copy a name as they see it."""
    assert parse_arguments(f'{{"file": "{written}"}}') == ({"file": meant}, None)


@given(st.text(max_size=30) | st.text(alphabet='{}[]":,0123456789.eE- ntrufalsN', max_size=30))
def test_any_arguments_are_an_object_or_an_error(arguments: str) -> None:
    value, error = parse_arguments(arguments)
    assert (error is None) == isinstance(value, dict)


def test_an_answer_that_is_cut_within_a_call_refuses_the_call() -> None:
    sent = written(TextDelta("Hm"), *a_call(0, "getUserSkill", '{"sl'), cut=True)
    assert types(sent)[-1] == "tool-input-error"
    assert sent[-1]["input"] == '{"sl'
    assert "did not run" in sent[-1]["errorText"]


def test_reasoning_that_goes_back_keeps_its_field_and_blocks() -> None:
    blocks: tuple[dict[str, Any], ...] = ({"type": "x", "index": 0, "signature": "s"},)
    sent = written(ReasoningDelta("hm", "reasoning"), KeptReasoning(blocks))
    part = fold(Message("m", "assistant", ()), sent).parts[0]
    assert isinstance(part, ReasoningPart)
    assert part.provider_metadata == {
        "assistant": {"field": "reasoning", "details": [dict(blocks[0])]}
    }


def test_reasoning_in_the_text_does_not_go_back() -> None:
    part = fold(Message("m", "assistant", ()), written(ReasoningDelta("hm", "think"))).parts[0]
    assert isinstance(part, ReasoningPart)
    assert part.provider_metadata is None


TEXTS = st.sampled_from(["", " ", "\n", "a", "word ", "\ud83d", "\ude00", "</think>"])
NAMES = st.sampled_from(["getUserSkill", "paintNode", "fly"])


@st.composite
def answers(draw: st.DrawFn) -> list[Event]:
    """Events in any order; a call's pieces come after its start."""
    events: list[Event] = []
    calls = 0
    for kind in draw(st.lists(st.sampled_from("trcdnumf"), max_size=20)):
        if kind == "t":
            events.append(TextDelta(draw(TEXTS)))
        elif kind == "r":
            events.append(
                ReasoningDelta(draw(TEXTS), draw(st.sampled_from(["think", "reasoning"])))
            )
        elif kind == "c":
            events.append(ToolCallStart(calls, f"c{calls}", draw(NAMES)))
            calls += 1
        elif kind == "d" and calls:
            piece = draw(st.sampled_from(["{}", '{"slug":', '"a"}', ""]))
            events.append(ToolCallDelta(draw(st.integers(0, calls - 1)), piece))
        elif kind == "n":
            events.append(Notice("waiting", "x"))
        elif kind == "u":
            events.append(Usage(1, 2))
        elif kind == "m":
            events.append(ModelName("x"))
        elif kind == "f":
            events.append(Finish("stop"))
    return events


@given(answers(), st.booleans())
def test_whatever_comes_the_chunks_fold_and_nothing_stays_open(
    events: list[Event], cut: bool
) -> None:
    sent = written(*events, cut=cut)
    message = fold(Message("m", "assistant", ()), sent)
    for kind in ("text", "reasoning"):
        assert types(sent).count(f"{kind}-start") == types(sent).count(f"{kind}-end")
    states = {part.state for part in message.parts if isinstance(part, ToolPart)}
    assert states <= ({"output-error"} if cut else {"output-error", "input-available"})
    said = "".join(e.text for e in events if isinstance(e, TextDelta))
    shown = message.text
    assert shown.replace("\n", "").replace(" ", "") == said.replace("\n", "").replace(" ", "")


def test_a_value_may_be_as_deep_as_the_log_allows() -> None:
    value: Any = 1
    for _ in range(MOST_LEVELS):
        value = [value]
    assert fault_of(value) is None
    assert fault_of([value]) == f"It is nested deeper than {MOST_LEVELS} levels."
    assert fault_of({"a": [float("nan")]}) == "nan is no JSON number."
    refused: list[Any] = [{"__proto__": 1}, {"a": [{"constructor": {"prototype": {}}}]}]
    for bad in refused:
        assert fault_of(bad) == "It has a field that would change a JavaScript prototype."
    assert fault_of({"constructor": "prototype", "prototype": 1}) is None
