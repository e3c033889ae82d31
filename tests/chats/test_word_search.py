"""The search that people use, over stored chats: the index finds what reading every message finds,
and stays true while chats change."""

import random

import pytest
from plugin.assistant.chats import Branches, ChatStore
from plugin.assistant.chats.search import row_indexing, search_index
from plugin.assistant.chats.search.history_search import HistorySearch
from plugin.assistant.chats.search.message_text import fields_of
from plugin.assistant.chats.search.word_search import WordHit
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.database.sqlite import transaction as sqlite_transaction
from plugin.assistant.messages.parts import DataPart, Message, TextPart, ToolPart
from plugin.assistant.search.fragments import found_in
from plugin.assistant.search.word_query import word_query
from sqlalchemy import text

from .examples import answer, at_panel, user, with_tools

WORDS = (
    "low lower sun sunset café cafe snow deep 7.5 7 sd_xl_base_1.0.safetensors KSamplerAdvanced "
    "夕阳 阳 低垂的夕阳 画像を サンプラー 씨드는 the the the a a and"
).split()
SIGNS = (" ", " ", " ", ", ", ". ", "-", "\n", "。")


@pytest.fixture
def store(database: SqliteDatabase) -> ChatStore:
    return ChatStore(database)


@pytest.fixture
def history(database: SqliteDatabase) -> HistorySearch:
    return HistorySearch(database)


def some_text(dice: random.Random, most: int) -> str:
    words = dice.choices(WORDS, k=dice.randint(1, most))
    return "".join(word + dice.choice(SIGNS) for word in words)


def some_query(dice: random.Random) -> str:
    words = some_text(dice, 3)
    cut = words[: dice.randint(1, len(words))]
    return f'"{cut}"' if dice.random() < 0.3 else cut


async def identities(history: HistorySearch, query: str, k: int = 100) -> list[str]:
    return [hit.message_id for hit in await history.find_words(query, k)]


@pytest.mark.parametrize("seed", range(4))
async def test_hits_are_all_messages_that_hold_the_words_and_no_others(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    dice = random.Random(seed)
    said = [(user, answer)[at % 2](f"m{at}", some_text(dice, 12)) for at in range(60)]
    said += [
        Message(f"t{at}", "assistant", (ToolPart("t", "x", "output-available", {}, one), two))
        for at in range(10)
        for one, two in [(some_text(dice, 6), TextPart(some_text(dice, 6)))]
    ]
    await store.import_messages("c", said)
    indexed, read = HistorySearch(database), HistorySearch(database)
    for _ in range(60):
        query = some_query(dice)
        phrases = word_query(query)
        expected = {
            one.id
            for one in said
            if phrases
            and len(found_in([text for _, text in fields_of(one)], phrases).phrases) == len(phrases)
        }
        monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: True)
        hits = await indexed.find_words(query, 100)
        assert {hit.message_id for hit in hits} == expected, query
        assert len(hits) == len(expected)
        assert [hit.level for hit in hits] == sorted(hit.level for hit in hits)
        assert all(hit.marks for hit in hits)
        monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: False)
        assert by_level(await read.find_words(query, 100)) == by_level(hits)


def by_level(hits: tuple[WordHit, ...]) -> dict[int, set[tuple[str, str]]]:
    return {
        level: {(hit.message_id, hit.snippet) for hit in hits if hit.level == level}
        for level in range(3)
    }


async def test_what_is_said_later_is_found_at_once(
    store: ChatStore, history: HistorySearch
) -> None:
    await store.import_messages("c", [user("m0", "An okapi")])
    assert await identities(history, "okapi") == ["m0"]
    await store.append("c", answer("m1", "The okapi"))
    assert await identities(history, "okapi") == ["m0", "m1"]


async def test_an_answer_in_several_rows_is_one_hit_with_its_newest_text(
    store: ChatStore, history: HistorySearch
) -> None:
    await store.import_messages("c", [user("m0", "Hello")])
    await store.append("c", with_tools("a", at_panel()))
    assert await identities(history, "editWorkflow") == ["a"]
    assert await identities(history, "okapi") == []
    done = ToolPart("t1", "editWorkflow", "output-available", {"node": 3}, "The okapi is set.")
    await store.append("c", with_tools("a", done), parent="m0")
    (hit,) = await history.find_words("editworkflow okapi")
    assert (hit.message_id, hit.row) == ("a", 3)


