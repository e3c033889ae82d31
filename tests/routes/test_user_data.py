"""All data of a user over HTTP: counted, exported as one archive, and deleted (R62)."""

import asyncio
import base64
import io
import json
import os
import random
import sqlite3
import threading
import time
import zipfile
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant import files
from plugin.assistant.chats.export import trajectory
from plugin.assistant.chats.export.archive import Archive
from plugin.assistant.chats.export.trajectory import Trajectory
from plugin.assistant.errors import StoreError
from plugin.assistant.messages.parts import FilePart
from plugin.assistant.user_data import archive as user_archive
from plugin.tests.chats.examples import answer, user
from plugin.tests.chats.test_ownership import another_process
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.providers import Script
from plugin.tests.routes.site import Site, error_of, site
from plugin.tests.windows_rules import WindowsRules

KEY = "planted-0123456789-key"
WORD = "Aardwolf"
SKILL = {"name": f"{WORD} light", "description": "Soft", "instructions": f"{WORD} {KEY}"}
DATA = "/api/assistant/data"


def attached(content: bytes, media_type: str = "text/plain") -> FilePart:
    data = base64.b64encode(content).decode("ascii")
    return FilePart(media_type, f"data:{media_type};base64,{data}", "notes.txt")


def folder(ours: Site) -> Path:
    return ours.assistant.space_of("default").folder


@asynccontextmanager
async def filled(path: Path) -> AsyncIterator[Site]:
    """A user with two chats, an attachment, a skill, a rule, a preference and SOUL.md, each with
    the word; a provider whose key stands in many of them."""
    async with site(path) as ours:
        provider = {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY}
        await ours.client.put("/api/assistant/providers/Work", json=provider)
        store = ours.assistant.space_of("default").chats
        file = attached((f"{WORD} {KEY} " * 2_000).encode())
        await store.import_messages("c", (user("u1", f"{WORD} {KEY}", file), answer("a1")), WORD)
        await store.import_messages("d", (user("u1", "Hello"),), "Second")
        await ours.client.post("/api/user-context/skills", json=SKILL)
        await ours.client.post("/api/user-context/rules", json={"text": f"{WORD} {KEY}"})
        await ours.client.put("/api/user-context/preferences/animal", json={"value": WORD})
        (folder(ours) / "SOUL.md").write_text(f"{WORD} {KEY}", encoding="utf-8")
        # The count of packages and models is written in the background.
        while tasks := tuple(ours.assistant._tasks):
            await asyncio.gather(*tasks)
        yield ours


@pytest.fixture
async def ours(tmp_path: Path) -> AsyncIterator[Site]:
    async with filled(tmp_path) as opened:
        yield opened


async def data(ours: Site) -> dict[str, Any]:
    answered = await ours.client.get(DATA)
    assert answered.status == 200, await answered.text()
    found: dict[str, Any] = await answered.json()
    return found


async def archive_of(ours: Site) -> zipfile.ZipFile:
    answered = await ours.client.get(f"{DATA}/archive")
    assert (answered.status, answered.content_type) == (200, "application/zip")
    disposition = answered.headers["Content-Disposition"]
    assert disposition.startswith('attachment; filename="comfyui-assistant-20')
    archive = zipfile.ZipFile(io.BytesIO(await answered.read()))
    assert archive.testzip() is None
    return archive


async def deleted(ours: Site, chats: int) -> Any:
    return await ours.client.post(f"{DATA}/delete", json={"chats": chats})


def holds_the_word(place: Path) -> list[str]:
    """The files that hold the word in their content or name."""
    paths = [path for path in place.rglob("*") if path.is_file()]
    word = WORD.encode()
    return [str(path) for path in paths if word in path.read_bytes() or WORD in path.name]


# Counting


async def test_it_is_counted_and_measured(ours: Site) -> None:
    found = await data(ours)
    counts = {name: found[name] for name in found if not name.endswith("_bytes")}
    assert counts == {
        "chats": 2, "messages": 3, "attachments": 1, "skills": 1, "rules": 1, "preferences": 1,
        "memories": 0, "texts": ["SOUL.md"],
    }  # fmt: skip
    assert found["attachments_bytes"] == len(f"{WORD} {KEY} " * 2_000)
    every = sum(path.stat().st_size for path in folder(ours).rglob("*") if path.is_file())
    parts = [found[name] for name in found if name.endswith("_bytes") and name != "total_bytes"]
    assert found["total_bytes"] == sum(parts) == every
    assert all(parts)


