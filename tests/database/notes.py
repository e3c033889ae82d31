"""A store of notes for these tests: its tables, a write and a read."""

from datetime import datetime, timezone

from plugin.assistant.database import NUMBERS_NEVER_REUSED, StoreTables, Transaction
from sqlalchemy import Boolean, Column, Integer, MetaData, String, Table, insert, select

METADATA = MetaData()
NOTES = Table(
    "notes",
    METADATA,
    Column("row", Integer, primary_key=True),
    Column("text", String, nullable=False),
    info={NUMBERS_NEVER_REUSED: True},
)
MARKS = Table(
    "marks",
    METADATA,
    Column("name", String, primary_key=True),
    Column("seen", Boolean, nullable=False),
)
TABLES = StoreTables("notes", METADATA)
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def add(transaction: Transaction, text: str) -> None:
    transaction.execute(insert(NOTES).values(text=text))


def texts(transaction: Transaction) -> list[str]:
    return list(transaction.execute(select(NOTES.c.text).order_by(NOTES.c.row)).scalars())
