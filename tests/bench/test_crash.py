"""A server that is killed in the middle of turns loses nothing that it has acknowledged to a
client.

`python bench/crash.py` kills the server two hundred times."""

from pathlib import Path

import pytest
from plugin.bench.crash import crash

KILLS = 6


@pytest.mark.slow
async def test_what_a_client_was_told_of_survives_kills_in_the_middle_of_turns(
    tmp_path: Path,
) -> None:
    result = await crash(KILLS, tmp_path, seed=3)
    assert result.lost == []
    assert result.kills == KILLS
    assert result.moments["in the answer"] > 0
