"""Fixtures of the tests of sessions."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from .stage import Stage, stage


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Stage]:
    async with stage(tmp_path) as scene:
        yield scene
