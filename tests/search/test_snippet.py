"""The part of a long text that fits a query."""

from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.search.snippet import stretch
from plugin.assistant.search.words import index_terms


@given(st.text(max_size=300), st.sets(st.text(max_size=9), max_size=4), st.integers(1, 60))
def test_a_stretch_is_a_part_of_the_text(text: str, terms: set[str], chars: int) -> None:
    shown = stretch(text, frozenset(terms), chars)
    assert shown in text
    assert len(shown) == min(chars, len(text))


def test_a_stretch_has_the_most_different_terms() -> None:
    text = f"{'cat ' * 500}{'x ' * 500}A city, a cat and upscaled.safetensors here.{' y' * 900}"
    terms = index_terms("cities cat upscaled.safetensors")
    shown = stretch(text, terms, 400)
    assert "A city, a cat and upscaled.safetensors here." in shown
