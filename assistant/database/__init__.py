"""The port to a database: transactions, reads, leases, migrations and an index of terms.

A store keeps its tables and its statements in its own room and reaches them through this port.
`sqlite` is the implementation that is embedded; `space` chooses it. No other module of the plugin
contains a word of SQLite.
"""

from .port import Database, Fallback, InMemory, Result, Transactions, Work, utc_now
from .statement import Statement, among
from .tables import LARGEST_NUMBER, NUMBERS_NEVER_REUSED, LongInteger, StoreTables, migrate
from .terms import TermIndex, WordIndex
from .transaction import Transaction

__all__ = [
    "LARGEST_NUMBER",
    "NUMBERS_NEVER_REUSED",
    "Database",
    "Fallback",
    "InMemory",
    "LongInteger",
    "Result",
    "Statement",
    "StoreTables",
    "TermIndex",
    "Transaction",
    "Transactions",
    "WordIndex",
    "Work",
    "among",
    "migrate",
    "utc_now",
]
