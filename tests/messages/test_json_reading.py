"""Reading much JSON without the collector of garbage, which keeps the interpreter."""

import contextlib
import gc
import json
import threading
from collections.abc import Iterator

import pytest
from plugin.assistant.chats.export.trajectory import from_text
from plugin.assistant.errors import AssistantError
from plugin.assistant.messages.json_reading import collecting_later
from plugin.assistant.routes.body import BodyReader
from plugin.assistant.routes.memory import Memory

LISTS = json.dumps({"lists": [[] for _ in range(100_000)]})
MESSAGES = "\n".join(
    json.dumps({"id": f"m{number}", "role": "user", "parts": [{"type": "text", "text": "Hi"}]})
    for number in range(10_000)
)
AFTERWARDS = 2
"""Collections when the collector works again; without `collecting_later` there are a hundred."""


@contextlib.contextmanager
def collections() -> Iterator[list[int]]:
    """The generations that are collected meanwhile."""
    found: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            found.append(about["generation"])

    gc.callbacks.append(note)
    try:
        yield found
    finally:
        gc.callbacks.remove(note)


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    assert gc.isenabled()
    yield
    assert gc.isenabled()


def test_an_import_is_read_without_a_collection() -> None:
    with collections() as found:
        kept = from_text(MESSAGES, "jsonl")
    assert len(kept.rows) == 10_000
    assert len(found) <= AFTERWARDS


def test_a_body_is_read_without_a_collection() -> None:
    reader = BodyReader(Memory())
    with collections() as found, contextlib.suppress(AssistantError):
        reader._parsed(dict, bytearray(LISTS.encode()))
    assert len(found) <= AFTERWARDS


def test_the_collector_works_again_when_the_last_has_ended() -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with collecting_later():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert inside.wait(10)
    with contextlib.suppress(KeyError), collecting_later():
        raise KeyError
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collecting_later():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
