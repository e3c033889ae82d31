"""Waits for work, but not for ever.

`asyncio.wait_for` before Python 3.12 loses a cancellation that comes while the work ends: a turn
that was stopped would go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def within(seconds: float | None, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`. After `seconds` (None: never), or when the caller is cancelled, `work`
    is cancelled and has ended. Raises asyncio.TimeoutError."""
    task = asyncio.get_running_loop().create_task(work)
    # Nobody asks for the exception of work that was given up.
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    try:
        if not (await asyncio.wait([task], timeout=seconds))[0]:
            raise asyncio.TimeoutError
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
