"""What a provider sends beside text: sources, pictures and blocks of its own reach every client and
the log, once, and no model reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.llm.additions import MOST, MOST_BLOCK_CHARS, MOST_PICTURE_CHARS
from plugin.assistant.messages.conversion import SHOWN
from plugin.tests.chatting import Chatting, Stream, chatting
from plugin.tests.providers import Script, Step, tool_call

PIXELS = "data:image/png;base64,iVBORw0KGgo="
LARGE = f"data:image/png;base64,{'iVBORw0KGgoAAAANSUhE' * 1000}"
DOCS = {"url": "https://docs.example/a", "title": "The guide"}
BLOG = {"url": "http://blog.example/b?c=1", "title": "A blog"}


def chunk(delta: dict[str, Any] | None = None, **beside: Any) -> Step:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": None}
    return {"chunk": {"choices": [choice], **beside}}


def cited(*pages: dict[str, str]) -> dict[str, Any]:
    notes = [{"type": "url_citation", "url_citation": {**p, "start_index": 0}} for p in pages]
    return {"annotations": notes}


def images(*urls: str) -> dict[str, Any]:
    return {"images": [{"type": "image_url", "image_url": {"url": url}} for url in urls]}


async def parts_of(chat: Chatting) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = (await chat.stored())["messages"][-1]["parts"]
    return parts


def of_kind(parts: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [part for part in parts if part["type"] == kind]


def pages(stream: Stream) -> list[tuple[str, str | None]]:
    return [(each["url"], each.get("title")) for each in stream.of("source-url")]


# Sources


@pytest.mark.parametrize(
    "steps",
    [
        [{"text": "So."}, chunk(cited(DOCS)), chunk(cited(DOCS, BLOG))],
        [
            chunk({"content": "So.", "annotations": [{"type": "url_citation", **DOCS}]}),
            chunk(cited(BLOG)),
        ],
        [
            chunk({"content": "S"}, citations=[DOCS["url"], BLOG["url"]]),
            chunk({"content": "o."}, citations=[DOCS["url"], BLOG["url"]]),
            {"chunk": {"choices": [], "search_results": [DOCS, BLOG]}},
        ],
        [
            chunk(
                {"content": "So."},
                web_search=[{"link": p["url"], "title": p["title"]} for p in (DOCS, BLOG)],
            )
        ],
    ],
    ids=["annotations", "flat annotations", "lists", "links"],
)
async def test_each_source_of_an_answer_comes_once(chat: Chatting, steps: list[Step]) -> None:
    chat.provider.queue(Script(steps))
    stream = await chat.say("What is new?")
    assert stream.text == "So."
    expected = [(DOCS["url"], DOCS["title"]), (BLOG["url"], BLOG["title"])]
    assert pages(stream) == expected
    assert len({each["sourceId"] for each in stream.of("source-url")}) == 2
    stored = of_kind(await parts_of(chat), "source-url")
    assert [(part["url"], part["title"]) for part in stored] == expected


async def test_an_answer_that_is_not_streamed_has_its_sources_and_pictures(chat: Chatting) -> None:
    message = {"role": "assistant", "content": "So.", **cited(DOCS), **images(PIXELS)}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    chat.provider.queue(Script(body=body))
    stream = await chat.say("What is new?")
    assert (stream.text, pages(stream)) == ("So.", [(DOCS["url"], DOCS["title"])])
    assert [each["url"] for each in stream.of("file")] == [PIXELS]


async def test_sources_of_an_answer_that_breaks_off_are_kept(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "So"}, chunk(cited(DOCS)), {"cut": True}]))
    assert pages(await chat.say("What is new?")) == [(DOCS["url"], DOCS["title"])]


async def test_a_source_of_two_rounds_comes_once_and_tears_no_round(chat: Chatting) -> None:
    calls = [tool_call("listUserSkills", id="a"), chunk(cited(DOCS))]
    again = [{"text": "So."}, tool_call("listSystemSkills", id="b"), chunk(cited(DOCS, BLOG))]
    chat.provider.queue(Script(calls), Script(again), "Done.", "Yes.")
    stream = await chat.say("What is new?")
    assert [url for url, _ in pages(stream)] == [DOCS["url"], BLOG["url"]]
    await chat.say("Sure?")
    roles = [message["role"] for message in chat.provider.requests[-1].messages]
    assert roles == ["system", "user", *["assistant", "tool"] * 2, "assistant", "user"]
    asked = json.dumps(chat.provider.requests[-1].messages)
    assert "docs.example" not in asked and "source" not in asked


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "https://",
        "https://a b.example",
        "https://a.example/\u202egpj.exe",
        "https://a.example/" + "x" * 3_000,
        "",
        7,
        None,
    ],
)
async def test_what_is_no_web_address_becomes_no_link(chat: Chatting, url: Any) -> None:
    steps = [{"text": "So."}, chunk({"annotations": [{"type": "url_citation", "url": url}]})]
    chat.provider.queue(Script(steps))
    stream = await chat.say("Hi")
    assert stream.of("source-url") == []
    assert [each["data"]["kind"] for each in stream.of("data-server-block")] == ["url_citation"]


async def test_a_title_is_one_line_without_tricks(chat: Chatting) -> None:
    page = {"url": DOCS["url"], "title": "A\n\u202eguide " + "x" * 5_000}
    chat.provider.queue(Script([{"text": "So."}, chunk(cited(page))]))
    ((_, title),) = pages(await chat.say("Hi"))
    assert title is not None and title.startswith("A guide x") and len(title) <= 300


async def test_too_many_sources_are_named(chat: Chatting) -> None:
    many = [f"https://docs.example/{n}" for n in range(MOST["sources"] + 5)]
    chat.provider.queue(Script([chunk({"content": "So."}, citations=many)] * 3))
    stream = await chat.say("Hi")
    assert len(stream.of("source-url")) == MOST["sources"]
    (notice,) = stream.of("data-notice")
    assert notice["data"]["code"] == "sources_left_out"


# Pictures


async def test_a_picture_is_part_of_the_answer_and_lies_in_a_file(
    chat: Chatting, tmp_path: Path
) -> None:
    chat.provider.queue(
        Script([{"text": "Here:"}, chunk(images(LARGE)), chunk(images(LARGE)), {"text": "Done."}]),
        "Blue it is.",
    )
    stream = await chat.say("Draw a fox")
    assert stream.of("file") == [{"type": "file", "mediaType": "image/png", "url": LARGE}]
    parts = [part["type"] for part in await parts_of(chat)]
    assert parts == ["step-start", "text", "file", "text"]
    assert of_kind(await parts_of(chat), "file")[0]["url"] == LARGE
    database = (tmp_path / "user").rglob("assistant.db*")
    assert all(LARGE[:2000].encode() not in file.read_bytes() for file in database)
    assert any(file.is_file() for file in (tmp_path / "user").rglob("attachments/*/*"))

    await chat.say("Now in blue")
    said = chat.provider.requests[-1].messages[-2]
    assert said == {
        "role": "assistant",
        "content": f"Here:\n\n{SHOWN.format('picture')}\n\nDone.",
    }


async def test_a_picture_alone_is_an_answer(chat: Chatting) -> None:
    chat.provider.queue(Script([chunk(images(PIXELS))]), "Thanks.")
    stream = await chat.say("Draw a fox")
    assert (stream.of("error"), [each["url"] for each in stream.of("file")]) == ([], [PIXELS])
    await chat.say("Nice")
    assert chat.provider.requests[-1].messages[-2]["content"] == SHOWN.format("picture")


async def test_a_picture_within_the_content_keeps_its_place(chat: Chatting) -> None:
    content = [
        {"type": "text", "text": "One "},
        {"type": "text", "text": "fox:"},
        {"type": "image_url", "image_url": {"url": PIXELS}},
        {"type": "text", "text": "There."},
    ]
    chat.provider.queue(Script([chunk({"content": content})]))
    await chat.say("Draw a fox")
    parts = [part.get("text", part["type"]) for part in await parts_of(chat)]
    assert parts == ["step-start", "One fox:", "file", "There."]


async def test_a_picture_between_two_calls_tears_no_round(chat: Chatting) -> None:
    calls = [tool_call("listUserSkills"), chunk(images(PIXELS)), tool_call("listSystemSkills")]
    chat.provider.queue(Script(calls), "Done.")
    await chat.say("Draw a fox")
    messages = chat.provider.requests[-1].messages
    roles = [message["role"] for message in messages]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    assert messages[2]["content"] == SHOWN.format("picture")


async def test_a_picture_of_the_web_is_not_fetched(chat: Chatting) -> None:
    address = f"{chat.provider.base_url}/picture.png"
    chat.provider.queue(Script([{"text": "Here."}, chunk(images(address))]))
    stream = await chat.say("Draw a fox")
    assert stream.of("file") == [{"type": "file", "mediaType": "image/*", "url": address}]
    assert len(chat.provider.requests) == 1


async def test_pictures_of_all_rounds_have_one_limit(tmp_path: Path) -> None:
    half = MOST_PICTURE_CHARS // 2
    pictures = [f"data:image/png;base64,{digit * (half - 22)}" for digit in "AB"]
    async with chatting(tmp_path, {"LLM_MAX_LINE_BYTES": str(half + 1_000)}) as chat:
        chat.provider.queue(
            Script([chunk(images(pictures[0])), tool_call("listUserSkills")]),
            Script([chunk(images(pictures[1])), chunk(images(PIXELS)), {"text": "There."}]),
        )
        stream = await chat.say("Draw foxes")
    assert [each["url"] for each in stream.of("file")] == pictures
    assert [each["data"]["code"] for each in stream.of("data-notice")] == ["pictures_left_out"]


# Blocks of the provider


SEARCH = {"type": "web_search", "id": "ws_1", "status": "searching", "query": "fox"}
FOUND = {**SEARCH, "status": "completed", "results": [{"title": "A fox"}]}


@pytest.mark.parametrize(
    "delta",
    [
        {"server_tool_use": {"id": "st_1", "name": "web_search", "input": {"query": "fox"}}},
        {"executed_tools": [{"index": 0, "type": "search", "arguments": "{}", "output": "A fox"}]},
        {"content": [{"type": "reference", "reference_ids": [1, 2]}]},
        {"annotations": [{"type": "file", "file": {"hash": "a", "name": "b.pdf"}}]},
    ],
    ids=lambda delta: next(iter(delta)),
)
async def test_a_block_of_the_provider_is_kept_and_no_model_reads_it(
    chat: Chatting, delta: dict[str, Any]
) -> None:
    chat.provider.queue(Script([{"text": "I "}, chunk(delta), {"text": "looked."}]), "Yes.")
    stream = await chat.say("Look")
    (value,) = delta.values()
    body = value[0] if isinstance(value, list) else value
    kind = body.get("type", "server_tool_use")
    (sent,) = stream.of("data-server-block")
    assert sent["data"] == {"kind": kind, "content": body}
    stored = await parts_of(chat)
    assert [part["type"] for part in stored] == ["step-start", "text", "data-server-block"]
    assert stored[1]["text"] == "I looked."
    assert stored[2]["data"] == sent["data"]
    await chat.say("Sure?")
    assert chat.provider.requests[-1].messages[-2]["content"] == "I looked."


async def test_a_later_block_takes_the_place_of_the_earlier(chat: Chatting) -> None:
    steps = [chunk({"server_blocks": [SEARCH]}), chunk({"server_blocks": [FOUND]})]
    chat.provider.queue(Script([*steps, {"text": "So."}]))
    await chat.say("Look")
    (stored,) = of_kind(await parts_of(chat), "data-server-block")
    assert stored["data"] == {"kind": "web_search", "content": FOUND}


async def test_a_block_is_bounded_and_harms_no_client(chat: Chatting) -> None:
    large = {"type": "search", "output": "x" * 1_000_000}
    odd = {"type": "search", "__proto__": {"a": 1}}
    chat.provider.queue(Script([chunk({"blocks": [large, odd]}), {"text": "So."}]))
    stream = await chat.say("Look")
    first, second = (each["data"]["content"] for each in stream.of("data-server-block"))
    assert len(first["shortened"]) == MOST_BLOCK_CHARS
    assert json.loads(second) == odd


async def test_too_many_blocks_are_named(chat: Chatting) -> None:
    blocks = [{"type": "search", "id": n} for n in range(MOST["blocks"] + 5)]
    chat.provider.queue(Script([chunk({"blocks": blocks}), {"text": "So."}]))
    stream = await chat.say("Look")
    assert len(stream.of("data-server-block")) == MOST["blocks"]
    assert [each["data"]["code"] for each in stream.of("data-notice")] == ["blocks_left_out"]


async def test_sources_and_blocks_alone_are_no_answer(chat: Chatting) -> None:
    steps = [chunk({"server_blocks": [SEARCH]}), chunk(cited(DOCS))]
    chat.provider.queue(Script(steps))
    assert (await chat.say("Look")).error["code"] == "empty"


# Resumed, exported, imported


async def test_all_of_it_outlives_a_reload_and_an_export(chat: Chatting) -> None:
    steps = [
        {"text": "So."},
        chunk({"server_blocks": [FOUND]}),
        chunk(images(LARGE)),
        chunk(cited(DOCS)),
    ]
    chat.provider.queue(Script(steps))
    stream = await chat.say("Draw a fox")
    stored = await parts_of(chat)
    kinds = ["step-start", "text", "data-server-block", "file", "source-url"]
    assert [part["type"] for part in stored] == kinds
    assert stream.message.source_urls == (DOCS["url"],)
    for form in ("jsonl", "trajectory"):
        async with chat.client.get(f"/api/chats/c1/export?format={form}") as exported:
            body = {"format": form, "content": await exported.text()}
        async with chat.client.post("/api/chats/import", json=body) as answered:
            copy = (await answered.json())["id"]
        assert (await chat.stored(copy))["messages"][-1]["parts"] == stored
    async with chat.client.get("/api/chats/c1/export?format=markdown") as exported:
        shown = await exported.text()
    assert f"1. The guide: <{DOCS['url']}>" in shown
    assert "*Block of the provider: web_search*" in shown and '"query": "fox"' in shown
    assert "*Picture (image/png)*" in shown


async def test_odd_values_in_their_places_break_no_answer(chat: Chatting) -> None:
    odd: list[Any] = [7, "x", None, [], {}, {"type": 7}, {"image_url": 7}, {"url_citation": [1]}]
    steps = [chunk({name: odd}) for name in ("annotations", "images", "blocks")]
    lists = chunk({"content": odd}, citations=odd, search_results=odd, web_search=7)
    chat.provider.queue(Script([*steps, lists, {"text": "So."}]))
    stream = await chat.say("Hi")
    assert (stream.text, stream.of("error"), stream.of("file")) == ("So.", [], [])


async def test_a_list_that_is_sent_again_with_all_of_it_adds_one_message(chat: Chatting) -> None:
    steps = [{"text": "So."}, chunk({"server_blocks": [FOUND]}), chunk(images(LARGE))]
    chat.provider.queue(Script([*steps, chunk(cited(DOCS))]), "Yes.")
    await chat.say("Draw a fox")
    messages = (await chat.stored())["messages"]
    await chat.post({"id": "c1", "messages": [*messages, chat.user("Sure?")]})
    after = (await chat.stored())["messages"]
    assert [message["role"] for message in after] == ["user", "assistant"] * 2
    assert after[:2] == messages and "versions" not in after[1]
