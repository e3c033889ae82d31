"""A process that is killed in the middle of turns keeps every acknowledged message."""

import subprocess
import sys
from pathlib import Path

import pytest
from plugin.assistant.chats import ChatStore
from plugin.assistant.database.sqlite import SqliteDatabase

PROGRAM = Path(__file__).with_name("endless_turns.py")
KILLED_AFTER = (3, 6, 8, 15, 20)
"""Acknowledged writes: in mid-answer, at its end, after it. Each process goes on from the last."""


def _killed(database: Path, after: int) -> list[tuple[str, str, int]]:
    """The lines that the process printed before it was killed."""
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(database)],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    with process, process.stdout as output:
        said = [output.readline() for _ in range(after)]
        process.kill()
        said.extend(output.readlines())
    whole = [line.split() for line in said if line.endswith("\n")]
    return [(kind, identity, int(length)) for kind, identity, length in whole]


@pytest.mark.slow
async def test_every_acknowledged_write_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "assistant.db"
    least: dict[str, int] = {}
    for after in KILLED_AFTER:
        said = _killed(path, after)
        assert len(said) >= after
        for _kind, identity, length in said:
            least[identity] = length
        database = SqliteDatabase(path)
        store = ChatStore(database)
        await store.recover()
        stored = {message.id: message for message in await store.path("c")}
        chat = await store.get("c")
        await database.close()
        for identity, length in least.items():
            assert len(stored[identity].text) >= length
        assert chat is not None
        assert (chat.state, chat.messages) == ("idle", len(stored))
        last_said = said[-1]
        if last_said[0] == "checkpoint":
            last = stored[last_said[1]]
            assert last.metadata.get("cut") == "cut" or len(last.text) == 500
