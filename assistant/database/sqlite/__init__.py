"""The embedded implementation of the database port: SQLite."""

from .database import SqliteDatabase
from .in_memory import InMemorySqlite

__all__ = ["InMemorySqlite", "SqliteDatabase"]
