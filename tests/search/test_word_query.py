"""The law of the search for people: what a word of a text is, and what holds a query."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from plugin.assistant.search.folded_words import line_of, words_of
from plugin.assistant.search.fragments import SNIPPET_CHARS, found_in, shown
from plugin.assistant.search.word_query import Phrase, SearchedText, word_query
from plugin.tests.growth import MOST_GROWTH, growth

WORDS = st.sampled_from(
    [
        *"low lower sun Sunset café CAFE\u0301 don't 7.5 sd_xl_1.0 KSamplerA 1024x768".split(),
        *"夕阳 低垂的夕阳 好 的 サンプラー ｻﾝﾌﾟﾗｰ 씨드는 ½ ﬁne हिन्दी भाषा ไทย ß".split(),
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=6)), max_size=12).map(" ".join)


def words(text: str) -> list[str]:
    return [word.text for word in words_of(text)]


def test_words_are_folded_and_numbers_keep_their_points() -> None:
    assert words("Set KSampler's CFG to 7.5!") == ["set", "ksampler", "s", "cfg", "to", "7.5"]
    assert words("Café, cafe\u0301: ＣＡＦＥ") == ["cafe"] * 3
    assert words("低垂 ok") == ["低", "垂", "ok"]


@given(TEXTS)
def test_a_text_has_the_same_words_composed_and_decomposed(text: str) -> None:
    assert words(unicodedata.normalize("NFC", text)) == words(unicodedata.normalize("NFD", text))


@given(TEXTS)
def test_a_word_stands_where_it_is_said_to_stand(text: str) -> None:
    end = 0
    for word in words_of(text):
        assert 0 <= word.start < word.end <= len(text)
        assert word.end >= end
        end = word.end
        assert word.text in words(text[word.start : word.end])


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("Low sun", [Phrase(("low",)), Phrase(("sun",), True)]),
        ('"low sun"', [Phrase(("low", "sun"))]),
        ('"low sun', [Phrase(("low", "sun"), True)]),
        ("«low sun» “deep snow”", [Phrase(("low", "sun")), Phrase(("deep", "snow"))]),
        ("low low", [Phrase(("low",)), Phrase(("low",), True)]),
        ("sd_xl_ba", [Phrase(("sd", "xl", "ba"), True)]),
        ("-fox", [Phrase(("fox",), True)]),
        ('??? " \u3000', []),
    ],
)
def test_a_query_is_words_and_phrases(query: str, phrases: list[Phrase]) -> None:
    assert list(word_query(query)) == phrases


@given(TEXTS, st.data())
def test_a_text_holds_each_part_of_itself(text: str, data: st.DataObject) -> None:
    found = words_of(text)
    if not found:
        return
    first = data.draw(st.integers(0, len(found) - 1))
    last = data.draw(st.integers(first, min(first + 3, len(found) - 1)))
    start, end = found[first].start, found[last].end
    # A sign such as \u00bc is two words, and cannot be parted.
    assume(first == 0 or found[first - 1].end <= start)
    assume(last + 1 == len(found) or found[last + 1].start >= end)
    asked = text[start:end].replace('"', " ")
    phrases = word_query(f'"{asked}"')
    assert found_in([text], phrases).phrases == frozenset(range(len(phrases)))


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_all_words_that_are_held_are_shown(texts: list[str], query: str) -> None:
    """Each mark is an occurrence, and of few words each is among the marks."""
    phrases = word_query(query)[:6]
    found = found_in(texts, phrases)
    piece = shown(found)
    marked = [piece.text[start:end] for start, end in piece.marks]
    assert list(piece.marks) == sorted(piece.marks)
    assert all(marked)
    left = found_in(marked, phrases).phrases
    assert found_in([piece.text], phrases).phrases >= found.phrases
    assert left or not found.phrases


def test_words_that_are_far_apart_are_shown_in_pieces() -> None:
    text = "fox " + "so on " * 500 + "owl " + "so on " * 500 + "hen."
    piece = shown(found_in([text, "a cat"], word_query("cat owl fox hen")))
    assert [piece.text[start:end] for start, end in piece.marks] == ["fox", "owl", "hen", "cat"]
    assert len(piece.text) < SNIPPET_CHARS + 200
    assert piece.text.count("\u2026") >= 3


def test_the_line_of_a_text_holds_its_words_in_order_and_the_parts_of_its_names() -> None:
    assert line_of("Is 好。的 a KSampler?") == "is 好 _ 的 a ksampler _ sampler"


@pytest.mark.parametrize("unit", ["fox ", "夕阳", "aB1", "cafe\u0301 ", '"', "\u0301", "7."])
def test_the_effort_grows_with_the_text(unit: str) -> None:
    def work(text: str) -> None:
        line_of(text)
        shown(found_in([text], word_query('"fox fox" 夕阳 b 7')))

    assert growth(work, unit, 20_000) < MOST_GROWTH


@pytest.mark.parametrize("unit", ['"fox ', "fox ", '"', "夕 ", "fox-"])
def test_the_effort_grows_with_the_query(unit: str) -> None:
    def work(query: str) -> None:
        word_query(query)

    assert growth(work, unit, 20_000) < MOST_GROWTH


def test_a_long_run_of_letters_is_no_word() -> None:
    assert words("x" * 256) == ["x" * 256]
    assert words("x" * 257) == []
    assert SearchedText("x" * 257).occurrences(word_query("x")) == []
