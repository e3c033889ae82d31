"""The oracle, with the tools that `tests/conftest.py` finds."""

from pathlib import Path

import pytest

from .oracle import Oracle


@pytest.fixture(scope="session")
def oracle(node24: str, ai_package_dirs: dict[str, Path]) -> Oracle:
    return Oracle(node24, ai_package_dirs)
