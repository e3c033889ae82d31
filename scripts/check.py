"""The checks for each commit, in under a minute: python scripts/check.py [TESTS ...]

Runs the linter, the formatter (as a check), the type checker, and the tests of the repository's own
rules; paths of tests that are given run, too. It needs the environment that `scripts/test.py`
makes, and `scripts/test.py` runs everything. The exit code is 1 if a check failed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from environment import PYTHON, ROOT, say

TYPES = ROOT / ".cache" / "types"  # holds a link `plugin` to this checkout, for mypy
RULES = ("tests/test_rooms.py", "tests/test_docs.py", "tests/test_config.py")


def main(tests: Sequence[str]) -> int:
    if not PYTHON.exists():
        say("There is no environment yet. Run 'python scripts/test.py --fast' once: it makes it.")
        return 1
    link_package()
    commands = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy", "-p", "plugin"),
        ("pytest", "-q", *RULES, *tests),
    )
    failed = [" ".join(command[:2]) for command in commands if not passes(command)]
    say(f"Failed: {', '.join(failed)}" if failed else "All checks passed.")
    return 1 if failed else 0


def passes(command: Sequence[str]) -> bool:
    say(f"\n== {' '.join(command)}")
    start = time.monotonic()
    environ = {**os.environ, "MYPYPATH": "scripts", "PYTHONWARNDEFAULTENCODING": "1"}
    done = subprocess.run([str(PYTHON), "-m", *command], cwd=ROOT, env=environ)
    say(f"== {time.monotonic() - start:.1f} s")
    return done.returncode == 0


def link_package() -> None:
    """Make the link by which mypy sees this checkout as the package `plugin`."""
    link = TYPES / "plugin"
    if link.exists():
        return
    TYPES.mkdir(parents=True, exist_ok=True)
    if os.name == "nt":
        # A junction needs no administrator's rights; a symbolic link needs them.
        subprocess.run(["cmd", "/c", "mklink", "/J", str(link), str(ROOT)], check=True)
    else:
        link.symlink_to(ROOT, target_is_directory=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
