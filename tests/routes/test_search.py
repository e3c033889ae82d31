"""The search for people, `GET /api/chats/search`: each hit holds the words, and each message that
holds them is a hit."""

import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.database.sqlite import transaction as sqlite_transaction
from plugin.assistant.messages.parts import FilePart, Message, StepStart, TextPart, ToolPart
from plugin.tests.chats.examples import answer, user
from plugin.tests.routes.site import Site, site


@pytest.fixture(params=["index", "rows"])
async def ours(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Site]:
    if request.param == "rows":
        monkeypatch.setattr(sqlite_transaction, "has_fts5", lambda: False)
    async with site(tmp_path) as opened:
        yield opened


async def told(ours: Site, identity: str, *said: str | Message) -> None:
    """A chat with these messages; texts are said by the user and the assistant alternately."""
    messages = [
        one if isinstance(one, Message) else (answer if at % 2 else user)(f"m{at}", one)
        for at, one in enumerate(said)
    ]
    await ours.assistant.space_of("default").chats.import_messages(identity, messages, identity)


async def results(ours: Site, query: str, **more: str) -> list[dict[str, Any]]:
    answered = await ours.client.get("/api/chats/search", params={"q": query, **more})
    assert answered.status == 200, await answered.text()
    found: list[dict[str, Any]] = (await answered.json())["results"]
    return found


async def ids(ours: Site, query: str) -> list[str]:
    return [result["message_id"] for result in await results(ours, query)]


def marked(result: dict[str, Any]) -> list[str]:
    return [result["snippet"][start:end] for start, end in result["marks"]]


async def test_a_hit_holds_every_word(ours: Site) -> None:
    await told(ours, "c", "A fox", "A fox in deep snow", "Deep snow", "The fox sleeps", "Snow")
    assert await ids(ours, "fox snow") == ["m1"]
    assert await ids(ours, "snow fox") == ["m1"]
    assert await ids(ours, "fox okapi") == []


async def test_words_around_a_message_are_not_its_words(ours: Site) -> None:
    await told(ours, "c", "Where is the okapi?", "In Kongo.", "Thanks")
    assert await ids(ours, "okapi") == ["m0"]


async def test_every_message_with_a_common_word_is_found(ours: Site) -> None:
    await told(ours, "c", *(f"The number {number} is what it was." for number in range(40)))
    found = await results(ours, "what was the", limit="100")
    assert sorted(one["message_id"] for one in found) == sorted(f"m{n}" for n in range(40))


async def test_the_last_word_may_be_unfinished_and_no_other(ours: Site) -> None:
    await told(ours, "c", "A low sunset", "A lower sun")
    assert await ids(ours, "low sun") == ["m0"]
    assert await ids(ours, "sun low") == ["m1"]


async def test_words_are_found_in_their_own_form(ours: Site) -> None:
    await told(ours, "c", "We upscaled it", "An UPSCALE", "Upscaling takes long")
    assert await ids(ours, "upscaled it") == ["m0"]
    assert await ids(ours, "upscale an") == ["m1"]
    assert sorted(await ids(ours, "upscal")) == ["m0", "m1", "m2"]


async def test_case_and_accents_do_not_count(ours: Site) -> None:
    await told(ours, "c", "Ein Café in KÖLN", "cafe\u0301 and tea", "Tea")
    assert sorted(await ids(ours, "CAFE")) == ["m0", "m1"]
    assert await ids(ours, "köln café") == ["m0"]
    for result in await results(ours, "café"):
        assert marked(result)[0].startswith(("Café", "cafe"))


