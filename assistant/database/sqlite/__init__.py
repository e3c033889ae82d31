"""The embedded implementation of the database port: SQLite."""

from .database import SqliteDatabase

__all__ = ["SqliteDatabase"]