async def test_a_user_without_data_has_none(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        found = await data(ours)
        assert (found["chats"], found["attachments"], found["texts"]) == (0, 0, [])
        assert (await deleted(ours, 0)).status == 200


# Exporting


async def test_everything_is_in_one_archive(ours: Site) -> None:
    archive = await archive_of(ours)
    names = archive.namelist()
    [attachment] = [name for name in names if name.startswith("attachments/")]
    assert attachment.endswith(".txt")
    assert sorted(name for name in names if name != attachment) == [
        "README.md", "SOUL.md",
        "chats/00001-Second.json", "chats/00001-Second.md",
        f"chats/00002-{WORD}.json", f"chats/00002-{WORD}.md",
        "memories.jsonl", "preferences.json", "rules.json", "skills/aardwolf-light/SKILL.md",
    ]  # fmt: skip
    assert json.loads(archive.read("preferences.json")) == [{"key": "animal", "value": WORD}]
    assert archive.read(attachment).startswith(f"{WORD} [key]".encode())


async def test_a_chat_of_the_archive_is_imported_as_it_was(ours: Site) -> None:
    archive = await archive_of(ours)
    content = archive.read("chats/00001-Second.json").decode()
    body = {"format": "trajectory", "content": content}
    answered = await ours.client.post("/api/chats/import", json=body)
    identity = (await answered.json())["id"]
    chat = await (await ours.client.get(f"/api/chats/{identity}")).json()
    assert [part["text"] for one in chat["messages"] for part in one["parts"]] == ["Hello"]


async def test_no_key_is_in_the_archive_also_not_in_an_attached_text(ours: Site) -> None:
    archive = await archive_of(ours)
    for name in archive.namelist():
        content = archive.read(name)
        assert KEY.encode() not in content, name
        if name == f"chats/00002-{WORD}.json":
            [url] = [part["url"] for part in every_part(json.loads(content)) if "url" in part]
            assert KEY.encode() not in base64.b64decode(url.partition(",")[2])
    assert "providers.json" not in " ".join(archive.namelist())


def every_part(chat: Any) -> list[dict[str, Any]]:
    return [part for row in chat["messages"] for part in row["message"]["parts"]]


async def test_a_key_that_json_escapes_is_in_no_list_of_the_archive(ours: Site) -> None:
    key = 'planted-"0123456789"\\key'
    provider = {"base_url": "http://127.0.0.1:9/v1", "api_key": key}
    await ours.client.put("/api/assistant/providers/Work", json=provider)
    await ours.client.post("/api/user-context/rules", json={"text": f"Use {key}"})
    await ours.client.post("/api/memories", json={"text": f"My server takes {key}"})
    archive = await archive_of(ours)
    assert json.loads(archive.read("rules.json"))[-1]["text"] == "Use [key]"
    assert json.loads(archive.read("memories.jsonl"))["text"] == "My server takes [key]"


async def test_a_key_across_the_end_of_a_piece_is_found(ours: Site) -> None:
    for shift in (1, len(KEY) // 2, len(KEY) - 1):
        content = b"x" * (user_archive.PIECE - shift) + KEY.encode() + b"y" * user_archive.PIECE
        (folder(ours) / "goals.md").write_bytes(content)
        found = (await archive_of(ours)).read("goals.md")
        assert found == content.replace(KEY.encode(), b"[key]")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
async def test_a_key_in_a_file_of_windows_is_found(ours: Site, encoding: str) -> None:
    """PowerShell's `>` and Notepad's "Unicode" write UTF-16."""
    long = "x" * (user_archive.PIECE // 2 - len(KEY) // 2)
    written, expected = (f"\ufeff{long}{word}{long}".encode(encoding) for word in (KEY, "[key]"))
    (folder(ours) / "goals.md").write_bytes(written)
    store = ours.assistant.space_of("default").chats
    await store.import_messages("e", (user("u1", "Log", attached(written)),), "Log")
    archive = await archive_of(ours)
    assert archive.read("goals.md") == expected
    assert expected in [archive.read(name) for name in archive.namelist() if "attach" in name]
    chats = [json.loads(archive.read(n)) for n in archive.namelist() if n.endswith("-Log.json")]
    [url] = [part["url"] for part in every_part(chats[0]) if "url" in part]
    assert base64.b64decode(url.partition(",")[2]) == expected


async def test_a_large_file_goes_out_in_pieces(ours: Site, tmp_path: Path) -> None:
    large = tmp_path.joinpath("default", "skills", "aardwolf-light", "noise.bin")
    noise = bytes(range(256)) * 40
    large.write_bytes(b"".join(noise[n % 97 :] for n in range(1_500)))
    space = ours.assistant.space_of("default")
    sizes = [len(piece) async for piece in space.user_archive.pieces(frozenset((KEY,)))]
    assert len(sizes) > 1 and max(sizes) < 2 * user_archive.PIECE


async def test_a_reader_may_leave_in_the_middle_of_a_file(ours: Site, tmp_path: Path) -> None:
    """The archive ends there, and the next one can be made."""
    skills = folder(ours) / "skills" / "large"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_bytes(random.Random(7).randbytes(8_000_000))
    made = ours.assistant.space_of("default").user_archive
    pieces = made.pieces(frozenset())
    assert [len(await anext(pieces)) > 0 for _ in range(2)] == [True, True]
    await pieces.aclose()
    archive = await archive_of(ours)
    assert "skills/large/SKILL.md" in archive.namelist()


async def test_a_cancelled_download_waits_for_the_thread_that_writes(
    ours: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the archive is closed under it, which raises another error."""
    skill = folder(ours) / "skills" / "large" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_bytes(b"x" * 3 * user_archive.PIECE)
    writes, goes_on = threading.Event(), threading.Event()
    cleaning = trajectory.without_bytes

    def slow(content: bytes, secrets: Iterable[str]) -> bytes:
        if content.startswith(b"xxx"):
            writes.set()
            goes_on.wait(10)
        return cleaning(content, secrets)

    monkeypatch.setattr(user_archive, "without_bytes", slow)

    async def whole() -> None:
        async with aclosing(
            ours.assistant.space_of("default").user_archive.pieces(frozenset())
        ) as pieces:
            async for _ in pieces:
                pass

    download = asyncio.create_task(whole())
    await asyncio.to_thread(writes.wait, 10)
    download.cancel()
    asyncio.get_running_loop().call_later(0.05, goes_on.set)
    with pytest.raises(asyncio.CancelledError):
        await download


async def test_what_cannot_be_read_is_named_and_keeps_nothing_else_out(
    ours: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading = Archive.read

    async def failing(self: Archive, chat_id: str) -> Trajectory:
        if chat_id == "c":
            raise StoreError("It is damaged.")
        return await reading(self, chat_id)

    monkeypatch.setattr(Archive, "read", failing)
    archive = await archive_of(ours)
    assert archive.read("NOT-EXPORTED.txt").decode() == f"chat c ({WORD}): It is damaged.\n"
    assert "chats/00001-Second.json" in archive.namelist()


async def test_a_chat_whose_id_is_damaged_keeps_nothing_else_out(ours: Site) -> None:
    with closing(sqlite3.connect(folder(ours) / "assistant.db")) as database:
        database.execute("UPDATE chats SET id = '[1, null]' WHERE id = 'c'")
        database.commit()
    archive = await archive_of(ours)
    assert archive.read("NOT-EXPORTED.txt").decode().startswith(f"chat [1, null] ({WORD}): ")
    assert [name for name in archive.namelist() if name.endswith("Second.md")]


async def test_a_clock_before_1980_makes_an_archive_all_the_same(
    ours: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a clock has a machine without a battery, until it has found the time."""
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(0))
    assert "memories.jsonl" in (await archive_of(ours)).namelist()


@pytest.mark.skipif(os.name == "nt", reason="Windows makes no file of this name")
async def test_a_file_has_a_name_that_windows_can_unpack(ours: Site) -> None:
    skill = folder(ours) / "skills" / "aardwolf-light"
    (skill / 'a\\b: "why?".txt').write_text(WORD, encoding="utf-8")
    names = (await archive_of(ours)).namelist()
    assert "skills/aardwolf-light/a_b_ _why__.txt" in names


async def test_links_lead_nowhere(ours: Site, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("not yours", encoding="utf-8")
    try:
        (folder(ours) / "skills" / "aardwolf-light" / "link.txt").symlink_to(outside)
    except OSError:
        pytest.skip("this system makes no links here")
    assert not [name for name in (await archive_of(ours)).namelist() if "link" in name]
    assert (await deleted(ours, 2)).status == 200
    assert outside.read_text(encoding="utf-8") == "not yours"


# Deleting


async def test_after_it_nothing_is_left_and_everything_works_as_new(
    ours: Site, tmp_path: Path
) -> None:
    before = await data(ours)
    place = folder(ours)
    answered = await deleted(ours, 2)
    assert answered.status == 200
    assert (await answered.json())["deleted"] == before
    assert not holds_the_word(place)
    assert (await (await ours.client.get("/api/chats")).json())["chats"] == []
    assert (await (await ours.client.get("/api/user-context/rules")).json())["rules"] == []
    assert (await data(ours))["chats"] == 0
    made = await ours.client.post("/api/chats", json={"id": "c"})
    assert made.status == 201
    await ours.client.post("/api/user-context/skills", json={**SKILL, "name": "New"})
    settings = await (await ours.client.get("/api/assistant/settings")).json()
    assert [provider["name"] for provider in settings["providers"]] == ["Work"]
    assert (await ours.client.get("/api/assistant/health")).status == 200


async def test_another_number_of_chats_deletes_nothing(ours: Site) -> None:
    answered = await deleted(ours, 1)
    body = await answered.json()
    assert (answered.status, error_of(body)["code"]) == (409, "data_changed")
    assert body["data"]["chats"] == 2
    assert (await data(ours))["chats"] == 2


@pytest.mark.parametrize("body", [{}, {"chats": "2"}, {"chats": -1}, {"chats": 2, "x": 1}, []])
async def test_it_says_how_many_chats_it_means(ours: Site, body: Any) -> None:
    assert (await ours.client.post(f"{DATA}/delete", json=body)).status == 400
    assert (await data(ours))["chats"] == 2


async def test_a_held_file_keeps_everything(
    tmp_path: Path, windows_file_rules: WindowsRules
) -> None:
    async with filled(tmp_path) as ours:
        held = folder(ours) / "SOUL.md"
        windows_file_rules.hold(held)
        answered = await deleted(ours, 2)
        error = error_of(await answered.json())
        assert (answered.status, error["code"]) == (503, "store_failed")
        assert "Nothing was deleted" in error["message"] and "open" in error["message"]
        assert (await data(ours))["chats"] == 2
        assert (await ours.client.get("/api/chats/c")).status == 200
        windows_file_rules.release(held)
        assert (await deleted(ours, 2)).status == 200
        assert not holds_the_word(folder(ours))


async def test_while_it_goes_on_other_requests_wait_for_their_turn(
    ours: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    emptying = files.empty_folder

    def slowly(path: Path) -> None:
        begun.set()
        go_on.wait(20)
        emptying(path)

    monkeypatch.setattr(files, "empty_folder", slowly)
    first = asyncio.ensure_future(deleted(ours, 2))
    await asyncio.to_thread(begun.wait, 20)
    for refused in (await ours.client.get("/api/chats"), await deleted(ours, 2)):
        assert (refused.status, error_of(await refused.json())["code"]) == (503, "deleting")
        assert refused.headers["Retry-After"] == "1"
    go_on.set()
    assert (await first).status == 200
    assert (await ours.client.get("/api/chats")).status == 200


async def test_a_chat_that_another_process_answers_keeps_everything(tmp_path: Path) -> None:
    async with site(tmp_path) as ours:
        found = await data(ours)
        with another_process(folder(ours) / "assistant.db"):
            refused = await deleted(ours, found["chats"] + 2)
            body = await refused.json()
            assert (refused.status, error_of(body)["code"]) == (409, "runs_elsewhere")
            assert (await data(ours))["chats"] == 2


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[Chatting]:
    async with chatting(tmp_path) as running:
        yield running


async def test_a_running_turn_is_stopped(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "One "}, {"wait": "here"}, {"text": "two"}]), "Again")
    asking = asyncio.ensure_future(chat.say("Hello"))
    await chat.provider.reached("here")
    async with chat.client.post(f"{DATA}/delete", json={"chats": 1}) as answered:
        assert answered.status == 200, await answered.text()
    stream = await asking
    assert stream.text == "One " and "abort" in stream.types
    async with chat.client.get("/api/chats/c1") as gone:
        assert gone.status == 404
    assert (await chat.say("Hello")).text == "Again"
