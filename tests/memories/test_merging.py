"""Which memory says the same as another, and which it replaces."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plugin.assistant.memory import merging
from plugin.assistant.memory.memory import Memory, Statement
from plugin.assistant.memory.merging import Compared

WORDS = st.sampled_from("portrait fox snow gpu seed light flux never 42 12 24".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)


def memory(number: int, text: str) -> Memory:
    return Memory(f"m{number}", "fact", text, (), None, "2026-11-22T00:00:00")


@settings(max_examples=300)
@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_no_memory_that_matches_is_passed_over(texts: list[str], text: str) -> None:
    known = [memory(number, one) for number, one in enumerate(texts)]
    alone = [(one, Compared([one])) for one in known]
    statement, every = Statement(text), Compared(known)
    assert every.same(statement) == next(
        (one for one, compared in alone if compared.same(statement)), None
    )
    assert every.replaced(statement) == [
        one for one, compared in alone if compared.replaced(statement)
    ]


def test_memories_that_share_one_common_word_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An import of thousands holds all turns up while it compares."""
    asked: list[str] = []
    says_same = merging._says_same

    def counted(one: merging._Read, other: merging._Read) -> bool:
        asked.append(other.plain)
        return says_same(one, other)

    monkeypatch.setattr(merging, "_says_same", counted)
    names = ["".join(letters) for letters in product("bcdfghjk", repeat=3)]
    known = Compared(memory(n, f"portrait fo{name} sno{name}") for n, name in enumerate(names))
    text = f"portrait fo{names[7]} sno{names[7]}"
    assert known.same(Statement(text)) == memory(7, text)
    assert known.same(Statement("portrait bear train")) is None
    assert len(asked) == 1
