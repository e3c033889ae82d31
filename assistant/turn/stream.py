"""The answer of a turn as a stream of chunks: from its beginning, then live, until it ends.

A turn belongs to the server: it does not wait for readers and does not end with them. All readers
share one list of blocks of chunks, so a slow reader costs nothing. In a full block neighbouring
deltas become one chunk: an answer of half a million pieces is not kept in half a million objects,
through which the collector of garbage would walk again and again. Of the graphs of one workflow,
which have megabytes and replace each other, only the newest is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Literal

from ..context.report import Report
from ..messages.chunks import Chunk
from ..messages.fold import MessageFold
from ..messages.merged_chunks import MergedChunks
from ..messages.parts import Message
from .measure import TIMED

BLOCK: Final = 256
"""Chunks of a full block."""
WORKFLOW: Final = "data-workflow"
_REPLACED: Final[Chunk] = {}
"""In the place of a chunk that a newer one has replaced: readers know chunks by their places."""
StopReason = Literal["user", "shutdown"]
"""The user stops a turn (also by closing the only reader of a turn without a chat), or ComfyUI's
shutdown does."""


class TurnStream:
    """The stream of one turn, and the task that fills it. For the event loop that it is made in;
    `on_chunk` is called with each chunk."""

    def __init__(
        self,
        answer: Message,
        chat_id: str | None = None,
        on_chunk: Callable[[Chunk], None] | None = None,
    ) -> None:
        self.chat_id = chat_id
        self.stop_reason: StopReason | None = None
        self._on_chunk = on_chunk
        self.on_part: Callable[[Chunk, int], None] | None = None
        """Called with each chunk that begins or ends a timed part, and the index of the answer's
        last part."""
        self._loop = asyncio.get_running_loop()
        self._fold = MessageFold(answer)
        self._blocks: list[list[Chunk]] = [[]]
        self._workflows: dict[str, object] = {}
        """The data of the newest graph of each workflow, by its id."""
        self._news: asyncio.Future[None] | None = None  # What readers wait for, if one waits.
        self._first_report: asyncio.Future[Report | None] = self._loop.create_future()
        self._begun = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False
        self._ended = False

    @property
    def message(self) -> Message:
        """The answer so far."""
        return self._fold.message

    @property
    def ended(self) -> bool:
        """True after the last chunk."""
        return self._ended

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs `work` as the turn's own task; the turn has ended when it returns or fails."""
        name = f"turn of {self.chat_id or 'no chat'}"
        self._task = self._loop.create_task(self._run(work), name=name)

    def emit(self, chunk: Chunk) -> None:
        """Adds a chunk to the answer and wakes the readers."""
        self._fold.add(chunk)
        if self.on_part is not None and chunk["type"] in TIMED:
            self.on_part(chunk, len(self._fold.message.parts) - 1)
        self._keep(chunk)
        if self._on_chunk is not None:
            self._on_chunk(chunk)
        self._wake()

    def _keep(self, chunk: Chunk) -> None:
        """A reader within the block that becomes full goes on with its own list."""
        if chunk["type"] == WORKFLOW:
            self._replace(chunk["data"])
        self._blocks[-1].append(chunk)
        if len(self._blocks[-1]) == BLOCK:
            kept = (one for one in self._blocks[-1] if one is not _REPLACED)
            self._blocks[-1] = MergedChunks(kept, transient=True).chunks
            self._blocks.append([])

    def _replace(self, data: Mapping[str, Any]) -> None:
        """Lets go of the graph that a newer one of the same workflow replaces."""
        older = self._workflows.get(data["id"])
        self._workflows[data["id"]] = data
        for block in reversed(self._blocks if older is not None else ()):
            for place, one in enumerate(block):
                if one.get("data") is older:
                    block[place] = _REPLACED
                    return

    def planned(self, report: Report) -> None:
        """Sets the report of the turn's first request; later reports are ignored."""
        if not self._first_report.done():
            self._first_report.set_result(report)

    def when_planned(self, call: Callable[[], None]) -> None:
        """Calls `call` when the first request is planned, or the turn has ended without it."""
        self._first_report.add_done_callback(lambda _: call())

    async def first_report(self) -> Report | None:
        """Waits for the first request's report; None when the turn ended without a request."""
        return await asyncio.shield(self._first_report)

    async def follow(self, silence: float | None = None) -> AsyncIterator[Sequence[Chunk]]:
        """All chunks from the beginning, then live chunks, until the turn has ended, but for graphs
        that were replaced before the reader came to them. Chunks that are there at a time come
        together, so that a reader sends them together.

        Yields none after `silence` seconds without a chunk; without `silence` it yields chunks
        only.
        """
        number, position = 0, 0
        block = self._blocks[0]
        while True:
            if position < len(block):
                some = [one for one in block[position:] if one is not _REPLACED]
                position = len(block)
                if some:
                    yield some
            elif number + 1 < len(self._blocks):
                number, position = number + 1, 0
                block = self._blocks[number]
            elif self._ended:
                return
            else:
                if self._news is None:
                    self._news = self._loop.create_future()
                done, _ = await asyncio.wait([self._news], timeout=silence)
                if not done:
                    yield ()

    async def stop(self, reason: StopReason = "user") -> None:
        """Cancels the turn and waits until its answer is stored as far as it came. Does nothing
        after the end."""
        if self._task is None or self._task.done():
            return
        # A task that is cancelled before it has begun does not run the code that ends the turn.
        await self._begun.wait()
        if self.stop_reason is None and not self._closing:
            self.stop_reason = reason
            self._task.cancel()
        await self.finished()

    def close(self) -> None:
        """The answer is complete and is being stored: from now on `stop` does not cancel it."""
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
        news, self._news = self._news, None
        if news is not None:
            news.set_result(None)
