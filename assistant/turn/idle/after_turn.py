"""What a chat's next request needs, made when a turn has ended (R21).

    jobs = AfterTurn((summariser, titling))
    jobs.begin(chat)             commits the cut or mask that is due, then begins the other jobs
    jobs.stop("c1")              a turn begins: nothing takes effect after this

So the next request has nothing to wait for, and a model that is asked while the chat is idle knows
what was cut. The limits are checked as if the user's next message was there; before each request
they are checked again, since that message may be long.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

from ...errors import AssistantError
from ...messages.parts import Message
from ..compaction import Progress, reason_of
from ..preparation import Preparation
from .job import IdleChat, IdleJob
from .scheduler import IdleScheduler

logger = logging.getLogger("comfyui_assistant")

SECONDS: Final = 0.5
"""The pause after a turn: of many turns at once, those that wait go first."""


class AfterTurn:
    """For one event loop. `before` gets the chat's messages before a cut is committed. The work of
    a chat is done in a thread that holds the conversation's lock, after the turn's stream has
    ended."""

    def __init__(
        self,
        jobs: Sequence[IdleJob],
        before: Callable[[str, Sequence[Message]], Awaitable[None]] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._jobs = tuple(jobs)
        self._before = before
        self._scheduler = IdleScheduler("A cut after a turn", SECONDS, sleep)

    def begin(self, chat: IdleChat) -> None:
        self._scheduler.begin(chat.chat_id, partial(self._work, chat))

    def stop(self, chat_id: str) -> None:
        self._scheduler.stop(chat_id)
        for job in self._jobs:
            job.stop(chat_id)

    async def close(self) -> None:
        await self._scheduler.close()
        for job in self._jobs:
            await job.close()

    async def _work(self, chat: IdleChat) -> None:
        if self._before is not None:
            await self._before(chat.chat_id, chat.path)
        try:
            await self._settle(chat)
        except AssistantError as error:
            logger.info("A cut after a turn failed: %s", ascii(error.message)[1:-1])
        if chat.stopped:
            return  # The user wants no model to work now.
        for job in self._jobs:
            job.begin(chat)

    async def _settle(self, chat: IdleChat) -> None:
        """Commits what is due, stores it, and tells the readers of a cut."""
        make = await chat.maker(chat.path)
        task, conversation = asyncio.current_task(), chat.conversation
        if make is None:
            return

        def work() -> Preparation | None:
            """The preparation of the next request; None where nothing was committed."""
            preparation = make()
            with conversation.lock:
                if not self._scheduler.is_current(chat.chat_id, task):
                    return None  # A turn has begun, which may have fed more messages.
                conversation.feed(chat.history, chat.answer)
                return preparation if preparation.ready().settle() else None

        cuts = conversation.context.projections.cuts
        preparation = await asyncio.to_thread(work)
        if preparation is None:
            return
        newest = conversation.context.projections.cuts
        with Progress(chat.compacting) as progress:
            if newest != cuts:
                progress.enter("committing", reason_of(newest[-1].limit))
            await chat.keep()
            if newest == cuts:
                return
            report = await preparation.outlook()
            if report is not None:
                conversation.report = report
                chat.compacted(report)
