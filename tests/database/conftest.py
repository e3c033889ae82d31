"""The implementations of the database port. A second implementation is one more entry in each
table."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from plugin.assistant.database import Database, Transactions, migrate
from plugin.assistant.database.sqlite import SqliteDatabase

from .notes import NOW, TABLES

Open = Callable[[Path], Database]

IMPLEMENTATIONS: dict[str, Open] = {
    "sqlite": lambda folder: SqliteDatabase(folder / "new" / "assistant.db", clock=lambda: NOW),
}


@pytest.fixture(params=IMPLEMENTATIONS)
def open_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Database]:
    """Opens the same database at each call."""
    return lambda: IMPLEMENTATIONS[request.param](tmp_path)


@pytest.fixture
async def database(open_database: Callable[[], Database]) -> AsyncIterator[Database]:
    """With the tables of the notes."""
    database = open_database()
    await database.migrate(TABLES)
    yield database
    await database.close()


@pytest.fixture(params=["on disk", "in memory"])
def transactions(request: pytest.FixtureRequest, database: Database) -> Iterator[Transactions]:
    """What a database on a disk and a database in memory have in common."""
    if request.param == "on disk":
        yield database
        return
    memory = database.in_memory(lambda transaction: migrate(transaction, TABLES))
    yield memory
    memory.close()