async def test_words_in_quotes_stand_side_by_side(ours: Site) -> None:
    await told(ours, "c", "a low sun at dawn", "the sun is low", "a low, sun-like lamp", "lowsun")
    assert sorted(await ids(ours, '"low sun"')) == ["m0", "m2"]
    assert await ids(ours, '"low sun" dawn') == ["m0"]
    assert await ids(ours, '"low su"') == []
    assert sorted(await ids(ours, '"low su')) == ["m0", "m2"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("夕阳", ["m0"]),
        ("低垂的夕阳", ["m0"]),
        ("阳 低", ["m0"]),
        ("好的", []),
        ("夕陽", ["m2"]),
        ("画像を", ["m2"]),
        ("サンプラー", ["m2"]),
        ("ｻﾝﾌﾟﾗｰ", ["m2"]),
        ("씨드", ["m3"]),
        ("씨드는 7", ["m3"]),
        ("阳", ["m0"]),
    ],
)
async def test_chinese_japanese_and_korean_are_found(
    ours: Site, query: str, found: list[str]
) -> None:
    await told(
        ours,
        "c",
        "请用低垂的夕阳，很好。的确如此",
        "太阳" if query != "阳" else "日",
        "サンプラーで夕陽の画像を作る",
        "씨드는 7이다",
    )
    assert await ids(ours, query) == found


@pytest.mark.parametrize(
    "query",
    [
        "sd_xl_base_1.0.safetensors",
        "sd_xl_ba",
        "safetensors",
        "KSamplerAdvanced",
        "ksampler a",
        "advanced",
        "1024x768",
        "1024",
        "7.5",
        "don't",
        "don’t",
    ],
)
async def test_names_are_found_whole_and_in_parts(ours: Site, query: str) -> None:
    text = "I don't: sd_xl_base_1.0.safetensors with KSamplerAdvanced at 1024x768, cfg 7.5"
    await told(ours, "c", text, "sd xl", "K 75 10 24")
    assert await ids(ours, query) == ["m0"]


async def test_a_message_is_one_hit_with_its_words_shown(ours: Site) -> None:
    far = " and so on" * 200
    await told(ours, "c", f"the fox{far} met an owl{far} fox", "nothing")
    (result,) = await results(ours, "fox owl")
    assert set(result) == {"chat_id", "message_id", "role", "title", "snippet", "marks"}
    assert (result["chat_id"], result["role"], result["title"]) == ("c", "user", "c")
    assert {"fox", "owl"} == set(marked(result))
    assert len(result["snippet"]) < 500


async def test_what_people_wrote_stands_above_what_tools_gave(ours: Site) -> None:
    tool = ToolPart("t", "getNodeInfo", "output-available", {"fox": 1}, "fox " * 20)
    await told(
        ours,
        "c",
        "hello",
        Message("a1", "assistant", (StepStart(), tool)),
        "much later there was, among many other animals, a fox in the snow of the far north",
        "A fox it was.",
    )
    assert await ids(ours, "fox") == ["m2", "m3", "a1"]


async def test_words_may_stand_in_a_text_and_in_a_result(ours: Site) -> None:
    tool = ToolPart("t", "getNodeInfo", "output-available", {"type": "KSampler"}, "steps 20")
    message = Message("a1", "assistant", (StepStart(), tool, StepStart(), TextPart("A fox.")))
    await told(ours, "c", "hello", message)
    (result,) = await results(ours, "fox steps")
    assert marked(result) == ["steps", "fox"]


async def test_a_message_with_a_large_attachment_is_found(ours: Site) -> None:
    picture = "data:image/png;base64," + base64.b64encode(b"x" * 10_000).decode()
    notes = "data:text/plain;base64," + base64.b64encode(b"an okapi " * 2_000).decode()
    parts = (
        TextPart("What animal is this?"),
        FilePart("image/png", picture, "animal.png"),
        FilePart("text/plain", notes, "notes.txt"),
    )
    await told(ours, "c", Message("u", "user", parts), "An okapi.")
    assert await ids(ours, "animal this") == ["u"]
    assert await ids(ours, "animal.png") == ["u"]
    assert await ids(ours, "okapi") == ["m1", "u"]


async def test_a_text_that_was_replaced_is_no_hit(ours: Site) -> None:
    """A hit opens its message, which has the newer text."""
    await told(ours, "c", "An okapi", "Nice")
    store = ours.assistant.space_of("default").chats
    await store.append("c", user("m0", "A quagga"), parent=None)
    assert await ids(ours, "quagga") == ["m0"]
    assert await ids(ours, "okapi") == []


async def test_a_query_without_a_word_finds_nothing(ours: Site) -> None:
    await told(ours, "c", "What? :: !", "-")
    for query in ("???", "::", '"', '""', '" "', "_"):
        assert await results(ours, query) == []
