"""Links in tests, also where symbolic links need rights that the tests' user may lack.

On Windows a symbolic link needs an administrator or the developer mode; a junction, which leads to
a folder, needs neither.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

MISSING_RIGHT = 1314
"""Windows' ERROR_PRIVILEGE_NOT_HELD."""


def link_folder(link: Path, target: Path) -> None:
    """Make a link to a folder: on Windows a junction."""
    if sys.platform == "win32":
        import _winapi

        _winapi.CreateJunction(str(target.resolve()), str(link))
    else:
        link.symlink_to(target, target_is_directory=True)


def link_file(link: Path, target: Path) -> None:
    """Make a symbolic link to a file; skips the test where that needs rights."""
    try:
        link.symlink_to(target)
    except OSError as error:
        if getattr(error, "winerror", None) != MISSING_RIGHT:
            raise
        pytest.skip("symbolic links need rights here: Windows' developer mode gives them")
