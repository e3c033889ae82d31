"""The terms of a question about earlier messages."""

import pytest
from plugin.assistant.search.ranking import best_places
from plugin.assistant.search.recall_terms import recall_terms
from plugin.assistant.search.scanned_postings import ScannedPostings
from plugin.assistant.search.text_index import placed_texts

TALK = (
    "I moved to Porto last month.",
    "Nice!",
    "My order is due on Friday.",
    "Good.",
    "十分钟后我要去遛狗，它叫胡椒。",
    "好的。",
    "它在跑，我再看一遍。",
    "The dragon has seven heads.",
)


def found(question: str) -> list[int]:
    words = recall_terms(question)
    postings = ScannedPostings(placed_texts(TALK))
    windows = best_places(words.terms, postings, 10, related=words.related)
    return [window.place for window in windows]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("In which city do I live?", 0),
        ("What deadline did I give?", 2),
        ("我的狗叫什么？", 4),
        ("How many heads has the dragon?", 7),
    ],
)
def test_an_answer_in_other_words_is_found(question: str, place: int) -> None:
    assert found(question)[0] == place


def test_words_of_asking_are_no_terms() -> None:
    assert recall_terms("Two things that I forgot: the seed").terms == ("seed",)
    assert recall_terms("forgot").terms == ("forget",)


def test_the_share_of_a_place_is_that_of_its_telling_terms() -> None:
    postings = ScannedPostings(placed_texts(TALK))
    (best, *_) = best_places(("dragon", "seven"), postings, 1, names={"seven"})
    assert best.share == 1.0
    assert best.fewest == 1
    (half,) = best_places(("dragon", "unicorn"), postings, 1, telling={"dragon", "unicorn"})
    assert 0.3 < half.share < 0.7
    (other,) = best_places(("dragon", "unicorn"), postings, 1, telling={"unicorn"})
    assert (other.share, other.fewest) == (0.0, 0)
