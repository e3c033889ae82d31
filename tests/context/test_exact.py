"""Exact counts of tokens, where the optional package is installed."""

import sys

import pytest
from plugin.assistant.config import Settings
from plugin.assistant.context import exact
from plugin.assistant.context.chat_context import ChatContext
from plugin.assistant.context.exact import counter_of, encoding_of
from plugin.assistant.context.tokens import MESSAGE_TOKENS, text_tokens
from plugin.assistant.context.window import Budget, Window

from .histories import a_round, answer, rounds, user

WINDOW = Window(8_192, known=True)


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "o200k_base"),
        ("openai/gpt-4.1-mini", "o200k_base"),
        ("gpt-5.4-nano", "o200k_base"),
        ("o3", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("gpt-oss:20b", None),
        ("gpt2", None),
        ("olmo-2", None),
        ("someone/gpt-4o", None),
        ("qwen3:8b", None),
        ("", None),
    ],
)
def test_the_vocabulary_is_known_by_the_model_s_name(model: str, encoding: str | None) -> None:
    assert encoding_of(model) == encoding


def test_a_model_of_others_is_estimated() -> None:
    assert counter_of("qwen3:8b") is None


def test_without_the_package_all_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    exact._counter.cache_clear()
    assert counter_of("gpt-4o") is None
    exact._counter.cache_clear()


def test_with_it_a_request_has_the_exact_count() -> None:
    pytest.importorskip("toktok")
    count = counter_of("gpt-4o")
    assert count is not None
    assert count("") == 0
    assert count("hello world") == 2
    assert count("\ud83d lone") > 0
    history = (user("hello world"), answer("hello world"), user("hello world"))
    made = ChatContext(Settings(), Budget(WINDOW, count=count), messages=history).plan()
    assert made.tokens == 3 * (2 + MESSAGE_TOKENS)


def counted(text: str) -> int:
    """A vocabulary with a token for each word."""
    return len(text.split())


def test_another_model_s_count_takes_the_place_of_the_last_one_s() -> None:
    history = (user("one two three"), *a_round("a", text="four five"), answer("six"), user("seven"))
    context = ChatContext(Settings(), Budget(WINDOW), messages=history)
    estimated = context.plan()
    context.prepare(Budget(WINDOW, count=counted), None, ())
    exactly = context.plan()
    assert exactly.tokens == 7 + 1 + 1 + 6 * MESSAGE_TOKENS  # the call's name and its arguments
    context.prepare(Budget(WINDOW), None, ())
    assert context.plan() == estimated


@pytest.mark.parametrize("cache", ["none", "auto"])
def test_a_plan_keeps_to_its_window_by_the_exact_count(cache: str) -> None:
    def dense(text: str) -> int:
        return 2 * text_tokens(text)

    budget = Budget(Window(2_048, known=True), count=dense)
    context = ChatContext(Settings(prompt_cache=cache), budget, messages=(user("go"),))
    for message in rounds(40, text="words and words " * 60):
        context.append(message)
        if message.role == "tool":
            made = context.plan()
            assert sum(dense(sent.text) for sent in made.messages) <= budget.prompt
