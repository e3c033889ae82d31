"""Waiting for work within a time."""

import asyncio

import pytest
from plugin.assistant.llm.time_limit import within


async def never() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("seconds", [None, 60.0])
async def test_a_cancellation_while_the_work_ends_is_not_lost(seconds: float | None) -> None:
    async def work() -> str:
        waiting.cancel()
        return "done"

    waiting = asyncio.create_task(within(seconds, work()))
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_work_that_takes_too_long_has_ended_when_that_is_told() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await never()
        finally:
            ended.append("work")

    with pytest.raises(asyncio.TimeoutError):
        await within(0.0, work())
    assert ended == ["work"]


async def test_the_caller_gets_the_result_and_the_error_of_the_work() -> None:
    async def fail() -> None:
        raise KeyError("nothing")

    assert await within(60.0, asyncio.sleep(0, "done")) == "done"
    with pytest.raises(KeyError):
        await within(60.0, fail())
