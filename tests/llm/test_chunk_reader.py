"""The chunks of all servers, read as the same events."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.llm.caps import NOTHING_WRITTEN, CapReached, Caps, Written
from plugin.assistant.llm.chunk_reader import FINISH_REASONS, MOST_TOKENS, ChunkReader
from plugin.assistant.llm.stream_events import (
    Event,
    Finish,
    KeptReasoning,
    ModelName,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from plugin.tests.growth import MOST_GROWTH, growth


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def calls(*entries: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(entries))


def piece(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """An entry of `tool_calls`; `name` and arguments go into its `function`."""
    function = {"name": fields.pop("name")} if "name" in fields else {}
    if arguments is not None:
        function["arguments"] = arguments
    return {**fields, "function": function}


def read(*chunks: Any) -> list[Event]:
    reader = ChunkReader(lambda: "made_")
    return [event for chunk in chunks for event in reader.feed(chunk)] + list(reader.end())


def whole_calls(events: list[Event]) -> list[tuple[str, str, str]]:
    """Each call as (id, name, arguments)."""
    starts = [event for event in events if isinstance(event, ToolCallStart)]
    assert [start.index for start in starts] == list(range(len(starts)))
    return [
        (
            start.id,
            start.name,
            "".join(
                e.arguments
                for e in events
                if isinstance(e, ToolCallDelta) and e.index == start.index
            ),
        )
        for start in starts
    ]


def test_text_usage_and_finish_come_in_this_order() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    assert read(
        {**delta(content="Hel"), "model": "m"},
        delta(content="lo"),
        delta("stop"),
        {"choices": [], "usage": usage},
    ) == [ModelName("m"), TextDelta("Hel"), TextDelta("lo"), Usage(3, 2), Finish("stop")]


def test_a_call_comes_as_openai_sends_it() -> None:
    events = read(
        calls(piece("", index=0, id="c1", name="look")),
        calls(piece('{"a"', index=0)),
        calls(piece(":1}", index=0)),
        delta("tool_calls"),
    )
    assert events == [
        ToolCallStart(0, "c1", "look"),
        ToolCallDelta(0, '{"a"'),
        ToolCallDelta(0, ":1}"),
        Finish("tool-calls"),
    ]


def test_names_and_ids_that_every_chunk_repeats_are_taken_once() -> None:
    events = read(
        *(calls(piece(p, index=0, id="c1", name="look")) for p in ("{", '"a":', "1", "}")),
    )
    assert whole_calls(events) == [("c1", "look", '{"a":1}')]


def test_a_fresh_id_in_every_chunk_does_not_begin_another_call() -> None:
    events = read(
        calls(piece('{"a"', index=0, id="x1", name="look")),
        calls(piece(":1}", index=0, id="x2")),
    )
    assert whole_calls(events) == [("x1", "look", '{"a":1}')]


def test_parallel_calls_may_interleave_by_index() -> None:
    events = read(
        calls(piece("", index=0, id="a", name="one"), piece("", index=1, id="b", name="two")),
        calls(piece('{"n"', index=0), piece('{"m"', index=1)),
        calls(piece(":2}", index=1), piece(":1}", index=0)),
    )
    assert whole_calls(events) == [("a", "one", '{"n":1}'), ("b", "two", '{"m":2}')]


def test_calls_that_are_all_numbered_zero_are_told_apart_by_their_ids() -> None:
    events = read(
        calls(piece('{"n":1}', index=0, id="a", name="look")),
        calls(piece('{"n":2}', index=0, id="b", name="look")),
    )
    assert whole_calls(events) == [("a", "look", '{"n":1}'), ("b", "look", '{"n":2}')]


def test_calls_without_an_index_are_told_apart() -> None:
    events = read(
        calls(piece('{"n"', id="a", name="one")),
        calls(piece(":1}")),
        calls(piece("{}", id="b", name="two")),
    )
    assert whole_calls(events) == [("a", "one", '{"n":1}'), ("b", "two", "{}")]


def test_several_calls_in_one_chunk_without_index_or_id_get_ids_of_our_own() -> None:
    events = read(calls(piece('{"n":1}', name="one"), piece('{"n":2}', name="one")))
    assert whole_calls(events) == [
        ("made_0", "one", '{"n":1}'),
        ("made_1", "one", '{"n":2}'),
    ]


@pytest.mark.parametrize("missing", [None, ""])
def test_a_null_or_empty_id_is_a_missing_id(missing: str | None) -> None:
    events = read(calls(piece("{}", index=0, id=missing, name="look")))
    assert whole_calls(events) == [("made_0", "look", "{}")]


def test_an_id_that_two_calls_share_is_given_to_the_first_only() -> None:
    events = read(
        calls(piece("{}", index=0, id="same", name="one")),
        calls(piece("{}", index=1, id="same", name="two")),
    )
    assert [call[0] for call in whole_calls(events)] == ["same", "made_1"]


def test_arguments_may_come_as_an_object() -> None:
    events = read(calls(piece({"a": [1, "ü"]}, index=0, id="c", name="look")))
    assert json.loads(whole_calls(events)[0][2]) == {"a": [1, "ü"]}


def test_an_object_of_arguments_that_is_repeated_counts_once() -> None:
    entry = piece({"a": 1}, index=0, id="c", name="look")
    assert whole_calls(read(calls(entry), calls(entry))) == [("c", "look", '{"a": 1}')]


def test_arguments_that_come_before_the_name_are_kept() -> None:
    events = read(calls(piece('{"a":', index=0, id="c")), calls(piece("1}", index=0, name="look")))
    assert whole_calls(events) == [("c", "look", '{"a":1}')]


def test_the_older_function_call_is_a_tool_call() -> None:
    events = read(
        delta(function_call={"name": "look", "arguments": "{"}),
        delta("function_call", function_call={"arguments": "}"}),
    )
    assert whole_calls(events) == [("made_0", "look", "{}")]
    assert events[-1] == Finish("tool-calls")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_told_by_its_field(field: str) -> None:
    assert read(delta(**{field: "hm"}))[0] == ReasoningDelta("hm", field)  # type: ignore[arg-type]


def test_reasoning_under_two_names_counts_once() -> None:
    events = read(delta(reasoning="hm", reasoning_content="hm"))
    assert events == [ReasoningDelta("hm", "reasoning_content")]


def test_reasoning_blocks_come_whole_when_the_reasoning_ends() -> None:
    block = {"type": "reasoning.text", "index": 0}
    thoughts = [delta(reasoning=t, reasoning_details=[{**block, "text": t}]) for t in "ab"]
    said = [ReasoningDelta("a", "reasoning"), ReasoningDelta("b", "reasoning")]
    kept = KeptReasoning(({**block, "text": "ab"},))
    assert read(*thoughts) == [*said, kept]
    blank, text = delta(content=" "), delta(content="so")
    assert read(*thoughts, blank, text) == [*said, kept, TextDelta(" so")]
    call = calls(piece("{}", index=0, id="c", name="look"))
    assert read(*thoughts, call)[2:4] == [kept, ToolCallStart(0, "c", "look")]


def test_reasoning_that_comes_as_details_only_is_still_shown() -> None:
    text = {"type": "reasoning.text", "text": "hm"}
    hidden = {"type": "reasoning.encrypted", "data": "x"}
    assert read(delta(reasoning_details=[text, hidden])) == [
        ReasoningDelta("hm", "reasoning"),
        KeptReasoning((text, hidden)),
    ]


def test_many_blocks_in_one_chunk_are_joined_in_several_steps() -> None:
    """Other tasks run between two events. 256 blocks take about two milliseconds."""
    blocks = [{"type": "t", "id": str(n), "text": "hm"} for n in range(10_000)]
    first, *others, kept = read(delta(reasoning_details=blocks))
    assert first == ReasoningDelta("hm" * 10_000, "reasoning")
    assert others == [ReasoningDelta("", "reasoning")] * 39
    assert kept == KeptReasoning(tuple(blocks))


def taken_of(reader: ChunkReader, chunk: Any) -> int:
    """How often a reader takes this chunk before it reaches a cap."""
    for taken in range(100_000):
        try:
            list(reader.feed(chunk))
        except CapReached:
            return taken
    raise AssertionError("no cap was reached")


def test_of_blocks_in_small_pieces_only_what_is_kept_counts() -> None:
    """The names and the words that each piece repeats are kept once."""
    piece = {"type": "reasoning.text", "text": "word ", "format": "some-format", "index": 0}
    reader = ChunkReader(lambda: "made_", Caps(reasoning=50_000))
    chunk = delta(reasoning="word ", reasoning_details=[piece])
    assert taken_of(reader, chunk) > 0.98 * 50_000 / len("word ")


def test_of_blocks_that_stay_apart_each_counts_whole() -> None:
    piece = {"type": "reasoning.text", "text": "word ", "format": "some-format"}
    reader = ChunkReader(lambda: "made_", Caps(reasoning=50_000))
    assert taken_of(reader, delta(reasoning="word ", reasoning_details=[piece])) < 50_000 / 60


def test_a_signature_that_is_replaced_counts_once() -> None:
    reader = ChunkReader(lambda: "made_", Caps(reasoning=5_000))
    for number in range(1_000):
        block = {"index": 0, "signature": f"{number:04}" * 500}
        list(reader.feed(delta(reasoning_details=[block])))


def test_a_block_that_begins_after_a_text_counts_anew() -> None:
    """What is written after a text is a part of its own, with blocks of its own."""
    reader = ChunkReader(lambda: "made_", Caps(reasoning=5_000))
    block = {"index": 0, "data": "x" * 1_000}
    for _ in range(4):
        list(reader.feed(delta(reasoning_details=[block])))
        list(reader.feed(delta(content="word")))
    assert taken_of(reader, delta(reasoning_details=[block])) == 0


def test_think_tags_in_the_text_are_reasoning() -> None:
    events = read(delta(content="<thi"), delta(content="nk>hm</th"), delta(content="ink>yes"))
    assert events == [ReasoningDelta("hm", "think"), TextDelta("yes")]


def test_text_held_back_for_a_tag_comes_at_the_end() -> None:
    assert read(delta(content="<th"), delta("stop")) == [TextDelta("<th"), Finish("stop")]


def test_content_may_be_a_list_of_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"},
    ]
    assert read(delta(content=parts)) == [ReasoningDelta("hm", "think"), TextDelta("yes")]


def test_a_refusal_is_text_for_the_user() -> None:
    assert read(delta(refusal="I will not.")) == [TextDelta("I will not.")]


def test_usage_in_every_chunk_counts_once_and_the_last_holds() -> None:
    events = read(
        {**delta(content="a"), "usage": {"prompt_tokens": 5, "completion_tokens": 1}},
        {**delta("stop", content="b"), "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )
    assert [event for event in events if isinstance(event, Usage)] == [Usage(5, 2)]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 6},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Usage(9, 4, 6, 3),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 5},
            Usage(9, 4, 5),
        ),
        (
            {
                "input_tokens": 2,
                "output_tokens": 4,
                "cache_read_input_tokens": 5,
                "cache_creation_input_tokens": 3,
            },
            Usage(10, 4, 5, written_tokens=3),
        ),
        ({"prompt_tokens": 1, "prompt_tokens_details": None}, Usage(1)),
    ],
)
def test_usage_is_read_under_every_provider_s_names(usage: Any, expected: Usage) -> None:
    assert read({"choices": [], "usage": usage}) == [expected]


@pytest.mark.parametrize("usage", [None, {}, "x", {"prompt_tokens": "7"}, {"prompt_tokens": -1}])
def test_usage_that_says_nothing_is_no_usage(usage: Any) -> None:
    assert read({"choices": [], "usage": usage}) == []


@pytest.mark.parametrize(("word", "reason"), FINISH_REASONS.items())
def test_every_known_finish_word_is_understood(word: str, reason: str) -> None:
    expected = "stop" if reason == "tool-calls" else reason
    assert read(delta(word, content="x"))[-1] == Finish(expected)  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["stop", "tool_calls", "function_call", "eos", "whatever"])
def test_an_answer_with_calls_finishes_for_them_whatever_the_server_says(word: str) -> None:
    assert read(calls(piece("{}", index=0, name="look")), delta(word))[-1] == Finish("tool-calls")


def test_a_null_finish_reason_is_none() -> None:
    reader = ChunkReader(lambda: "made_")
    list(reader.feed({"choices": [{"delta": {"content": "x"}, "finish_reason": None}]}))
    assert not reader.finished
    assert list(reader.end()) == []


def test_an_answer_that_was_not_streamed_reads_the_same() -> None:
    message = {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": "Looking.",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "one", "arguments": "{broken"}},
            {"id": "b", "type": "function", "function": {"name": "one", "arguments": "{}"}},
        ],
    }
    events = read({"model": "m", "choices": [{"message": message, "finish_reason": "tool_calls"}]})
    assert events[:3] == [
        ModelName("m"),
        ReasoningDelta("hm", "reasoning_content"),
        TextDelta("Looking."),
    ]
    assert whole_calls(events) == [("a", "one", "{broken"), ("b", "one", "{}")]
    assert events[-1] == Finish("tool-calls")


DEEP: Any = "x"
for _ in range(60):  # As many levels as `foreign_json` lets through.
    DEEP = [DEEP] if _ % 2 else {"text": DEEP}
NUMBERS = (
    st.integers()
    | st.floats()
    | st.sampled_from([10**30, 10**400, -(10**400), float("inf"), float("nan")])
)
FIELDS = (
    "choices delta message content tool_calls index id function function_call name arguments usage "
    "model finish_reason reasoning reasoning_content reasoning_details refusal type text thinking "
    "summary prompt_tokens completion_tokens input_tokens output_tokens cached_tokens "
    "prompt_tokens_details completion_tokens_details cache_read_input_tokens "
    "cache_creation_input_tokens"
).split()
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=8) | st.sampled_from(["\ud800", DEEP]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)
    ),
    max_leaves=24,
)


DELTAS = st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)
CHUNKS = st.dictionaries(st.sampled_from(["choices", "usage", "model"]), JSON) | st.builds(
    lambda fields, usage, finish: {
        "choices": [{"delta": fields, "finish_reason": finish}],
        "usage": usage,
    },
    DELTAS,
    DELTAS,
    JSON,
)


@given(st.lists(CHUNKS, max_size=6))
def test_no_chunk_of_json_is_fatal_and_every_delta_has_a_start(chunks: list[Any]) -> None:
    started = set()
    ids = []
    for event in read(*chunks):
        if isinstance(event, ToolCallStart):
            assert event.name
            started.add(event.index)
            ids.append(event.id)
        elif isinstance(event, ToolCallDelta):
            assert event.index in started
        elif isinstance(event, Usage):
            assert all(n is None or 0 <= n <= 2 * MOST_TOKENS for n in astuple(event)[:2])
    assert len(ids) == len(set(ids))


def ended(caps: Caps, *chunks: Any, written: Written = NOTHING_WRITTEN) -> tuple[list[Event], str]:
    """The events up to a cap, and what was counted there."""
    reader = ChunkReader(lambda: "made_", caps, written)
    events: list[Event] = []
    try:
        for chunk in chunks:
            for event in reader.feed(chunk):
                events.append(event)
    except CapReached as reached:
        return events, reached.counted
    return events, ""


@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 100])
def test_text_is_given_out_up_to_its_cap(most: int) -> None:
    events, counted = ended(Caps(text=most), *[delta(content="\u00fc")] * 60)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == "\u00fc" * (most // 2)
    assert counted == "text"


def test_what_is_written_already_counts() -> None:
    events, counted = ended(Caps(text=10), delta(content="x" * 9), written=Written(text=4))
    assert (events, counted) == ([TextDelta("x" * 6)], "text")


def test_reasoning_in_the_text_counts_as_reasoning() -> None:
    events, counted = ended(Caps(text=5, reasoning=8), delta(content="<think>" + "x" * 9))
    assert (events, counted) == ([ReasoningDelta("x" * 8, "think")], "reasoning")


def test_an_answer_that_just_fits_is_whole() -> None:
    caps = Caps(text=5, reasoning=4, calls=1, arguments=8)
    call = calls(piece("{}", index=0, id="c1", name="look"))
    events, counted = ended(caps, delta(content="Hello", reasoning="hm, "), call)
    assert counted == ""
    assert len(events) == 4


def test_no_call_begins_beyond_the_cap() -> None:
    entries = [piece("{}", index=n, id=f"c{n}", name="look") for n in range(9)]
    events, counted = ended(Caps(calls=3), calls(*entries))
    assert [call[0] for call in whole_calls(events)] == ["c0", "c1", "c2"]
    assert counted == "calls"


def test_the_arguments_of_all_calls_count_together() -> None:
    entries = [piece("x" * 10, index=n, id=str(n), name="look") for n in range(9)]
    events, counted = ended(Caps(arguments=32), calls(*entries))
    assert [len(call[2]) for call in whole_calls(events)] == [10, 10, 0]
    assert counted == "arguments"


def test_the_prefix_of_made_ids_is_made_once() -> None:
    made: list[str] = []

    def prefix() -> str:
        made.append("made_")
        return "made_"

    reader = ChunkReader(prefix)
    for number in range(50):
        list(reader.feed(calls(piece("{}", index=number, name="look"))))
    assert len(made) == 1


def test_names_and_ids_without_end_are_cut() -> None:
    long = "n" * 100_000
    [(identity, name, _)] = whole_calls(read(calls(piece("{}", index=0, id=long, name=long))))
    assert len(identity) == len(name) == 256
    assert len(str(read({**delta("x" * 10**6, content="a"), "model": long})[0])) < 1_000


ARGUMENT_FLOODS = {
    "an id each": {"id": "c"},
    "a name each": {"name": "look"},
    "both": {"id": "c", "name": "look"},
    "neither": {},
}


@pytest.mark.parametrize("fields", ARGUMENT_FLOODS.values(), ids=ARGUMENT_FLOODS)
def test_arguments_in_small_pieces_take_linear_time(fields: dict[str, Any]) -> None:
    def work(text: str) -> None:
        first = calls(piece('{"a": "', index=0, id="c", name="look"))
        more = [calls(piece(text[n : n + 10], index=0, **fields)) for n in range(0, len(text), 10)]
        read(first, *more)

    assert growth(work, "x", 20_000) < MOST_GROWTH


def test_arguments_before_a_name_take_linear_time() -> None:
    def work(text: str) -> None:
        read(*(calls(piece(text[n : n + 10], index=0)) for n in range(0, len(text), 10)))

    assert growth(work, "x", 40_000) < MOST_GROWTH


@pytest.mark.parametrize("unit", [" ", "\n", "<", "<think>", "<think>\n", "</", "</think>"])
def test_text_in_small_pieces_takes_linear_time(unit: str) -> None:
    def work(text: str) -> None:
        read(*(delta(content=text[n : n + 5]) for n in range(0, len(text), 5)))

    assert growth(work, unit, 20_000) < MOST_GROWTH
    assert growth(lambda text: work("<think>" + text), unit, 20_000) < MOST_GROWTH


def test_a_content_of_many_parts_is_one_piece() -> None:
    parts = [{"type": "text", "text": "a"}] * 1_000
    assert read(delta(content=parts)) == [TextDelta("a" * 1_000)]
