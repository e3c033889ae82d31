"""The cost of a request."""

import json
import re

import pytest
from plugin.assistant.formats import Rates
from plugin.assistant.llm.pricing import FILE, cost_of
from plugin.assistant.llm.provider import OPENAI_BASE_URL, Provider
from plugin.assistant.llm.stream_events import Usage

MILLION = 1_000_000
OPENAI = Provider("OpenAI", OPENAI_BASE_URL, "gpt-4.1")
CLAUDE = Provider("Claude", "https://api.anthropic.com/v1", "claude-opus-4-5-20251101")
LOCAL = Provider("Ollama", "http://127.0.0.1:11434/v1", "gpt-4.1")


def test_input_cached_input_and_output_have_their_prices() -> None:
    assert cost_of(OPENAI, Usage(MILLION, 0)) == 2.0
    assert cost_of(OPENAI, Usage(MILLION, 0, cached_tokens=MILLION)) == 0.5
    assert cost_of(OPENAI, Usage(0, MILLION)) == 8.0
    assert cost_of(OPENAI, Usage(MILLION, MILLION, MILLION // 2)) == 1.0 + 0.25 + 8.0


def test_what_is_written_into_a_cache_has_a_price_of_its_own() -> None:
    usage = Usage(MILLION, 0, cached_tokens=MILLION // 2, written_tokens=MILLION // 2)
    assert cost_of(CLAUDE, usage) == 0.25 + 3.125


def test_a_version_of_a_model_costs_what_the_model_does() -> None:
    dated = Provider("OpenAI", OPENAI_BASE_URL, "gpt-4.1-2025-04-14")
    assert cost_of(dated, Usage(MILLION)) == 2.0


def test_a_prompt_beyond_what_a_price_is_for_has_none() -> None:
    gemini = Provider(
        "Google",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "models/gemini-2.5-pro",
    )
    assert cost_of(gemini, Usage(200_000)) == 0.25
    assert cost_of(gemini, Usage(200_001)) is None


@pytest.mark.parametrize(
    "provider",
    [
        LOCAL,
        Provider("OpenAI", OPENAI_BASE_URL, "gpt-unheard-of"),
        Provider("Other", "https://llm.example.com/v1", "gpt-4.1"),
        Provider("Demo", "", "demo", source="demo"),
    ],
)
def test_what_has_no_known_price_costs_nothing_that_is_shown(provider: Provider) -> None:
    assert cost_of(provider, Usage(MILLION, MILLION)) is None


def test_without_a_count_nothing_is_known() -> None:
    assert cost_of(OPENAI, None) is None
    assert cost_of(OPENAI, Usage(output_tokens=5)) is None


def test_the_user_s_own_prices_win() -> None:
    assert cost_of(LOCAL, Usage(MILLION), {"": Rates(1, 0, 0)}) == 1.0
    assert cost_of(OPENAI, Usage(MILLION), {"gpt-4.1": Rates(7, 0, 0)}) == 7.0
    assert cost_of(OPENAI, Usage(MILLION), {"other": Rates(7, 0, 0)}) == 2.0


def test_prices_have_a_date_and_a_source_and_make_sense() -> None:
    body = json.loads(FILE.read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", body["date"])
    assert body["source"]
    assert (body["currency"], body["per_tokens"]) == ("USD", MILLION)
    for models in body["hosts"].values():
        for row in models.values():
            assert set(row) <= {"input", "cached", "output", "write", "up_to"}
            assert 0 < row["cached"] < row["input"] < row["output"]
            assert row.get("write", row["input"]) >= row["input"]
