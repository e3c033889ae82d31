"""SQLite: a file with one writer thread, and a database in memory for what a file does not take."""

from .database import Database, Fallback, utc_now
from .engines import Result, Work, driver_of, folder_of
from .memory import InMemoryDatabase

__all__ = [
    "Database",
    "Fallback",
    "InMemoryDatabase",
    "Result",
    "Work",
    "driver_of",
    "folder_of",
    "utc_now",
]
