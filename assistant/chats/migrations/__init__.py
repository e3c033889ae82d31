"""Files that an earlier version of the assistant wrote, brought up to date with alembic.

The steps are alembic's version files in `versions`; a step's revision is the number that
`PRAGMA user_version` says after it. Only an older file needs them: a new one gets its tables from
`schema` at once. There is no alembic.ini and no env.py: the steps run on the connection that is
open, in its transaction, so a file is brought up to date as a whole or stays as it was.

A step says what the tables were like at its time, so it does not use `schema`; once released, it is
not changed any more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sqlalchemy import Connection

VERSIONS: Final = Path(__file__).parent / "versions"


def upgrade(connection: Connection, found: int) -> None:
    """Bring the tables of format `found` (0: there are none) to the newest one."""
    # Imported here: ComfyUI's start need not wait for what a file needs once, if ever.
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(VERSIONS.parent), version_locations=[str(VERSIONS)])
    steps = list(scripts.iterate_revisions("head", str(found) if found else "base"))
    with Operations.context(MigrationContext.configure(connection)):
        for step in reversed(steps):
            step.module.upgrade()
