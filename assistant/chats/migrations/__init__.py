"""The steps that bring the chats' tables of earlier versions up to date.

They are alembic's version files in `versions`; a step's revision is the version of the tables after
it. `database.tables` carries them out. A new database gets its tables from `schema` at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

VERSIONS: Final = Path(__file__).parent / "versions"
