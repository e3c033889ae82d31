"""Gives memory back to the system after large requests and answers.

glibc keeps what was freed: measured after a dozen answers of 4 MB and three bodies of 20 MB, a
third of the process was memory that nothing in it used. `malloc_trim` gives it back. Other systems
have no such call and need none.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
from collections.abc import Callable
from typing import Final

LARGE_BYTES: Final = 8 * 1024 * 1024
"""Bytes sent and received after which memory is worth giving back."""
PAUSE_SECONDS: Final = 5.0
"""Until then the memory of the request itself is free; also the shortest time between two calls."""


def system_trim() -> Callable[[], object] | None:
    """glibc's `malloc_trim` for all that can be given back; None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None  # Another C library, such as musl.
    return lambda: trim(ctypes.c_size_t(0))


class Memory:
    """For one event loop. Give it the bytes of what was sent and received."""

    def __init__(self, trim: Callable[[], object] | None = None) -> None:
        self._trim = trim if trim is not None else system_trim()
        self._bytes = 0
        self._waiting: asyncio.Task[None] | None = None

    def used(self, size: int) -> None:
        """A request or an answer of `size` bytes has come to its end."""
        self._bytes += size
        if self._trim is None or self._bytes < LARGE_BYTES or self._waiting is not None:
            return
        self._waiting = asyncio.get_running_loop().create_task(self._give_back(self._trim))
        self._waiting.add_done_callback(self._done)

    async def _give_back(self, trim: Callable[[], object]) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        self._bytes = 0
        # In a thread: it takes milliseconds for each hundred megabytes.
        await asyncio.to_thread(trim)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._waiting = None
