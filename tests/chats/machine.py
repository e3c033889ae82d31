"""The base of the state machines over a chat on disk."""

import asyncio
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from hypothesis.stateful import RuleBasedStateMachine
from plugin.assistant.chats import ChatStore
from plugin.assistant.database.sqlite import SqliteDatabase

Result = TypeVar("Result")


class OnDisk(RuleBasedStateMachine):
    """Chats in a file, and the store of a process that may die at any moment and `open` again."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory()
        self.database = SqliteDatabase(Path(self.folder.name) / "assistant.db")
        self.made = 0
        self.open()

    def open(self) -> None:
        self.store = ChatStore(self.database)

    def teardown(self) -> None:
        self.run(self.database.close())
        self.loop.close()
        self.folder.cleanup()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self.loop.run_until_complete(work)

    def name(self) -> str:
        self.made += 1
        return f"m{self.made}"
