"""A turn as others see it: the chunks so far, then live, until it ends.

The turn belongs to the server: readers come and go, and none of them holds it up. All readers share
one list of chunks, so that a slow one costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from ..context.report import Report
from ..messages.chunks import Chunk
from ..messages.fold import MessageFold
from ..messages.parts import Message


class RunningTurn:
    """One turn. For one event loop."""

    def __init__(self, answer: Message, chat_id: str | None = None) -> None:
        self.chat_id = chat_id
        self._fold = MessageFold(answer)
        self._chunks: list[Chunk] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._task: asyncio.Task[None] | None = None
        self._first_report: asyncio.Future[Report | None] | None = None
        self.ended = False

    @property
    def message(self) -> Message:
        """The answer as it stands."""
        return self._fold.message

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` as the turn's own task; the turn has ended when it returns or fails."""
        loop = asyncio.get_running_loop()
        self._first_report = loop.create_future()
        self._task = loop.create_task(self._run(work), name=f"turn of {self.chat_id or 'no chat'}")

    def emit(self, chunk: Chunk) -> None:
        """One more chunk, for the message and for every reader."""
        self._fold.add(chunk)
        self._chunks.append(chunk)
        self._wake()

    def planned(self, report: Report) -> None:
        """Tells who waits for it what the first request of this turn holds."""
        if self._first_report and not self._first_report.done():
            self._first_report.set_result(report)

    async def first_report(self) -> Report | None:
        """The first request's report, or None when the turn ended without a request."""
        if self._first_report is None:
            return None
        return await asyncio.shield(self._first_report)

    async def follow(self, silence: float | None = None) -> AsyncIterator[Chunk | None]:
        """All chunks from the beginning, then live ones, until the turn has ended.

        None stands for `silence` seconds without a chunk; with no `silence` it never comes.
        """
        position = 0
        while True:
            while position < len(self._chunks):
                yield self._chunks[position]
                position += 1
            if self.ended:
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            done, _ = await asyncio.wait([waiter], timeout=silence)
            if not done:
                waiter.cancel()
                yield None

    async def stop(self) -> None:
        """Stops the turn and waits until its answer is kept as it is. Does nothing at the end."""
        task = self._task
        if task is None or task.done():
            return
        task.cancel()
        await asyncio.wait([task])

    async def finished(self) -> None:
        """Waits for the end."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        finally:
            self.ended = True
            if self._first_report and not self._first_report.done():
                self._first_report.set_result(None)
            self._wake()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)
