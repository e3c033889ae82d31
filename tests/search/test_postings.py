"""What a search reads of words that stand in thousands of places."""

from collections.abc import Collection, Mapping

import pytest
from plugin.assistant.search import postings
from plugin.assistant.search.postings import MOST_READ, Group, Word
from plugin.assistant.search.ranking import best_places, rank
from plugin.assistant.search.scanned_postings import ScannedPostings
from plugin.assistant.search.text_index import placed_texts

WORDS = ("amber", "birch", "cedar", "delta")
TEXTS = 12_000
MEETING = 7_777


class Counted(ScannedPostings):
    """Counts the places that are handed over."""

    read = 0

    def count(self, *words: Word) -> int:
        return len(super().places(*([word] for word in words)))

    def places(self, *groups: Group, most: int | None = None) -> Collection[int]:
        found = super().places(*groups, most=most)
        self.read += len(found)
        return found

    def standing(
        self, words: Collection[Word], places: Collection[int]
    ) -> Mapping[Word, frozenset[int]]:
        self.read += len(places)
        return super().standing(words, places)


def common_words() -> Counted:
    """Each text has one of four words; one text has all, and one has none but a rare one."""
    texts = [WORDS[number % len(WORDS)] for number in range(TEXTS)]
    texts[MEETING] = " ".join(WORDS)
    texts[MEETING + 1_000] = "quartz"
    return Counted(placed_texts(texts))


@pytest.mark.parametrize("terms", [WORDS, WORDS[:2], ("quartz", *WORDS[1:])])
def test_common_words_are_read_where_they_meet(terms: tuple[str, ...]) -> None:
    counted = common_words()
    found = [one.place for one in best_places(terms, counted, 10)]
    assert MEETING in found
    assert ("quartz" in terms) == (MEETING + 1_000 in found)
    assert counted.read < len(terms) * MOST_READ


def test_one_common_word_has_the_hits_of_the_first_places_that_have_it() -> None:
    counted = common_words()
    assert [one.place for one in rank(["cedar"], counted, 1)] == [2]
    assert counted.read <= 2 * MOST_READ


@pytest.mark.parametrize("terms", [WORDS, ("quartz", "amber"), ("amb", "cedar")])
def test_the_best_places_are_those_of_a_search_that_reads_all(
    terms: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (bounded, *_) = best_places(terms, common_words(), 1)
    monkeypatch.setattr(postings, "MOST_READ", 10 * TEXTS)
    (whole, *_) = best_places(terms, common_words(), 1)
    assert bounded == whole
