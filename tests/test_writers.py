"""Each writer of the product, while another program holds its file as Windows lets it.

For a moment: the change is made all the same. For good: one sentence for the user, or a later try,
and in any case the old file as it was. A row of `WRITERS` is one writer.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from plugin.assistant import files
from plugin.preview.userdata import UserData
from plugin.tests.routes.site import USER, Site, error_of, site

from .windows_rules import WindowsRules

PROVIDERS = "/api/assistant/providers"
SKILLS = "/api/user-context/skills"
PROVIDER: dict[str, Any] = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
SKILL = {"name": "Poster", "description": "d", "instructions": "old text"}
SKILL_FILE = f"{USER}/skills/poster/SKILL.md"


@dataclass(frozen=True)
class Place:
    """The product's own routes and the preview's, over one folder."""

    ours: Site
    preview: TestClient[web.Request, web.Application]
    folder: Path


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


Act = Callable[[Place], Awaitable[Answer]]


@dataclass(frozen=True)
class Writer:
    """`held` is the path that another program holds; `before` makes the old state."""

    held: str
    before: Act | None
    act: Act


def ours(method: str, path: str, body: Any = None) -> Act:
    async def act(place: Place) -> Answer:
        async with place.ours.client.request(method, path, json=body) as response:
            return Answer(response.status, await response.text())

    return act


def preview(method: str, path: str, body: bytes = b"") -> Act:
    async def act(place: Place) -> Answer:
        async with place.preview.request(method, path, data=body) as response:
            return Answer(response.status, await response.text())

    return act


async def scan(place: Place) -> Answer:
    await place.ours.assistant.space_of(USER).scan(len(place.folder.name), ())
    return Answer(200, "")


async def other_scan(place: Place) -> Answer:
    await place.ours.assistant.space_of(USER).scan(1_000, ())
    return Answer(200, "")


WORKFLOW = "preview/workflows/w.json"
WRITERS = {
    "a provider is stored": Writer(
        "providers.json",
        ours("PUT", f"{PROVIDERS}/first", PROVIDER),
        ours("PUT", f"{PROVIDERS}/second", PROVIDER),
    ),
    "a provider is deleted": Writer(
        "providers.json",
        ours("PUT", f"{PROVIDERS}/first", PROVIDER),
        ours("DELETE", f"{PROVIDERS}/first"),
    ),
    "a skill is changed": Writer(
        SKILL_FILE,
        ours("POST", SKILLS, SKILL),
        ours("PATCH", f"{SKILLS}/poster", {"instructions": "new text"}),
    ),
    "a skill is deleted": Writer(
        f"{USER}/skills/poster",
        ours("POST", SKILLS, SKILL),
        ours("DELETE", f"{SKILLS}/poster"),
    ),
    "the environment is counted": Writer(f"{USER}/environment/summary.json", other_scan, scan),
    "a workflow is saved": Writer(
        WORKFLOW,
        preview("POST", "/userdata/workflows%2Fw.json", b"old"),
        preview("POST", "/userdata/workflows%2Fw.json", b"new"),
    ),
    "a workflow is deleted": Writer(
        WORKFLOW,
        preview("POST", "/userdata/workflows%2Fw.json", b"old"),
        preview("DELETE", "/userdata/workflows%2Fw.json"),
    ),
    "a workflow is renamed": Writer(
        WORKFLOW,
        preview("POST", "/userdata/workflows%2Fw.json", b"old"),
        preview("POST", "/userdata/workflows%2Fw.json/move/other%2Fv.json"),
    ),
    "a workflow replaces another": Writer(
        WORKFLOW,
        preview("POST", "/userdata/workflows%2Fw.json", b"old"),
        preview("POST", "/userdata/workflows%2Fv.json/move/workflows%2Fw.json"),
    ),
    "a setting of the front end is stored": Writer(
        "preview/comfy.settings.json",
        preview("POST", "/settings/a", b"1"),
        preview("POST", "/settings/a", b"2"),
    ),
}
EACH = pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS.keys())


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    userdata = UserData(tmp_path / "preview")
    app = web.Application()
    app.add_routes(userdata.routes())
    async with site(tmp_path) as opened, TestClient(TestServer(app)) as client:
        opened.assistant.space_of(USER)
        while tasks := opened.assistant._tasks:  # the start of the space, then its first count
            await asyncio.gather(*tasks)
        yield Place(opened, client, tmp_path)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, in seconds; no test waits for them."""
    made: list[float] = []
    monkeypatch.setattr("plugin.assistant.files.time.sleep", made.append)
    return made


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files but those of the database."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "assistant.db" not in path.name
    }


async def prepared(place: Place, writer: Writer) -> dict[str, bytes]:
    await preview("POST", "/userdata/workflows%2Fv.json", b"other")(place)
    if writer.before is not None:
        assert (await writer.before(place)).status < 300
    return snapshot(place.folder)


@EACH
async def test_a_file_that_is_held_for_a_moment_is_changed_all_the_same(
    place: Place, writer: Writer, windows_file_rules: WindowsRules, pauses: list[float]
) -> None:
    before = await prepared(place, writer)
    windows_file_rules.hold(place.folder / writer.held, times=2)
    answer = await writer.act(place)
    assert answer.status < 300, answer
    assert snapshot(place.folder) != before
    assert len(windows_file_rules.refused) == 2 == len(pauses)


@EACH
async def test_a_file_that_stays_held_is_one_sentence_and_stays_as_it_was(
    place: Place,
    writer: Writer,
    windows_file_rules: WindowsRules,
    pauses: list[float],
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = await prepared(place, writer)
    windows_file_rules.hold(place.folder / writer.held)
    answer = await writer.act(place)
    said = caplog.text if writer.act is scan else answer.text
    assert "another program has the file open" in said
    assert "Traceback" not in said + caplog.text and str(place.folder) not in said
    assert "Der Prozess" not in said
    if writer.act is not scan:
        assert answer.status == 503
        message = answer.text
        if message.startswith("{"):
            message = error_of(json.loads(message))["message"]
        assert message.endswith(".") and "\n" not in message
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert snapshot(place.folder) == before
    windows_file_rules.release(place.folder / writer.held)
    assert (await writer.act(place)).status < 300
    assert snapshot(place.folder) != before


@EACH
async def test_no_writer_changes_a_file_on_the_event_loop(
    place: Place, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prepared(place, writer)
    real, on_loop = files.patiently, []

    def patiently(*arguments: Any) -> Any:
        on_loop.append(files._on_event_loop())
        return real(*arguments)

    monkeypatch.setattr(files, "patiently", patiently)
    assert (await writer.act(place)).status < 300
    assert on_loop and not any(on_loop)
