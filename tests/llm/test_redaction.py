"""No key stands in a text, neither whole nor masked."""

from __future__ import annotations

import pytest
from plugin.assistant.llm.redaction import LONGEST_DETAIL, without_keys


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-abcdefgh1234.",
        "Incorrect API key provided: sk-proj-********1234.",
        "Authorization: Bearer abcdefgh1234",
        "key gsk_abcdefgh1234 was revoked",
        "token 'mine-abcdefgh1234' is unknown",
    ],
)
def test_a_key_is_replaced_wherever_it_stands(text: str) -> None:
    shown = without_keys(text, "mine-abcdefgh1234")
    assert "1234" not in shown
    assert "[key]" in shown


def test_words_that_people_enter_where_no_key_is_needed_stay_readable() -> None:
    assert without_keys("model not found on ollama", "ollama") == "model not found on ollama"


def test_ordinary_words_stay_as_they_are() -> None:
    text = "The api-version is wrong; the model gpt-4.1-mini does not exist (task-based)."
    assert without_keys(text) == text


def test_a_long_text_is_cut() -> None:
    assert len(without_keys("x" * 5000)) <= LONGEST_DETAIL + 4
