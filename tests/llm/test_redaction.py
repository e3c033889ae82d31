"""No key stands in a text, neither whole nor masked."""

from __future__ import annotations

import base64
import html
import json
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from plugin.assistant.llm.redaction import LONGEST_DETAIL, LONGEST_READ, without_keys


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


KEY = "my-Key_0123+456/789.Zz~"


def percent(text: str) -> str:
    return "".join(f"%{ord(each):02X}" for each in text)


def in_base64(before: str, after: str) -> str:
    return base64.b64encode(f"{before}{KEY}{after}".encode()).decode()


ENCODED: dict[str, Callable[[], str]] = {
    "hyphen": lambda: KEY.replace("-", "%2D"),
    "lower case": lambda: KEY.replace("-", "%2d").replace("_", "%5f"),
    "URL": lambda: quote(KEY, safe=""),
    "all in percent": lambda: percent(KEY),
    "twice": lambda: quote(quote(KEY, safe=""), safe=""),
    "JSON": lambda: json.dumps(KEY).replace("-", "\\u002d").replace("+", "\\u002B"),
    "HTML": lambda: html.escape(KEY).replace("-", "&#45;").replace("/", "&#x2F;"),
    "hexadecimal": lambda: KEY.encode().hex(),
    "HEXADECIMAL": lambda: KEY.encode().hex().upper(),
    **{
        f"base64 {before!r} {after!r}": lambda before=before, after=after: in_base64(before, after)  # type: ignore[misc]
        for before in ("", "u", "us", "user:", "user:p", "Bearer ")
        for after in ("", "\n", "ab", "abc")
    },
    "base64 for URLs": lambda: base64.urlsafe_b64encode(b"\xff?>" + KEY.encode()).decode(),
    "base64 in a URL": lambda: quote(in_base64("a", ""), safe=""),
}


@pytest.mark.parametrize("form", ENCODED)
def test_a_key_in_another_form_is_replaced(form: str) -> None:
    text = f"The key {ENCODED[form]()} is not known here."
    assert without_keys(text, KEY) == "The key [key] is not known here." or (
        form == "JSON" and without_keys(text, KEY) == 'The key "[key]" is not known here.'
    )


def test_a_key_is_replaced_before_a_text_is_cut() -> None:
    for before in range(LONGEST_DETAIL - len(KEY) - 2, LONGEST_DETAIL + 2):
        assert KEY[:6] not in without_keys("x" * before + " " + KEY, KEY)
    for before in range(LONGEST_READ - len(KEY) - 2, LONGEST_READ + 2):
        text = f"{KEY} " * (before // (len(KEY) + 1))
        assert KEY[:6] not in without_keys(text.ljust(before) + KEY, KEY)


@pytest.mark.parametrize("text", ["x" * 10**6, "*" * 10**6, "sk-" * 10**6, "%2D" * 10**6])
def test_the_work_does_not_grow_with_the_square_of_the_text(text: str) -> None:
    """These took minutes: the time of a whole event loop."""
    began = time.process_time()
    without_keys(text, KEY)
    assert time.process_time() - began < 5
