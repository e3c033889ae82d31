"""The tables of one store, and how older tables are brought up to date.

Each store says which version its tables have and owns the steps from one version to the next; the
database keeps which version it holds. The steps are alembic's version files. There is no
alembic.ini and no env.py: the steps run in the transaction that is open, so a database is brought
up to date as a whole or stays as it was. A step describes the tables of its time, so it does not
use the store's present schema; once released, it is not changed any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import BigInteger, MetaData

from ..errors import StoreError
from .transaction import Transaction

NUMBERS_NEVER_REUSED: Final = "numbers_never_reused"
"""A key of `Table.info`: the database gives the number of a deleted row to no other row."""
LAST_NUMBER: Final = 10**15 - 1
"""The last number that such a table gives, of 15 digits: no table comes there by itself. A row with
a larger number, of a damaged file, gets another one when the tables are made: after the largest
number that there is, the table would take no row."""
LARGEST_NUMBER: Final = 2**63 - 1
"""The largest whole number that a column takes."""


class LongInteger(BigInteger):
    """A whole number of 64 bits, also as the primary key that the database looks rows up by."""


@dataclass(frozen=True, slots=True)
class StoreTables:
    """The tables of the store with this name. `version` 0 means that the tables were never changed
    and no version is kept. `steps` is the folder of the steps to each version. `salvaged` says that
    rows of a damaged database are copied, as they are, into the one that takes its place."""

    store: str
    metadata: MetaData
    version: int = 0
    steps: Path | None = None
    salvaged: bool = False


def migrate(transaction: Transaction, tables: StoreTables) -> None:
    """Make the tables that are missing, and bring tables of an older version up to date with their
    rows. Raises StoreError for tables of a newer version."""
    found = transaction.version(tables.store)
    if found > tables.version:
        raise StoreError(
            f"The {tables.store} were saved by a newer version of the assistant (format {found};"
            f" this one reads up to {tables.version}). Update the assistant to open them."
        )
    if 0 < found < tables.version:
        upgrade(transaction, tables, found)
    # Also in a new database, where another store may have made its tables.
    transaction.create(tables.metadata)
    if found < tables.version:
        transaction.set_version(tables.store, tables.version)


def upgrade(transaction: Transaction, tables: StoreTables, found: int) -> None:
    """Bring the tables of version `found` (0: there are none) to the version of this code.

    Where the plugin was updated while it runs, the folder of the steps has newer steps already:
    they are left to the code that they belong to."""
    # Imported here, so that ComfyUI's start does not wait for alembic, which a database needs once,
    # if ever.
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    assert tables.steps is not None, "tables with versions have steps"
    scripts = ScriptDirectory(str(tables.steps.parent), version_locations=[str(tables.steps)])
    steps = list(scripts.iterate_revisions(str(tables.version), str(found) if found else "base"))
    with Operations.context(MigrationContext.configure(transaction.connection)):
        for step in reversed(steps):
            step.module.upgrade()
