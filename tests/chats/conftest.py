"""A database of chats for each test; a module that needs other chats makes its own `store`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.chats.search import history_search
from plugin.assistant.database.sqlite import SqliteDatabase


@pytest.fixture(autouse=True)
def patient_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search waits for its whole index, also on a busy machine."""
    monkeypatch.setattr(history_search, "PATIENCE_SECONDS", 60.0)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "assistant.db")
    yield database
    await database.close()


@pytest.fixture
async def store(database: SqliteDatabase) -> ChatStore:
    """A store with the empty chat `c`."""
    store = ChatStore(database)
    await store.create("c")
    return store
