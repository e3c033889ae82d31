"""The stream of a turn: every reader gets the whole answer, which is kept in few objects."""

import asyncio
import gc
import weakref
from typing import Any

from plugin.assistant.messages import chunks
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import Message
from plugin.assistant.turn.stream import BLOCK, TurnStream
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script

PIECES = 10 * BLOCK
EMPTY = Message("a1", "assistant", ())


async def write(stream: TurnStream, ready: asyncio.Event) -> None:
    stream.emit(chunks.start("a1", {}))
    stream.emit(chunks.data("context", {"n": 1}, transient=True))
    stream.emit(chunks.text_start("t"))
    for number in range(PIECES):
        stream.emit(chunks.text_delta("t", f"{number} "))
        if number == BLOCK + 7:
            ready.set()
            await asyncio.sleep(0)
    stream.emit(chunks.text_end("t"))


async def read(stream: TurnStream, pause: bool = False) -> list[Chunk]:
    found: list[Chunk] = []
    async for some in stream.follow():
        assert some
        found += some
        if pause:
            await asyncio.sleep(0)
    return found


async def test_every_reader_gets_the_whole_answer() -> None:
    stream, ready = TurnStream(EMPTY), asyncio.Event()
    stream.start(write(stream, ready))
    slow = asyncio.create_task(read(stream, pause=True))
    await ready.wait()
    middle = asyncio.create_task(read(stream))
    every = [await slow, await middle, await read(stream)]
    whole = stream.message
    assert whole.text == "".join(f"{number} " for number in range(PIECES))
    for found in every:
        assert fold(EMPTY, found) == whole
        assert sum(chunk["type"] == "data-context" for chunk in found) == 1


async def test_a_long_answer_is_kept_in_few_chunks() -> None:
    stream = TurnStream(EMPTY)
    stream.start(write(stream, asyncio.Event()))
    await stream.finished()
    assert len(await read(stream)) < 2 * BLOCK


class Graph(dict[str, Any]):
    """A graph that a test can follow until it is gone."""


async def test_only_the_newest_graph_of_a_workflow_is_kept() -> None:
    stream = TurnStream(EMPTY)
    alive: weakref.WeakValueDictionary[int, Graph] = weakref.WeakValueDictionary()
    last = 2 * BLOCK - 1

    async def edit() -> None:
        stream.emit(chunks.start("a1", {}))
        for number in range(last + 1):
            alive[number] = graph = Graph(number=number)
            said = {"id": f"w{number % 2}", "revision": f"{number:08x}", "graph": graph}
            stream.emit(chunks.data("workflow", said, transient=True))
            stream.emit(chunks.text_start(f"t{number}"))
            stream.emit(chunks.text_end(f"t{number}"))
            await asyncio.sleep(0)

    stream.start(edit())
    live = [chunk["data"]["graph"]["number"] for chunk in await read(stream) if is_graph(chunk)]
    assert live == list(range(last + 1)), "a reader that keeps up gets all of them"
    gc.collect()
    assert sorted(alive) == [last - 1, last]
    late = await read(stream)
    found = [place for place, chunk in enumerate(late) if is_graph(chunk)]
    assert [late[place]["data"]["graph"]["number"] for place in found] == [last - 1, last]
    assert found == [len(late) - 6, len(late) - 3], "at their places"
    assert fold(EMPTY, late) == stream.message


def is_graph(chunk: Chunk) -> bool:
    return bool(chunk["type"] == "data-workflow")


async def test_what_came_together_is_sent_together(chat: Chatting) -> None:
    """Each piece that is handed to the system costs as much as making many of them."""
    words = [{"text": f"{number} "} for number in range(100)]
    chat.provider.queue(Script([*words, {"wait": "end"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("end")
    turn = chat.assistant.space_of("default").sessions.running("c1")
    assert turn is not None
    async for some in turn.follow():
        if any(chunk.get("delta") == "99 " for chunk in some):
            break
    async with chat.client.get("/api/chat/c1/stream") as response:
        first, _ = await anext(response.content.iter_chunks())
    assert b'"0 "' in first and b'"99 "' in first
    chat.provider.release("end")
    assert (await saying).text.endswith("99 ")
