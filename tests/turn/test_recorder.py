"""When a growing answer is saved; the finished answer is saved last."""

import asyncio

import pytest
from plugin.assistant.chats import ChatState
from plugin.assistant.errors import AssistantError, StoreError
from plugin.assistant.messages.parts import Message, TextPart
from plugin.assistant.turn.recorder import CHECKPOINT_CHUNKS, CHECKPOINT_SECONDS, NoStore, Recorder


def message(text: str) -> Message:
    return Message("m", "assistant", (TextPart(text),))


class Store:
    """A store that records its calls; a checkpoint waits while `free` is not set."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.free = asyncio.Event()
        self.free.set()
        self.error: AssistantError | None = None
        self.unsaved: AssistantError | None = None

    async def checkpoint(self, chat_id: str, message: Message) -> None:
        await self.free.wait()
        self.log.append(f"checkpoint {message.text}")
        if self.error:
            raise self.error

    async def finish_answer(
        self, chat_id: str, message: Message, state: ChatState, unread: bool
    ) -> None:
        self.log.append(f"finish {message.text} {state}" + (" unread" if unread else ""))
        if self.error:
            raise self.error

    async def set_state(self, chat_id: str, state: ChatState) -> None:
        self.log.append(f"state {state}")
        if self.error:
            raise self.error

    def check_saved(self, chat_id: str) -> None:
        if self.unsaved:
            raise self.unsaved


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_it_saves_when_a_second_has_passed() -> None:
    store, clock = Store(), Clock()
    recorder = Recorder(store, "c", clock)
    recorder.grew(lambda: message("a"))
    clock.now = CHECKPOINT_SECONDS
    recorder.grew(lambda: message("ab"))
    recorder.grew(lambda: message("abc"))
    await recorder.finish(message("abcd"), "idle")
    assert store.log == ["checkpoint ab", "finish abcd idle"]


async def test_it_saves_when_much_has_come_at_once() -> None:
    store = Store()
    recorder = Recorder(store, "c", Clock())
    for number in range(CHECKPOINT_CHUNKS):
        recorder.grew(lambda number=number: message(str(number)))  # type: ignore[misc]
    await recorder.finish(message("end"), "idle")
    assert store.log == [f"checkpoint {CHECKPOINT_CHUNKS - 1}", "finish end idle"]


async def test_a_checkpoint_that_takes_long_is_not_joined_by_others_and_comes_before_the_end() -> (
    None
):
    store, clock = Store(), Clock()
    store.free.clear()
    recorder = Recorder(store, "c", clock)
    for second in range(1, 9):
        clock.now = second * CHECKPOINT_SECONDS
        recorder.grew(lambda second=second: message(str(second)))  # type: ignore[misc]
    ending = asyncio.create_task(recorder.finish(message("end"), "idle"))
    store.free.set()
    await ending
    assert store.log == ["checkpoint 1", "finish end idle"]


async def test_a_save_waits_for_the_older_one() -> None:
    store, clock = Store(), Clock()
    store.free.clear()
    recorder = Recorder(store, "c", clock)
    clock.now = CHECKPOINT_SECONDS
    recorder.grew(lambda: message("old"))
    saving = asyncio.create_task(recorder.save(message("new")))
    store.free.set()
    await saving
    assert store.log == ["checkpoint old", "checkpoint new"]


async def test_a_store_that_fails_stops_nothing_and_says_why_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    store.error = StoreError("The disk is full: ü.")
    recorder = Recorder(store, "c", Clock())
    await recorder.save(message("a"))
    await recorder.state("executing_tools")
    assert await recorder.finish(message("a"), "idle") is store.error
    assert len(caplog.records) == 3
    assert caplog.text.isascii()


async def test_a_failure_that_is_over_at_the_end_is_none() -> None:
    store = Store()
    store.error = StoreError("Locked.")
    recorder = Recorder(store, "c", Clock())
    await recorder.save(message("a"))
    store.error = None
    assert await recorder.finish(message("ab"), "idle") is None


async def test_without_a_chat_nothing_is_kept() -> None:
    recorder = Recorder(NoStore(), "")
    await recorder.save(message("a"))
    await recorder.state("generating")
    assert await recorder.finish(message("a"), "idle") is None


async def test_it_says_of_an_answer_in_memory_that_it_is_not_saved() -> None:
    store = Store()
    store.unsaved = StoreError("The disk is full.")
    problem = await Recorder(store, "c").finish(message("a"), "idle")
    assert problem is store.unsaved
    assert store.log == ["finish a idle"]
