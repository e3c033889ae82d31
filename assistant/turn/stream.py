"""A turn as others see it: the chunks so far, then live, until it ends.

The turn belongs to the server: readers come and go, and none of them holds it up. All readers share
one list of chunks, so that a slow one costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Literal

from ..context.report import Report
from ..messages.chunks import Chunk
from ..messages.fold import MessageFold
from ..messages.parts import Message

StopReason = Literal["user", "shutdown"]
"""Who stops a turn: the user (or a client that nobody else can stand in for), or ComfyUI's end."""


class TurnStream:
    """One turn. For the event loop in which it is made; `witness` sees each chunk."""

    def __init__(
        self,
        answer: Message,
        chat_id: str | None = None,
        witness: Callable[[Chunk], None] | None = None,
    ) -> None:
        self.chat_id = chat_id
        self.stop_reason: StopReason | None = None
        self._witness = witness
        self._loop = asyncio.get_running_loop()
        self._fold = MessageFold(answer)
        self._chunks: list[Chunk] = []
        self._news: asyncio.Future[None] = self._loop.create_future()
        self._first_report: asyncio.Future[Report | None] = self._loop.create_future()
        self._begun = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._ended = False

    @property
    def message(self) -> Message:
        """The answer as it stands."""
        return self._fold.message

    @property
    def ended(self) -> bool:
        """True when no chunk comes any more."""
        return self._ended

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` as the turn's own task; the turn has ended when it returns or fails."""
        name = f"turn of {self.chat_id or 'no chat'}"
        self._task = self._loop.create_task(self._run(work), name=name)

    def emit(self, chunk: Chunk) -> None:
        """One more chunk, for the message and for every reader."""
        self._fold.add(chunk)
        self._chunks.append(chunk)
        if self._witness is not None:
            self._witness(chunk)
        self._wake()

    def planned(self, report: Report) -> None:
        """Tells who waits for it what the first request of this turn holds."""
        if not self._first_report.done():
            self._first_report.set_result(report)

    async def first_report(self) -> Report | None:
        """The first request's report, or None when the turn ended without a request."""
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
            if self._ended:
                return
            done, _ = await asyncio.wait([self._news], timeout=silence)
            if not done:
                yield None

    async def stop(self, reason: StopReason = "user") -> None:
        """Stops the turn and waits until its answer is kept as it is. Does nothing at the end."""
        if self._task is None or self._task.done():
            return
        # A task that is cancelled before it has begun runs nothing, not even what ends the turn.
        await self._begun.wait()
        if self.stop_reason is None and not self._closing:
            self.stop_reason = reason
            self._task.cancel()
        await self.finished()

    def close(self) -> None:
        """The answer has come to its end and is being kept: from now on nothing interrupts it."""
        self._closing = True

    async def finished(self) -> None:
        """Waits for the end."""
        if self._task is not None:
            await asyncio.wait([self._task])

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._begun.set()
        try:
            await work
        finally:
            self._ended = True
            if not self._first_report.done():
                self._first_report.set_result(None)
            self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, self._loop.create_future()
        news.set_result(None)
