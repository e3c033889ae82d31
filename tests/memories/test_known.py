"""What is known of a name, among thousands of memories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.memory import known
from plugin.assistant.memory.known import Known, naming
from plugin.assistant.memory.memory import Memory
from plugin.assistant.memory.wording import plain

WORDS = st.sampled_from("Mira fox harbor project Flux, the 狐狸".split())
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
NAMES = st.lists(TEXTS.map(plain), max_size=4)


def memory(number: int, text: str, *entities: str) -> Memory:
    return Memory(f"m{number}", "relation", text, entities, None, "2026-11-22T00:00:00")


@given(TEXTS, st.lists(TEXTS, max_size=3), NAMES)
def test_a_memory_names_one_of_many_as_it_names_each(
    text: str, entities: list[str], wanted: list[str]
) -> None:
    one = memory(1, text, *entities)
    known_as = {plain(name) for name in entities}
    has = [name in known_as or f" {name} " in f" {plain(text)} " for name in wanted if name]
    assert naming(wanted)(one) == any(has)


def test_a_name_that_is_related_to_hundreds_is_looked_up_once_in_each_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The time grew with the square: among 4,000 memories it took a minute."""
    read: list[str] = []

    def counted(text: str) -> str:
        read.append(text)
        return plain(text)

    monkeypatch.setattr(known, "plain", counted)
    hub = [memory(n, f"Hub likes Name{n}", "Hub", f"Name{n}") for n in range(300)]
    others = [memory(300 + n, f"Rim shuns Else{n}", "Rim", f"Else{n}") for n in range(300)]
    found, relations = Known(1, (*hub, *others, memory(600, "Name7 is red"))).entity("Hub")
    assert (len(found), len(relations)) == (301, 300)
    assert len(read) < 10 * 600
