"""What a user should know about the place of the database's file."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from ...errors import Problem

ADVICE: Final = "Set ASSISTANT_USER_DIR to a folder on a disk of this machine."
SYNCHRONISED: Final = (
    *("onedrive", "dropbox", "google drive", "my drive", "nextcloud", "iclouddrive"),
    *("mobile documents", "cloudstorage"),
)
"""The beginnings of the names of folders that a service copies to other machines, in small letters.
`My Drive` is Google's; on macOS `Mobile Documents` is iCloud's, and `CloudStorage` has the folders
of all other services."""
NO_SERVER: Final = re.compile(r"\\\\[?.]\\(?!unc\\)", re.IGNORECASE)
"""How a path of Windows begins that names a disk or device of this machine."""


def problems_of(path: PurePath, journal: str | None, wanted: str) -> tuple[Problem, ...]:
    """The problems of a file at this path, for which SQLite took the journal mode `journal` (None:
    the file was not opened yet)."""
    found = []
    if journal not in (None, wanted):
        found.append(
            Problem(
                "database_journal",
                f"{path.name} lies on a disk where SQLite cannot keep a write-ahead log, such as a"
                f" network folder (it took the mode {journal!r}): reading waits for writing, and a"
                f" second ComfyUI may damage the file. {ADVICE}",
                "ASSISTANT_USER_DIR",
            )
        )
    if (name := _shared(path)) is not None:
        found.append(
            Problem(
                "database_shared_folder",
                f"{path.name} lies in {name}. A network, or a service that copies files to other"
                f" machines, can damage it or lock it. {ADVICE}",
                "ASSISTANT_USER_DIR",
            )
        )
    return tuple(found)


def _shared(path: PurePath) -> str | None:
    if path.drive.startswith("\\\\") and not NO_SERVER.match(str(path)):
        return f"the network folder {path.drive}"
    for name in path.parts:
        if name.lower().startswith(SYNCHRONISED):
            return f"the folder {name!r}"
    return None
