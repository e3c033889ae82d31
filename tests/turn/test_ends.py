"""However a turn ends, its stream is whole, its chat goes on, and no task of it is left."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from plugin.assistant.chats import Begun, Chat, ChatStore
from plugin.assistant.errors import StoreError
from plugin.assistant.messages import chunks
from plugin.assistant.messages.parts import Message
from plugin.assistant.sessions.path import ChatPath
from plugin.assistant.turn.answer_writer import AnswerWriter
from plugin.assistant.turn.chat_workflows import ChatWorkflows
from plugin.assistant.turn.conversations import Conversations
from plugin.assistant.turn.stream import TurnStream
from plugin.tests.chatting import Chatting, app_of, chatting
from plugin.tests.providers import Script, ScriptedProvider, tool_call
from plugin.tests.turn.tools import Bench

FULL = "assistant.db could not be written: the disk is full; make room and it goes on by itself."


def store_of(chat: Chatting) -> ChatStore:
    return chat.assistant.space_of("default").chats


async def goes_on(chat: Chatting) -> None:
    """Checks that the chat's next message is answered."""
    chat.provider.queue("Here I am")
    assert (await chat.say("And now?")).text == "Here I am"


async def test_of_two_requests_at_once_one_is_answered(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    streams = await asyncio.gather(chat.say("One"), chat.say("Two"))
    assert sorted(stream.status for stream in streams) == [200, 409]
    assert len((await chat.stored())["messages"]) == 2


async def test_two_chats_run_side_by_side(chat: Chatting) -> None:
    chat.provider.queue(Script([{"wait": "both"}, {"text": "A"}]), Script([{"text": "B"}]))
    first = asyncio.create_task(chat.say("One", chat="c1"))
    await chat.provider.reached("both")
    assert (await chat.say("Two", chat="c2")).text == "B"
    chat.provider.release("both")
    assert (await first).text == "A"


async def test_a_turn_that_is_stopped_before_it_began_comes_to_its_end() -> None:
    turn = TurnStream(Message("m1", "assistant", ()))
    ran = asyncio.Event()

    async def work() -> None:
        ran.set()
        await asyncio.Event().wait()

    turn.start(work())
    await turn.stop()
    assert ran.is_set()
    assert turn.ended
    assert [some async for some in turn.follow()] == []
    assert await turn.first_report() is None


async def test_a_stop_while_the_turn_is_starting_is_not_lost(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(chat)
    starting, go = asyncio.Event(), asyncio.Event()
    begin = store.begin_turn

    async def slowly(*arguments: Any) -> Begun:
        starting.set()
        await go.wait()
        return await begin(*arguments)

    monkeypatch.setattr(store, "begin_turn", slowly)
    chat.provider.queue(Script([{"wait": "never"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await starting.wait()
    stopping = asyncio.create_task(chat.command(type="abort"))
    async with chat.client.get("/api/chat/c1/stream") as response:
        assert response.status == 204
    go.set()
    assert (await stopping).status == 202
    assert (await saying).types[-1] == "abort"
    monkeypatch.undo()
    chat.provider._scripts.clear()
    await goes_on(chat)


async def test_a_chat_says_that_it_is_being_answered(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half"}, {"wait": "go"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    assert (await chat.stored())["state"] == "generating"
    async with chat.client.get("/api/chats") as response:
        assert [c["state"] for c in (await response.json())["chats"]] == ["generating"]
    chat.provider.release("go")
    await saying
    assert (await chat.stored())["state"] == "idle"


async def test_two_stops_are_one(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("never")
    stops = await asyncio.gather(*(chat.command(type="abort") for _ in range(3)))
    assert [stop.status for stop in stops] == [202] * 3
    stream = await saying
    assert stream.types.count("abort") == 1
    assert (await chat.stored())["messages"][1]["parts"][-1]["text"] == "Half"
    await goes_on(chat)


async def test_a_stop_of_an_idle_chat_changes_nothing(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    before = await chat.stored()
    assert (await chat.command(type="abort")).status == 202
    assert await chat.stored() == before


async def test_a_stop_while_a_tool_runs(chat: Chatting, bench: Bench) -> None:
    chat.provider.queue(Script([tool_call("slow", id="s1"), tool_call("erase", id="e1")]))
    saying = asyncio.create_task(chat.say("Hi"))
    await bench.started.wait()
    assert (await chat.stored())["state"] == "executing_tools"
    await chat.command(type="abort")
    stream = await saying
    assert stream.types[-3:] == ["finish-step", "message-metadata", "abort"]
    stored = await chat.stored()
    assert stored["state"] == "idle"
    calls = [p for p in stored["messages"][1]["parts"] if p["type"] == "dynamic-tool"]
    assert [call["state"] for call in calls] == ["output-error"] * 2
    assert all("Stopped by the user" in call["errorText"] for call in calls)
    await goes_on(chat)


async def test_a_stop_closes_a_question_that_was_asked_in_the_same_round(
    chat: Chatting, bench: Bench
) -> None:
    chat.provider.queue(Script([tool_call("erase", id="e1"), tool_call("slow", id="s1")]))
    saying = asyncio.create_task(chat.say("Hi"))
    await bench.started.wait()
    await chat.command(type="abort")
    stream = await saying
    assert [c["toolCallId"] for c in stream.of("tool-output-denied")] == ["e1"]
    assert (await chat.command(type="approve_tools", ids=["e1"])).status == 409
    assert bench.erased == 0


async def test_a_stop_within_a_call_says_that_it_did_not_run(chat: Chatting) -> None:
    chat.provider.queue(Script([tool_call("createUserSkill", {"name": "x"}), {"wait": "never"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("never")
    await chat.command(type="abort")
    [refused] = (await saying).of("tool-input-error")
    assert "did not run" in refused["errorText"]
    await goes_on(chat)


async def test_a_tool_with_a_bug_is_an_error_without_its_secrets(
    chat: Chatting, bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    chat.provider.queue(Script([tool_call("broken")]), "Sorry")
    stream = await chat.say("Hi")
    [failed] = stream.of("tool-output-error")
    assert "error in the assistant" in failed["errorText"]
    assert b"secret words" not in stream.raw
    assert "secret words" in caplog.text


async def test_when_comfyui_ends_what_was_written_is_kept_to_be_continued(tmp_path: Path) -> None:
    async with ScriptedProvider() as provider:
        async with chatting(tmp_path, provider=NotOwned(provider)) as chat:
            provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
            saying = asyncio.create_task(chat.say("Hi"))
            await provider.reached("never")
            await chat.assistant.close()
            stream = await saying
            await provider.client_left()
        assert stream.types[-1] == "abort"
        assert stream.message.metadata["cut"] == "cut"
        async with chatting(tmp_path, provider=NotOwned(provider)) as chat:
            stored = await chat.stored()
            assert stored["state"] == "idle"
            assert stored["messages"][1]["parts"][-1]["text"] == "Half"


class NotOwned(ScriptedProvider):
    """A provider that stays when one of its backends ends."""

    def __init__(self, shared: ScriptedProvider) -> None:
        self.__dict__ = shared.__dict__

    async def __aenter__(self) -> ScriptedProvider:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        return


async def test_a_client_that_leaves_is_noticed_by_a_server_like_comfyuis(tmp_path: Path) -> None:
    """ComfyUI's server does not cancel the handler of a client that left: a stream without a chat
    must notice that by itself."""
    async with ScriptedProvider() as provider:
        environ = {
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_MODEL": "scripted",
            "ASSISTANT_DISCOVER": "0",
        }
        runner = web.AppRunner(app_of(tmp_path, environ), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        provider.queue(Script([{"text": "Half"}, {"wait": "never"}]))
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/chat"
        message = {"role": "user", "parts": [{"type": "text", "text": "Hi"}]}
        async with aiohttp.ClientSession() as session:
            response = await session.post(url, json={"messages": [message]})
            await provider.reached("never")
            response.close()
            await provider.client_left()
        await runner.cleanup()


async def test_a_full_disk_refuses_the_message_and_takes_it_when_there_is_room(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise StoreError(FULL)

    monkeypatch.setattr(store_of(chat), "begin_turn", fail)
    body = {"id": "c1", "message": chat.user("Hi")}
    refused = await chat.post(body)
    assert refused.status == 503
    assert refused.error == {"code": "store_failed", "message": FULL}
    assert chat.provider.requests == []
    monkeypatch.undo()
    chat.provider.queue("Hello")
    assert (await chat.post(body)).text == "Hello"
    assert len((await chat.stored())["messages"]) == 2


@pytest.mark.parametrize(
    ("part", "name"),
    [(ChatPath, "opened"), (Conversations, "of_chat"), (ChatWorkflows, "begin")],
)
async def test_an_answer_that_was_begun_ends_where_its_turn_cannot_be_made(
    chat: Chatting,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    part: type,
    name: str,
) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(part, name, fail)
    stream = await chat.say("How are you?")
    assert stream.types[-1] == "error"
    assert stream.error["actions"] == ["retry"]
    assert "a bug" in caplog.text
    monkeypatch.undo()
    stored = await chat.stored()
    assert stored["state"] == "error"
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"] * 2
    await goes_on(chat)
    assert len(chat.provider.requests) == 2


async def test_a_question_is_settled_where_the_answer_cannot_go_on(
    chat: Chatting, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.provider.queue(Script([tool_call("erase", id="e1")]))
    await chat.say("Hi")
    assert (await chat.stored())["state"] == "paused"

    async def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(ChatWorkflows, "begin", fail)
    await chat.command(type="approve_tools", ids=["e1"])
    await chat.join()
    monkeypatch.undo()
    stored = await chat.stored()
    assert stored["state"] == "error"
    [call] = [part for part in stored["messages"][1]["parts"] if part["type"] == "dynamic-tool"]
    assert call["state"] == "output-error"
    await goes_on(chat)


async def test_an_answer_that_cannot_be_kept_is_given_all_the_same(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> None:
        raise StoreError(FULL)

    store = store_of(chat)
    for name in ("checkpoint", "set_state"):
        monkeypatch.setattr(store, name, fail)
    finish = store.finish_answer

    async def fail_to_finish(*arguments: Any) -> None:
        await finish(*arguments)
        raise StoreError(FULL)

    monkeypatch.setattr(store, "finish_answer", fail_to_finish)
    chat.provider.queue(Script([tool_call("listUserSkills")]), "Hello")
    stream = await chat.say("Hi")
    assert stream.text == "Hello"
    [notice] = stream.of("data-notice")
    assert notice["data"]["code"] == "not_saved"
    assert FULL in notice["data"]["message"]
    assert stream.types[-2:] == ["data-notice", "finish"]
    monkeypatch.undo()
    await goes_on(chat)


async def test_the_answer_is_in_the_chat_when_its_end_is_seen(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(chat)
    finish = store.finish_answer
    asked, go = asyncio.Event(), asyncio.Event()

    async def slowly(*arguments: Any) -> Chat:
        asked.set()
        await go.wait()
        return await finish(*arguments)

    monkeypatch.setattr(store, "finish_answer", slowly)
    chat.provider.queue("Hello")
    saying = asyncio.create_task(chat.say("Hi"))
    await asked.wait()
    turn = chat.assistant.space_of("default").sessions.running("c1")
    assert turn is not None
    seen = [chunk["type"] for block in turn._blocks for chunk in block]
    assert "text-end" in seen
    assert "finish" not in seen
    stopping = asyncio.create_task(chat.command(type="abort"))
    go.set()
    assert (await stopping).status == 202
    assert (await saying).types[-1] == "finish"
    assert (await chat.stored())["messages"][1]["metadata"]["finish_reason"] == "stop"


async def test_a_slow_disk_does_not_hold_up_the_stream(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(chat)
    saving, go = asyncio.Event(), asyncio.Event()

    async def slowly(*_: Any) -> None:
        saving.set()
        await go.wait()

    monkeypatch.setattr(store, "checkpoint", slowly)
    pieces = [{"text": f"{n} "} for n in range(900)]
    chat.provider.queue(Script([*pieces, {"wait": "end"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("end")
    await saving.wait()
    turn = chat.assistant.space_of("default").sessions.running("c1")
    assert turn is not None
    async for some in turn.follow():
        if any(chunk.get("delta") == "899 " for chunk in some):
            break
    chat.provider.release("end")
    go.set()
    assert (await saying).text.endswith("899 ")


async def test_a_bug_in_how_a_turn_ends_does_not_leave_the_chat_busy(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: AnswerWriter) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(AnswerWriter, "cut", fail)
    chat.provider.queue(Script([{"text": "Half"}, {"cut": True}]))
    stream = await chat.say("Hi")
    assert stream.types[-1] == "error"
    assert stream.text == "Half"
    assert "a bug" in caplog.text
    monkeypatch.undo()
    await goes_on(chat)


async def test_a_chunk_that_no_client_would_take_is_an_error_and_is_not_sent(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "text_end", lambda _: chunks.text_delta("unknown", "x"))
    chat.provider.queue("Hello")
    stream = await chat.say("Hi")
    assert stream.types[-1] == "error"
    assert b"unknown" not in stream.raw
    monkeypatch.undo()
    await goes_on(chat)


async def test_nothing_of_a_turn_is_held_when_it_has_ended(chat: Chatting) -> None:
    sessions = chat.assistant.space_of("default").sessions
    graph = {"nodes": [{"id": 3, "type": "KSampler"}], "links": []}
    chat.provider.queue(Script([{"text": "Hello"}, {"wait": "go"}]))
    saying = asyncio.create_task(chat.say("Hi", workflow={"name": "mine", "graph": graph}))
    await chat.provider.reached("go")
    turn = sessions.running("c1")
    assert turn is not None
    held = weakref.ref(turn)
    del turn
    chat.provider.release("go")
    await saying
    gc.collect()
    assert held() is None
    session = sessions.known("c1")
    assert session is not None
    assert session.quiet
    assert not sessions._turns._stateless
    workflows = sessions._turns._workflows
    assert not len(workflows._waiting) and not workflows._running and not workflows._keeping


async def test_many_readers_come_and_go(chat: Chatting) -> None:
    chat.provider.queue(Script([{"text": "Be"}, {"wait": "go"}, {"text": "gun"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    leaving = await chat.client.get("/api/chat/c1/stream")
    leaving.close()
    joining = [asyncio.create_task(chat.join()) for _ in range(5)]
    chat.provider.release("go")
    texts = {(await stream).text for stream in (saying, *joining)}
    assert texts == {"Begun"}


async def test_a_silent_turn_gives_its_readers_a_sign_of_life() -> None:
    turn = TurnStream(Message("m1", "assistant", ()))
    go = asyncio.Event()

    async def work() -> None:
        turn.emit(chunks.start("m1", {}))
        await go.wait()
        turn.emit(chunks.abort("x"))

    turn.start(work())
    seen: list[str | None] = []
    async for some in turn.follow(silence=0.01):
        seen += [chunk["type"] for chunk in some] or [None]
        if not some:
            go.set()
    assert seen[0] == "start"
    assert None in seen
    assert seen[-1] == "abort"
