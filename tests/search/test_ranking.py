"""The hits of a search and their order, with an index in a database and with postings in memory."""

import weakref
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats.search import search_index
from plugin.assistant.database.sqlite.engines import memory_engine
from plugin.assistant.database.sqlite.transaction import SqliteTransaction
from plugin.assistant.search.positions import first_place
from plugin.assistant.search.postings import Looked, Wanted, Word
from plugin.assistant.search.scanned_postings import ScannedPostings
from plugin.assistant.search.text_index import TextIndex, placed_texts
from sqlalchemy import Connection, Engine

Make = Callable[[list[str]], TextIndex]
TREES = ("alder", "birch", "cedar", "elm", "fir")


def indexed(texts: list[str]) -> TextIndex:
    """The texts in an index of a database, as a chat's messages are."""
    engine = memory_engine()
    transaction = SqliteTransaction(engine.connect(), None, in_memory=True)
    assert search_index.prepare(transaction)
    number = search_index.open_chat(transaction, "texts")
    first = first_place(number)
    search_index.add(transaction, number, placed_texts(texts, first=first), {})
    index = TextIndex(search_index.IndexedPostings(transaction, number), first)
    # Python 3.13 warns of a connection that nobody closed.
    weakref.finalize(index, _close, engine, transaction.connection)
    return index


def _close(engine: Engine, connection: Connection) -> None:
    connection.close()
    engine.dispose()


@pytest.fixture(params=[indexed, TextIndex.of], ids=["index", "scan"])
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


FILLER = "The weather was fine and we talked about nothing much."


def test_a_word_that_stands_once_in_ten_thousand_messages_is_found_first() -> None:
    texts = [f"{FILLER} {number}" for number in range(10_000)]
    texts[7_123] += " zq-f7c882f4"
    (hit,) = TextIndex.of(texts).search("where is zq-f7c882f4?", 1)
    assert hit.index == 7_123
    assert hit.indexes == (7_122, 7_123, 7_124)


def test_the_answer_is_found_by_the_words_of_its_question(make: Make) -> None:
    texts = [FILLER] * 40
    texts[20] = "Which sampler did the portrait use?"
    texts[21] = "It was euler ancestral."
    (hit,) = make(texts).search("portrait sampler", 1)
    assert hit.index == 20
    assert 21 in hit.indexes


def test_words_together_count_more_than_words_apart(make: Make) -> None:
    texts = [FILLER] * 60
    texts[10] = "The azure sky was nice."
    texts[30] = "The azure yacht was nice."
    texts[50] = "The yacht of a friend was nice."
    assert make(texts).search("azure yacht", 3)[0].index == 30


def test_a_rare_word_counts_more_than_a_common_one(make: Make) -> None:
    texts = ["an image of a cat"] * 30 + [FILLER] * 30 + ["an okapi"]
    assert make(texts).search("image okapi", 1)[0].index == 60


def test_a_word_of_the_query_that_stands_nowhere_is_a_beginning(make: Make) -> None:
    texts = [FILLER, "We changed the upscaling method.", FILLER]
    assert make(texts).search("upsc", 1)[0].index == 1


def test_a_result_comes_with_its_call_however_many_were_made_at_once() -> None:
    texts = ["call", "one", "two", "three", "four", "the okapi", FILLER, FILLER]
    index = TextIndex.of(texts, [0, 0, 0, 0, 0, 0, 1, 2])
    (hit,) = index.search("okapi", 1)
    assert hit.index == 5
    assert 0 in hit.indexes


def test_no_hits_are_no_hits(make: Make) -> None:
    index = make(["one", "two"])
    assert index.search("okapi", 10) == []
    assert index.search("", 10) == []
    assert index.search("one", 0) == []
    assert make([]).search("one", 10) == []


@pytest.mark.parametrize(
    "query", ['" OR *', 'okapi" OR "cat', "NEAR(okapi cat)", "okapi*", "-okapi", "terms:okapi", "("]
)
def test_no_sign_in_a_query_is_an_operator(make: Make, query: str) -> None:
    hits = make(["a cat", "an okapi", FILLER]).search(query, 3)
    assert [hit.index for hit in hits if hit.index == 2] == []


WORDS = st.sampled_from(
    ["cat", "cats", "KSampler", "seed", "7", "图片放大", "图片", "x_y", "the", '"']
)
TEXTS = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=30)


@given(TEXTS, st.text() | st.lists(WORDS, max_size=5).map(" ".join), st.integers(0, 12))
def test_hits_are_within_their_bounds_and_the_same_each_time(
    texts: list[str], query: str, k: int
) -> None:
    hits = TextIndex.of(texts).search(query, k)
    assert len(hits) <= k
    assert all(hit.index in hit.indexes and len(hit.indexes) <= 3 for hit in hits)
    shown = [index for hit in hits for index in hit.indexes]
    assert len(set(shown)) == len(shown)
    assert all(0 <= index < len(texts) for index in shown)
    assert [hit.index for hit in hits] == [hit.index for hit in indexed(texts).search(query, k)]
    assert hits == TextIndex.of(texts).search(query, k)


@given(
    st.lists(st.frozensets(st.sampled_from(TREES), min_size=1), max_size=30),
    st.lists(st.sampled_from([0.1, 0.5, 1.0, 2.5]), min_size=5, max_size=5),
    st.integers(1, 8),
)
def test_the_places_with_the_most_weight_are_scored_with_those_around_them(
    texts: list[frozenset[str]], weights: list[float], most: int
) -> None:
    found = ScannedPostings(placed_texts([" ".join(text) for text in texts]))
    wanted = [
        Wanted(word, found.count(word), weight)
        for word, weight in zip(map(Word, TREES), weights, strict=True)
    ]
    sums = {
        at: sum(one.weight for one in wanted if one.word.term in text)
        for at, text in enumerate(texts)
    }
    best = sorted(sums, key=lambda at: (-sums[at], at))[:most]
    seeds = Looked(wanted, [], 0.0, found).seeds(most)
    assert [sums[at] for at in seeds] == pytest.approx([sums[at] for at in best])
    assert len(set(seeds)) == len(seeds)
