"""The one thread that writes: work is done in the order in which it was handed over.

What is handed over while a transaction is being committed goes into the next one together, so that
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
"""Pieces of work in one transaction; more would make the first one wait for the last."""


@dataclass(eq=False, slots=True)
class Job:
    """A piece of work, and the future of its caller."""

    work: Callable[..., Any]
    future: asyncio.Future[Any]
    fallback: Any = None
    alone: bool = False
    result: Any = None
    error: BaseException | None = None

    def tell(self) -> None:
        """In the caller's loop: what became of it."""
        if self.future.done():  # the caller was cancelled; the work was done all the same
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class WriterThread:
    """`perform` gets what waits, in order, and sets each one's result or error; never raises."""

    def __init__(self, perform: Callable[[Sequence[Job]], None]) -> None:
        self._perform = perform
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> None:
        if self._thread is None:
            self._start()
        self._jobs.put(job)

    def close(self) -> None:
        """Do what was handed over, and end. Nothing may be handed over after."""
        with self._starting:
            if self._thread is not None:
                _end(self._jobs, self._thread)

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                # A daemon, so that a database that nobody closed does not keep Python from ending;
                # what was handed over by then is still written.
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
            _tell(todo)


def _tell(jobs: Sequence[Job]) -> None:
    """Every caller of one loop at once: waking a loop costs more than a statement."""
    loops = {id(job.future.get_loop()): job.future.get_loop() for job in jobs}
    for identity, loop in loops.items():
        theirs = [job for job in jobs if id(job.future.get_loop()) == identity]
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_tell_each, theirs)


def _tell_each(jobs: Sequence[Job]) -> None:
    for job in jobs:
        job.tell()


def _end(jobs: queue.SimpleQueue[Job | None], thread: threading.Thread) -> None:
    jobs.put(None)
    if thread is not threading.current_thread():
        thread.join()
