"""The terms of texts and of queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.search import words
from plugin.assistant.search.stemming import stem
from plugin.assistant.search.words import (
    LONGEST_TERM,
    MOST_QUERY_TERMS,
    index_terms,
    query_terms,
    spans,
)
from plugin.tests.memory import held_bytes


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("We upscaled the images.", "upscaling an image"),
        ("She went home and bought bread.", "go buy"),
        ("KSamplerAdvanced failed", "ksampler"),
        ("KSamplerAdvanced failed", "sampler"),
        ("KSamplerAdvanced failed", "ksampleradvanced"),
        ("loads models/checkpoints/sd_xl_base_1.0.safetensors", "sd_xl_base_1.0.safetensors"),
        ("loads models/checkpoints/sd_xl_base_1.0.safetensors", "sd_xl_base_1.0"),
        ("loads models\\checkpoints\\sd_xl_base_1.0.safetensors", "xl base"),
        ("control_after_generate", "control after"),
        ("an image of 1024x768", "768"),
        ("cfg 7.5", "7.5"),
        ("seed: 889956993663486", "889956993663486"),
        ("node #12 is red", "#12"),
        ("naïve Ünïcode ＦＵＬＬ", "naive unicode full"),
        ("我喜欢这只猫的照片", "喜欢"),
        ("我喜欢这只猫的照片", "猫"),
        ("画像を拡大する", "拡大"),
        ("이미지를 확대했습니다", "확대"),
        ("ขยายภาพ", "ภาพ"),
        ("Größe der Straße", "strasse"),
        ("Привет, мир", "мир"),
    ],
)
def test_all_terms_of_the_query_are_terms_of_the_text(text: str, query: str) -> None:
    terms = query_terms(query)
    assert terms
    assert set(terms) <= index_terms(text)


def test_words_that_say_nothing_are_looked_for_only_when_alone() -> None:
    assert query_terms("what is the seed?") == ("seed",)
    assert query_terms("what is the") == ("what", "is", "the")


def test_a_shortened_form_is_its_word() -> None:
    assert index_terms("John's seed isn't ours") == {"john", "seed", "is", "our"}


def test_data_is_no_term() -> None:
    assert index_terms("A" * 5_000) == frozenset()


def test_of_a_long_query_the_longest_words_stay_in_their_order() -> None:
    terms = query_terms(" ".join(f"w{number}" for number in range(100)) + " identifier 99x77y")
    assert len(terms) == MOST_QUERY_TERMS
    assert terms[0].startswith("w") and "identifi" in terms and "99x77y" in terms


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("agreed", "agre"),
        ("hopping", "hop"),
        ("filing", "file"),
        ("happy", "happi"),
        ("relational", "relat"),
        ("electrical", "electr"),
        ("hopefulness", "hope"),
        ("adoption", "adopt"),
        ("controll", "control"),
        ("children", "child"),
        ("as", "as"),
    ],
)
def test_stems_are_those_of_porter(word: str, expected: str) -> None:
    assert stem(word) == expected


@given(st.text())
def test_terms_are_such_that_the_index_takes_each_as_one(text: str) -> None:
    for term in index_terms(text) | set(query_terms(text)):
        assert 0 < len(term) <= LONGEST_TERM
        assert all(not sign.isascii() or sign.isalnum() or sign == "_" for sign in term)
        assert term == term.strip() and " " not in term


@given(st.text())
def test_the_words_of_a_text_find_it(text: str) -> None:
    assert set(query_terms(text)) <= index_terms(text)


@given(st.text(), st.text())
def test_marks_lie_in_the_text_and_do_not_overlap(text: str, query: str) -> None:
    last = 0
    for start, end, found in spans(text, frozenset(query_terms(query))):
        assert last <= start < end <= len(text)
        assert found
        last = end


def test_the_names_of_many_long_texts_hold_little_memory() -> None:
    for number in range(40_000):
        name = f"models/loras/lora{number}-{number * 7}/{number}_v2_{number * 3}.safetensors"
        index_terms(name)
        index_terms(f"word{number}")
        list(spans(name, frozenset()))
    caches = [one for one in vars(words).values() if hasattr(one, "cache_info")]
    assert 0 < held_bytes(*caches) < 12_000_000
