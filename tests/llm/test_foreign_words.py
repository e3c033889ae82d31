"""Texts and numbers of errors, whatever a server writes: nothing raises, nothing takes long."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.errors import ProviderError
from plugin.assistant.llm import failures
from plugin.assistant.llm.caps import size_of
from plugin.assistant.llm.failures import read_refusal, refusal_in, refused
from plugin.assistant.llm.models import models_in
from plugin.assistant.llm.provider import Provider
from plugin.assistant.llm.reasoning import IDENTITIES, JOINED, ReasoningBlocks
from plugin.assistant.llm.redaction import without_keys
from plugin.assistant.llm.wordings import WORDINGS, prompt_leaves_room
from plugin.assistant.turn.measure import Measure, cost_in
from plugin.tests.growth import MOST_GROWTH, growth

PROVIDER = Provider("p", "http://127.0.0.1:9/v1", "m", "sk-0123456789abcdef")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
NUMBERS = st.sampled_from([0, -1, 1, True, 429, 1_000, 10**30, 10**400, math.inf, math.nan, 1e308])
JSON = st.recursive(
    st.none() | NUMBERS | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "error message detail msg code type metadata raw data id context_length meta n_ctx "
                "max_model_len".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([0, 200, 400, 429, 500, 599, 999, 10**6]))
def test_any_value_makes_an_error_with_a_sentence(value: Any, status: int) -> None:
    error = refused(PROVIDER, refusal_in(value, status), had_tools=True)
    assert isinstance(error, ProviderError)
    assert error.message.endswith(".")
    assert len(error.detail) < 700


@given(JSON)
def test_any_value_is_a_list_of_models_or_none(value: Any) -> None:
    for model in models_in({"data": [value, {"id": "m", "context_length": value}]}) or ():
        assert model.context_window is None or 0 < model.context_window < 10**10


@pytest.mark.parametrize(
    "header",
    [
        "9" * 400,
        "9" * 5_000,
        "1." + "9" * 400,
        "-5",
        "inf",
        "nan",
        "x",
        "",
        "Mon, 01 Jan 99999999999999999999 00:00:00 GMT",
        "Mon, 01 Jan 9999 00:00:00 -9999",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "1 2 3 4 5 6 7 8 9",
        "Mon, 32 Foo 2026 99:99:99",
    ],
)
@pytest.mark.parametrize("name", ["retry-after", "retry-after-ms"])
def test_any_wait_that_a_server_asks_for_is_a_wait_or_none(name: str, header: str) -> None:
    error = refused(PROVIDER, read_refusal(429, {name: header}, "Slow down", NOW))
    assert error.code == "rate_limited"
    assert error.retry_after is None or 0 <= error.retry_after < 10**9


@pytest.mark.parametrize("digits", [13, 400, 5_000])
def test_an_overflow_of_huge_numbers_is_an_overflow(digits: int) -> None:
    number = "9" * digits
    text = f"maximum context length is {number} tokens ({number} in the messages)"
    assert refused(PROVIDER, refusal_in({"error": {"message": text}}, 400)).code in (
        "context_overflow",
        "output_limit",
    )


@pytest.mark.parametrize("amount", [10**400, math.inf, math.nan, -1, True, "5", None, [1]])
def test_a_cost_in_foreign_metadata_is_a_finite_number(amount: Any) -> None:
    assert cost_in({"cost": {"amount": amount}}) is None


@pytest.mark.parametrize("number", [10**400, -1, True, 1.5, "5"])
def test_counts_in_foreign_metadata_are_counts(number: Any) -> None:
    before = {"usage": {"input_tokens": number}, "timing": {"total_ms": number}}
    measured = Measure(lambda: 0.0, before).to_json()
    assert measured == {"timing": {"total_ms": 0}}


UNITS = [
    "a",
    "-",
    "a-",
    "*",
    "**",
    "*a",
    "bearer ",
    "bearer",
    "sk-",
    "max_tokens: 1 ",
    "max_tokens: 1",
    "maximum context length is 1 (",
    "maximum context length is 1 (1 ",
    "maximum context length is 1 requested 1 output ",
    "(",
    "(1 ",
    "exceed context limit: 1 + ",
    "model ",
    "model is ",
    "input token count ",
    "not_found_error ",
    "unknown ",
    "tools ",
    "exceeds the ",
    "context ",
    "1",
    " ",
]


@pytest.mark.parametrize("unit", UNITS)
def test_every_pattern_over_an_error_takes_linear_time(unit: str) -> None:
    def work(text: str) -> None:
        for wording in WORDINGS:
            wording.pattern.search(text)
        prompt_leaves_room(text)

    assert growth(work, unit, 4_000) < MOST_GROWTH
    assert growth(lambda text: without_keys(text, "k" * 9), unit, 20_000) < MOST_GROWTH


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key ab***cd***ef is wrong", "key [key][key] is wrong"),
        ("key ***ef", "key [key]"),
        ("sk-abcdefgh and a-b-c**", "[key] and a-b-c**"),
        ("long-word-without-stars", "long-word-without-stars"),
    ],
)
def test_masked_keys_are_taken_out_as_before(text: str, shown: str) -> None:
    assert without_keys(text) == shown


def test_a_page_of_many_words_is_looked_at_only_in_its_beginning() -> None:
    assert failures.garbage(PROVIDER, "a " * 8_000_000).detail.startswith("a a a")


BLOCKS = st.lists(
    st.dictionaries(
        st.sampled_from(["type", "index", "id", "signature", "text", "summary", "data"]),
        st.none() | st.sampled_from(["a", "b", ""]) | st.integers(0, 2) | st.just(["x"]),
    ),
    max_size=12,
)


def merged_slowly(pieces: Any) -> tuple[dict[str, Any], ...]:
    """What `ReasoningBlocks` gives, looked up in all blocks for each piece."""
    blocks: list[dict[str, Any]] = []
    for piece in pieces:
        fitting = (
            block
            for name in IDENTITIES
            for block in blocks
            if block.get("type") == piece.get("type")
            and piece.get(name) is not None
            and block.get(name) == piece[name]
        )
        block = next(fitting, None)
        if block is None:
            blocks.append(dict(piece))
            continue
        for name, value in piece.items():
            known = block.get(name)
            if name in JOINED and isinstance(known, str) and isinstance(value, str):
                block[name] = known + value
            elif value is not None:
                block[name] = value
    return tuple(blocks)


@given(BLOCKS)
def test_blocks_merge_by_the_same_rule_in_linear_time(pieces: Any) -> None:
    blocks = ReasoningBlocks()
    size = sum(map(blocks.add, pieces))
    assert blocks.whole() == merged_slowly(pieces)
    assert size == sum(map(size_of, blocks.whole()))


@pytest.mark.parametrize("same", [True, False])
def test_many_blocks_take_linear_time(same: bool) -> None:
    def work(text: str) -> None:
        blocks = ReasoningBlocks()
        for number in range(len(text)):
            blocks.add({"type": "t", "id": "a" if same else str(number), "text": "hm"})

    assert growth(work, "x", 2_000) < MOST_GROWTH
