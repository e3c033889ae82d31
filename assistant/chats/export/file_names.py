"""Names of exported files that every system takes. Pure."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 60
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9]+")


def safe_title(title: str) -> str:
    """The title in letters that every system takes, as a part of a file's name; it may be empty.
    Something stands before it in a name: `CON` alone is a device for Windows."""
    return _UNSAFE.sub("-", title)[:LONGEST].strip("-")
