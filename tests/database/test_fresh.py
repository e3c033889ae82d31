"""A value of the database that readers share."""

import asyncio

import pytest
from plugin.assistant.database.fresh import SEEN_SECONDS, FreshValue
from plugin.assistant.errors import StoreError


class Source:
    """Counts its readings; each waits until it is let go."""

    def __init__(self) -> None:
        self.read: list[int | None] = []
        self.now = 0.0
        self.value = 1
        self.generation = 0
        self.fails = False
        self.begun = asyncio.Semaphore(0)
        self.held = asyncio.Event()
        self.held.set()
        self.fresh = FreshValue(self.reading, lambda: self.now, lambda: self.generation)

    async def reading(self, known: int | None) -> int:
        self.read.append(known)
        value = self.value
        self.begun.release()
        await self.held.wait()
        if self.fails:
            raise StoreError("It is damaged.")
        return value


async def test_those_who_ask_meanwhile_share_one_reading() -> None:
    source = Source()
    source.held.clear()
    asked = [asyncio.create_task(source.fresh.get()) for _ in range(50)]
    await asyncio.sleep(0)
    asked[0].cancel()
    source.held.set()
    assert await asyncio.gather(*asked[1:]) == [1] * 49
    assert source.read == [None]


async def test_it_is_read_again_after_a_change_and_after_a_while() -> None:
    source = Source()
    assert await source.fresh.get() == 1
    source.value = 2
    assert await source.fresh.get() == 1
    source.fresh.changed()
    assert await source.fresh.get() == 2
    source.value, source.now = 3, SEEN_SECONDS
    assert await source.fresh.get() == 3
    assert source.read == [None, 1, 2]


async def test_a_reading_that_began_before_a_change_is_not_kept() -> None:
    source = Source()
    source.held.clear()
    before = asyncio.create_task(source.fresh.get())
    await source.begun.acquire()
    source.value = 2
    source.fresh.changed()
    after = asyncio.create_task(source.fresh.get())
    await source.begun.acquire()
    source.held.set()
    assert (await before, await after, await source.fresh.get()) == (1, 2, 2)
    assert source.read == [None, None]


async def test_after_an_error_it_is_read_again() -> None:
    source = Source()
    source.fails = True
    for _ in range(2):
        with pytest.raises(StoreError):
            await source.fresh.get()
    source.fails = False
    assert await source.fresh.get() == 1


async def test_what_another_file_had_is_not_known() -> None:
    source = Source()
    await source.fresh.get()
    source.generation = 1
    source.now += SEEN_SECONDS
    await source.fresh.get()
    source.now += SEEN_SECONDS
    await source.fresh.get()
    assert source.read == [None, None, 1]


async def test_what_was_read_while_the_file_was_replaced_is_read_again() -> None:
    source = Source()
    source.held.clear()
    asked = asyncio.create_task(source.fresh.get())
    await source.begun.acquire()
    source.generation = 1
    source.held.set()
    await asked
    source.now += SEEN_SECONDS
    await source.fresh.get()
    assert source.read == [None, None]
