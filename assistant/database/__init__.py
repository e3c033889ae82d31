"""SQLite: a file with one writer thread, and a database in memory for what a file does not take."""

from .database import Database, Rescue, utc_now
from .engines import Work
from .memory import MemoryDatabase

__all__ = ["Database", "MemoryDatabase", "Rescue", "Work", "utc_now"]
