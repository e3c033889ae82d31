"""The one thread that writes: jobs are done in the order in which they were submitted.

Jobs that are submitted while a transaction is being committed share the next transaction, so that
many writers at once cost the disk one commit.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_TOGETHER: Final = 64
"""Jobs in one transaction; more jobs would make the first caller wait for the last."""


@dataclass(eq=False, slots=True)
class Job:
    """A work, and the future of its caller; None where no caller waits."""

    work: Callable[..., Any]
    future: asyncio.Future[Any] | None
    fallback: Any = None
    alone: bool = False
    result: Any = None
    error: BaseException | None = None

    def settle(self) -> None:
        """Set the future; called in the caller's event loop."""
        if (
            self.future is None or self.future.done()
        ):  # the caller was cancelled; the work was done all the same
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class WriterThread:
    """`perform` gets the waiting jobs in order, and sets the result or error of each; it never
    raises."""

    def __init__(self, perform: Callable[[Sequence[Job]], None]) -> None:
        self._perform = perform
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> None:
        if self._thread is None:
            self._start()
        self._jobs.put(job)

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in this thread."""
        return threading.current_thread() is self._thread

    def close(self) -> None:
        """Do the submitted jobs, and end. Nothing may be submitted after."""
        with self._starting:
            if self._thread is not None:
                _end(self._jobs, self._thread)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                # A daemon, so that a database that was not closed does not keep Python from ending;
                # the jobs that were submitted by then are still done.
                self._thread = threading.Thread(
                    target=self._run, name="assistant-writer", daemon=True
                )
                weakref.finalize(self, _end, self._jobs, self._thread)
                self._thread.start()

    def _run(self) -> None:
        ended = False
        while not ended:
            jobs = [self._jobs.get()]
            with contextlib.suppress(queue.Empty):
                while len(jobs) < MOST_TOGETHER:
                    jobs.append(self._jobs.get_nowait())
            ended = None in jobs
            todo = [job for job in jobs if job is not None]
            self._perform(todo)
            _settle(todo)


def _settle(jobs: Sequence[Job]) -> None:
    """Wake each loop once for all its callers: waking a loop costs more than a statement."""
    loops: dict[asyncio.AbstractEventLoop, list[Job]] = {}
    for job in jobs:
        if job.future is not None:
            loops.setdefault(job.future.get_loop(), []).append(job)
    for loop, theirs in loops.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: no caller waits
            loop.call_soon_threadsafe(_settle_each, theirs)


def _settle_each(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.settle()


def _end(jobs: queue.SimpleQueue[Job | None], thread: threading.Thread) -> None:
    jobs.put(None)
    if thread is not threading.current_thread():
        thread.join()
