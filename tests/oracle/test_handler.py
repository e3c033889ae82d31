"""Turns that wait, stop or cannot be saved: every client reads the message that the log keeps.

`recordings` has the scenes of a single request; this module has the scenes that need a panel, a
second command or a failing database.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.errors import StoreError
from plugin.tests.chatting import Chatting, chatting
from plugin.tests.chatting import Stream as Answer
from plugin.tests.providers import Script, failure, tool_call
from plugin.tests.turn.tools import Bench

from .oracle import READERS, Oracle, Reading, Stream, comparable, pieces
from .recordings import Recording

pytestmark = pytest.mark.oracle

CUTS: tuple[tuple[int, ...], ...] = ((), (1,), (3, 7, 11))
PAINT = tool_call("paintNode", {"node": 3}, id="p1")
ERASE = tool_call("erase", id="e1")
SLOW = tool_call("slow", id="s1")


async def recorded(
    chat: Chatting, answer: Answer, base: dict[str, Any] | None = None, *, fails: bool = False
) -> Recording:
    await chat.idle()
    return Recording(answer.raw, (await chat.stored())["messages"][-1], base, fails)


async def asked(chat: Chatting, *steps: Any) -> dict[str, Any]:
    """A turn that waits, and its message."""
    chat.provider.queue(Script([{"text": "Well."}, *steps]))
    await chat.say("Do it", client_id="panel-1")
    return dict((await chat.stored())["messages"][-1])


def part(message: dict[str, Any], call_id: str) -> dict[str, Any]:
    return next(p for p in message["parts"] if p.get("toolCallId") == call_id)


async def resent(chat: Chatting, message: dict[str, Any]) -> Answer:
    """Sends the list of messages again, as the AI SDK does, with the decision in its last
    message."""
    messages = (await chat.stored())["messages"]
    return await chat.post({"id": "c1", "messages": [*messages[:-1], message]})


async def waits_for_the_panel(chat: Chatting, bench: Bench) -> Recording:
    chat.provider.queue(Script([{"text": "I paint."}, PAINT, tool_call("listUserSkills")]))
    return await recorded(chat, await chat.say("Paint", client_id="panel-1"))


async def goes_on_with_a_result(chat: Chatting, bench: Bench) -> Recording:
    message = await asked(chat, PAINT)
    part(message, "p1").update(state="output-available", output={"done": [1, None]})
    chat.provider.queue("Painted.")
    return await recorded(chat, await resent(chat, message), message)


async def goes_on_with_a_failure(chat: Chatting, bench: Bench) -> Recording:
    message = await asked(chat, PAINT)
    part(message, "p1").update(state="output-error", errorText="There is no node 3.")
    chat.provider.queue("Sorry.")
    return await recorded(chat, await resent(chat, message), message)


async def is_declined_by_command(chat: Chatting, bench: Bench) -> Recording:
    message = await asked(chat, ERASE)
    chat.provider.queue(Script([{"wait": "go"}, {"text": "As you wish."}]))
    await chat.command(type="reject_tools", ids=["e1"], reason="no")
    approval = {**part(message, "e1")["approval"], "approved": False, "reason": "no"}
    part(message, "e1").update(state="approval-responded", approval=approval)
    await chat.provider.reached("go")
    joining = asyncio.create_task(chat.join())
    chat.provider.release("go")
    return await recorded(chat, await joining, message)


async def fails_after_its_wait(chat: Chatting, bench: Bench) -> Recording:
    message = await asked(chat, PAINT)
    part(message, "p1").update(state="output-available", output="ok")
    chat.provider.queue(failure(401, "Incorrect API key provided."))
    return await recorded(chat, await resent(chat, message), message, fails=True)


async def is_stopped_while_a_tool_runs(chat: Chatting, bench: Bench) -> Recording:
    chat.provider.queue(Script([{"reasoning": "Hm."}, ERASE, SLOW, PAINT]))
    saying = asyncio.create_task(chat.say("Do it"))
    await bench.started.wait()
    await chat.command(type="abort")
    return await recorded(chat, await saying)


async def is_stopped_when_comfyui_ends(chat: Chatting, bench: Bench) -> Recording:
    chat.provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
    saying = asyncio.create_task(chat.say("Do it"))
    await chat.provider.reached("never")
    await chat.assistant.space_of("default").sessions.close()
    return await recorded(chat, await saying)


async def repeats_itself(chat: Chatting, bench: Bench) -> Recording:
    chat.provider.queue(*(Script([tool_call("fly", "{}")]) for _ in range(3)), "I give up.")
    return await recorded(chat, await chat.say("Fly"))


async def waits_for_a_rate_limit(chat: Chatting, bench: Bench) -> Recording:
    async def at_once(_: float) -> None:
        return

    chat.assistant.client._sleep = at_once
    limit = failure(429, "Slow down", headers={"Retry-After": "7"})
    chat.provider.queue(limit, limit, Script([{"text": "Hello"}, {"reasoning": "Hm."}]))
    return await recorded(chat, await chat.say("Hi"))


async def cannot_be_saved(chat: Chatting, bench: Bench) -> Recording:
    """The client also reads the notice that the answer is not saved."""
    store = chat.assistant.space_of("default").chats
    finish = store.finish_answer

    async def fail(*arguments: Any) -> None:
        await finish(*arguments)
        raise StoreError("The disk is full.")

    store.finish_answer = fail  # type: ignore[method-assign, assignment]
    chat.provider.queue("Hello")
    recording = await recorded(chat, await chat.say("Hi"))
    notice = {"code": "not_saved", "message": "This answer could not be saved: The disk is full."}
    recording.stored["parts"].append({"type": "data-notice", "data": notice})
    return recording


SCENES: tuple[Callable[[Chatting, Bench], Awaitable[Recording]], ...] = (
    waits_for_the_panel,
    goes_on_with_a_result,
    goes_on_with_a_failure,
    is_declined_by_command,
    fails_after_its_wait,
    is_stopped_while_a_tool_runs,
    is_stopped_when_comfyui_ends,
    repeats_itself,
    waits_for_a_rate_limit,
    cannot_be_saved,
)
NAMES = [scene.__name__ for scene in SCENES]


async def play(folder: Path) -> dict[str, Recording]:
    played = {}
    for scene in SCENES:
        async with chatting(folder / scene.__name__) as chat:
            bench = Bench()
            bench.install(chat)
            played[scene.__name__] = await scene(chat, bench)
    return played


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recording]:
    return asyncio.run(play(tmp_path_factory.mktemp("scenes")))


@pytest.fixture(scope="module", params=READERS)
def readings(
    request: pytest.FixtureRequest, oracle: Oracle, recordings: dict[str, Recording]
) -> dict[str, list[Reading]]:
    """Every scene in every cut, by one reader in one run."""
    streams = [
        Stream(recording.body, pieces(recording.body, cut) if cut else (), recording.base)
        for recording in recordings.values()
        for cut in CUTS
    ]
    read = iter(oracle.read(request.param, streams))
    return {name: [next(read) for _ in CUTS] for name in recordings}


@pytest.mark.parametrize("name", NAMES)
def test_a_turn_that(
    recordings: dict[str, Recording], readings: dict[str, list[Reading]], name: str
) -> None:
    recording = recordings[name]
    for reading in readings[name]:
        assert bool(reading.errors) is recording.fails, reading.errors
        assert comparable(reading.message) == comparable(recording.stored)