async def test_messages_on_branches_that_were_left_are_found(
    store: ChatStore, history: HistorySearch
) -> None:
    await store.import_messages("c", [user("m0", "Hello"), answer("m1"), user("m2", "An okapi")])
    await store.append("c", user("m3", "A cat"), parent="m1")
    assert await identities(history, "okapi") == ["m2"]
    await Branches(store).rewrite("c", "m0", user("m0", "Goodbye"))
    assert await identities(history, "okapi") == ["m2"]
    assert await identities(history, "hello") == []


async def test_many_older_texts_do_not_hide_a_hit(store: ChatStore, history: HistorySearch) -> None:
    await store.import_messages("c", [user("m0", "An okapi in Kongo")])
    await store.create("d")
    for number in range(30):
        await store.append("d", user("x", f"okapi okapi {number}"), parent=None)
    await store.append("d", user("x", "A cat"), parent=None)
    assert await identities(history, "okapi", 1) == ["m0"]


async def test_slash_commands_and_their_answers_come_last(
    store: ChatStore, history: HistorySearch
) -> None:
    asked = Message("m0", "user", (TextPart("/search okapi"), command("search")))
    found = Message("m1", "assistant", (TextPart("- okapi okapi"),), {"command": "search"})
    await store.import_messages("c", [asked, found, user("m2", "Where does the okapi live now?")])
    assert (await identities(history, "okapi"))[0] == "m2"
    assert len(await identities(history, "okapi")) == 3


def command(name: str) -> DataPart:
    return DataPart("command", {"name": name, "argument": "okapi"})


async def test_a_forgotten_chat_has_no_words_left(
    store: ChatStore, database: SqliteDatabase, history: HistorySearch
) -> None:
    await store.import_messages("c", [user("m0", "An okapi")])
    await store.import_messages("d", [user("m0", "A cat")])
    await history.find_words("okapi")
    assert await history.forget(["c"], lambda connection, chat_id: True)
    count = text("SELECT count(*) FROM search_words")
    assert await database.read(lambda c: int(c.execute(count).scalar_one())) == 1


async def test_an_index_of_an_earlier_version_is_made_anew(
    store: ChatStore, database: SqliteDatabase
) -> None:
    await store.import_messages("c", [user("m0", "An okapi")])
    await HistorySearch(database).find_words("okapi")
    for change in ("DROP TABLE search_words", "UPDATE search_version SET version = 3"):
        await database.write(lambda c, change=change: c.execute(text(change)).rowcount)
    assert search_index.INDEX_VERSION > 3
    assert await identities(HistorySearch(database), "okapi") == ["m0"]


async def test_a_search_reads_the_messages_that_it_shows_and_few_others(
    store: ChatStore, history: HistorySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [user(f"m{number}", f"okapi number {number}") for number in range(500)]
    await store.import_messages("c", said)
    await history.find_words("okapi")
    read: list[str] = []
    decode = row_indexing.decode_searchable
    monkeypatch.setattr(
        row_indexing, "decode_searchable", lambda c, body: (read.append(body), decode(c, body))[1]
    )
    assert len(await history.find_words("okapi numb", 20)) == 20
    assert len(read) == 20


async def test_a_query_of_many_words_and_one_letter_are_answered(
    store: ChatStore, history: HistorySearch
) -> None:
    words = " ".join(f"w{number}" for number in range(200))
    await store.import_messages("c", [user("m0", words), user("m1", "w1 w2")])
    assert await identities(history, words) == ["m0"]
    assert sorted(await identities(history, "w")) == ["m0", "m1"]
    assert await identities(history, "okapi", 0) == []


async def test_a_search_that_lost_its_index_reads_all_messages(
    store: ChatStore, database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.import_messages("c", [user("m0", "An okapi")])
    history = HistorySearch(database)
    await history.find_words("okapi")
    await database.write(lambda c: c.execute(text("DROP TABLE search_words")).rowcount)
    assert await identities(history, "okapi") == ["m0"]
    assert await identities(history, "okapi") == ["m0"]
