"""One chat's session: how it carries out commands, and the events that its readers get."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from plugin.assistant.chats import ChatParams, ChatStore
from plugin.assistant.database.sqlite import SqliteDatabase
from plugin.assistant.errors import (
    AssistantError,
    Conflict,
    InvalidRequest,
    NotFound,
    ProviderError,
    Refused,
    StoreError,
)
from plugin.assistant.messages.parts import FilePart, Message, TextPart
from plugin.assistant.sessions import commands
from plugin.assistant.sessions.chat_session import ChatSession
from plugin.assistant.sessions.commands import Command, command_from
from plugin.assistant.sessions.event_log import EventLog
from plugin.assistant.sessions.submissions import Sender
from plugin.assistant.turn.compaction import Compaction
from plugin.assistant.turn.decisions import Decision, ToolResult
from plugin.assistant.turn.idle.job import IdleChat
from plugin.assistant.turn.turn_request import TurnRequest
from plugin.tests.chats.examples import answer, user
from plugin.tests.chatting import until
from plugin.tests.sessions.folding import EVENT_TYPES, shown

from .stage import Reader, Stage, reading

ABORT = commands.Abort()


async def send(session: ChatSession, command: Command, client_id: str | None = None) -> str | None:
    return (await session.command(command, Sender(client_id))).made


async def say(scene: Stage, session: ChatSession, identity: str, answer: str = "Yes") -> None:
    """One whole turn."""
    await send(session, commands.UserMessage(user(identity, f"Say {identity}")))
    await scene.model.asked()
    scene.model.say(answer)
    await scene.settled(session)


async def waits(scene: Stage, session: ChatSession, tool: str, client_id: str = "p1") -> None:
    """A turn that waits: for a decision (`erase`), or for a panel (`paintNode`)."""
    await send(session, commands.UserMessage(user("u1")), client_id)
    await scene.model.asked()
    scene.model.call(tool, "t1", **({"node": 3} if tool == "paintNode" else {}))
    await scene.settled(session)


def ids(reader: Reader) -> list[str]:
    assert reader.state is not None
    return [message["id"] for message in shown(reader.state)]


async def refused(session: ChatSession, command: Command) -> Conflict:
    with pytest.raises(Conflict) as caught:
        await send(session, command)
    return caught.value


async def nothing_is_hidden() -> None:
    """A `hide` that never fails."""


async def news(log: EventLog, seq: int) -> AsyncIterator[bytes]:
    """The events after `seq`, up to now."""
    async for events in log.follow(seq, silence=0):
        if events is None:
            break
        yield events


async def path(scene: Stage) -> list[str]:
    return [message.id for message in await scene.store.path("c1")]


async def test_readers_get_a_turn_from_its_question_to_its_end(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    await say(scene, session, "u1", "Hel|lo")
    state = await reader.read()
    kinds = [event["type"] for event in reader.seen]
    assert kinds.index("message_added") < kinds.index("stream_started")
    assert kinds.index("stream_delta") < kinds.index("stream_finished")
    assert state["stream"] is None
    assert state["messages"][-1]["parts"][-1]["text"] == "Hello"
    assert (state["chat"]["title"], state["chat"]["messages"]) == ("Say u1", 2)
    assert state["runtime"]["state"] == state["chat"]["state"] == "idle"
    states = [event["runtime"]["state"] for event in reader.of("runtime_updated")]
    assert states == ["generating", "idle"]


async def test_a_message_is_durable_when_its_command_is_taken(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    assert await path(scene) == ["u1"]


async def test_messages_wait_in_order_with_priority_first_and_run_one_after_the_other(
    scene: Stage,
) -> None:
    session = await scene.session()
    reader = await reading(session)
    await send(session, commands.UserMessage(user("u1", "1")))
    for identity, priority in (("u2", False), ("u3", False), ("u4", True), ("u5", True)):
        await send(session, commands.UserMessage(user(identity, identity), priority))
    state = await reader.read()
    assert [entry["id"] for entry in state["queue"]] == ["u4", "u5", "u2", "u3"]
    assert not state["held"]
    for _ in range(5):
        await scene.model.asked()
        scene.model.say("Yes")
        await scene.settled(session)
    assert scene.model.texts == ["1", "u4", "u5", "u2", "u3"]
    assert (await reader.read())["queue"] == []
    assert [one for one in await path(scene) if one.startswith("u")] == [
        "u1", "u4", "u5", "u2", "u3",
    ]  # fmt: skip


@pytest.mark.parametrize("fails", [False, True])
async def test_a_message_that_is_stored_while_the_answer_ends_is_answered_next_or_held(
    scene: Stage, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    session = await scene.session()
    queue = session._services.queue
    enqueue = queue.enqueue

    async def slowly(*arguments: Any) -> None:
        if fails:
            scene.model.answer(ProviderError("No", code="key_refused", actions=()))
        else:
            scene.model.say("Yes")
        running = session.running
        assert running is not None
        await running.finished()
        await enqueue(*arguments)

    monkeypatch.setattr(queue, "enqueue", slowly)
    await send(session, commands.UserMessage(user("u1", "1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2", "2")))
    if fails:
        await scene.settled(session)
        assert session.live.state == "error"
        assert session.live.held
        await send(session, commands.ResumeQueue())
    await asyncio.wait_for(scene.model.asked(), 5)
    scene.model.say("Yes, too")
    await scene.settled(session)
    assert scene.model.texts == ["1", "2"]


@pytest.mark.parametrize("answered", [False, True])
async def test_a_message_that_the_stored_queue_has_lost_is_answered_once(
    scene: Stage, answered: bool
) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1", "1")))
    await scene.model.asked()
    for identity in ("u2", "u3"):
        await send(session, commands.UserMessage(user(identity, identity)))
    await send(session, ABORT)
    await session._services.queue.dequeue("c1", "u2")
    if answered:  # by another ComfyUI process
        await scene.store.append_all("c1", (user("u2", "u2"), answer("a2", "Yes")))
    await send(session, commands.ResumeQueue())
    asked = ["u3"] if answered else ["u2", "u3"]
    for _ in asked:
        await scene.model.asked()
        scene.model.say("Yes")
        await scene.settled(session)
    assert scene.model.texts == ["1", *asked]
    assert session.live.queue == ()


async def test_a_message_that_the_stored_queue_has_lost_is_taken_back(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1", "1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2", "2")))
    await session._services.queue.dequeue("c1", "u2")
    await send(session, commands.CancelQueued("u2"))
    assert session.live.queue == ()
    with pytest.raises(NotFound):
        await send(session, commands.CancelQueued("u2"))
    scene.model.say("Yes")
    await scene.settled(session)
    assert scene.model.texts == ["1"]


async def test_what_waits_for_a_decision_to_be_made_keeps_its_place_in_a_chat_that_nobody_reads(
    scene: Stage,
) -> None:
    session = await scene.session()
    await waits(scene, session, "erase")
    await send(session, commands.UserMessage(user("u2", "2")))
    scene.sessions.sweep()
    scene.now += 400
    scene.sessions.sweep()
    session = await scene.session()
    await send(session, Decision(("t1",), approved=True))
    for said in ("Erased", "Yes"):
        await scene.model.asked()
        scene.model.say(said)
        await scene.settled(session)
    assert scene.model.texts[-1] == "2"


async def test_what_waits_is_durable_and_held_after_a_restart(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2", "Later")))
    await scene.close()
    scene.begin()
    session = await scene.session()
    reader = await reading(session)
    assert reader.state is not None
    assert [entry["id"] for entry in reader.state["queue"]] == ["u2"]
    assert reader.state["held"]
    assert session.running is None
    await send(session, commands.ResumeQueue())
    await scene.model.asked()
    assert scene.model.texts[-1] == "Later"
    scene.model.say("Yes")
    await scene.settled(session)
    assert (await reader.read())["queue"] == []


@pytest.mark.parametrize("end", ["stop", "failure"])
async def test_a_stop_or_a_failure_holds_the_queue_until_the_next_message(
    scene: Stage, end: str
) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1", "1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2", "2")))
    if end == "stop":
        await send(session, ABORT)
    else:
        scene.model.answer(RuntimeError("a bug"))
    await scene.settled(session)
    assert session.live.state == ("idle" if end == "stop" else "error")
    assert session.live.held
    assert not scene.model.waits
    await send(session, commands.UserMessage(user("u3", "3")))
    for _ in range(2):
        await scene.model.asked()
        scene.model.say("Yes")
        await scene.settled(session)
    assert scene.model.texts == ["1", "2", "3"]
    assert not session.live.held


async def test_a_queued_message_can_be_cancelled(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await send(session, commands.UserMessage(user("u2")))
    await send(session, commands.CancelQueued("u2"))
    with pytest.raises(NotFound):
        await send(session, commands.CancelQueued("u2"))
    await scene.model.asked()
    scene.model.say("Yes")
    await scene.settled(session)
    assert len(await path(scene)) == 2


async def test_a_full_queue_refuses(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u0")))
    for number in range(32):
        await send(session, commands.UserMessage(user(f"q{number}")))
    with pytest.raises(Refused) as full:
        await send(session, commands.UserMessage(user("q32")))
    assert (full.value.status, full.value.retry_after is not None) == (429, True)


async def test_the_same_message_twice_is_answered_once(scene: Stage) -> None:
    session = await scene.session()
    again = commands.UserMessage(user("u1"))
    await send(session, again)
    await send(session, again)
    await send(session, commands.UserMessage(user("u2")))
    await send(session, commands.UserMessage(user("u2")))
    assert len(session.live.queue) == 1
    for _ in range(2):
        await scene.model.asked()
        scene.model.say("Yes")
        await scene.settled(session)
    await send(session, commands.UserMessage(user("u2")))
    await scene.settled(session)
    assert len(scene.model.requests) == 2
    with pytest.raises(InvalidRequest):
        await send(session, again)


async def test_a_refusal_says_state_and_reason(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    error = await refused(session, commands.Regenerate())
    assert (error.code, error.extra["state"], error.extra["reason"]) == (
        "turn_running", "generating", "busy",
    )  # fmt: skip
    await send(session, ABORT)
    error = await refused(session, Decision(("t1",), approved=True))
    assert error.code == error.extra["reason"] == "nothing_waits"
    assert error.extra["state"] == "idle"


async def test_a_decision_is_asked_for_and_lets_the_turn_go_on(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    await waits(scene, session, "erase")
    state = await reader.read()
    assert state["runtime"]["state"] == "paused"
    [waiting] = state["runtime"]["waiting"]
    assert (waiting["tool_call_id"], waiting["for"]) == ("t1", "decision")
    [asked] = reader.of("pause_required")
    [call] = asked["calls"]
    question = call.pop("approval_id")
    said = {"text": "Uses the tool erase.", "remember": True}
    assert call == {"id": "t1", "name": "erase", "title": "Erased", "input": {}, **said}
    assert waiting == {
        "tool_call_id": "t1",
        "for": "decision",
        "tool": "erase",
        "title": "Erased",
        "approval_id": question,
        **said,
    }
    part, note = state["messages"][-1]["parts"][-2:]
    assert part["approval"] == {"id": question}
    assert (note["type"], note["id"]) == ("data-waiting", question)
    assert (await refused(session, ToolResult("t1", 1))).code == "turn_waits"
    await send(session, Decision(("t1",), approved=True))
    await scene.model.asked()
    scene.model.say("Gone")
    await scene.settled(session)
    state = await reader.read()
    assert len(state["messages"]) == 2
    assert scene.bench.erased == 1
    assert [event["message"]["id"] for event in reader.of("stream_started")] == [
        state["messages"][-1]["id"]
    ] * 2


async def test_a_message_that_comes_while_a_decision_is_due_waits_for_it(scene: Stage) -> None:
    session = await scene.session()
    await waits(scene, session, "erase")
    await send(session, commands.UserMessage(user("u2", "Next")))
    await send(session, Decision(("t1",), approved=False))
    await scene.model.asked()
    scene.model.say("Kept")
    await scene.settled(session)
    await scene.model.asked()
    assert scene.model.texts[-1] == "Next"


async def test_only_a_panel_that_is_gone_is_taken_over(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    async with session.watched("p1"):
        await waits(scene, session, "paintNode")
        assert (await reader.read())["runtime"]["client_present"]
        with pytest.raises(Conflict) as refusal:
            await send(session, commands.TakeOver(), "p2")
        assert refusal.value.code == "client_present"
    state = await reader.read()
    assert (state["runtime"]["client_id"], state["runtime"]["client_present"]) == ("p1", False)
    async with session.watched("p2"):
        await send(session, commands.TakeOver(), "p2")
        state = await reader.read()
        assert (state["runtime"]["client_id"], state["runtime"]["client_present"]) == ("p2", True)
        assert [call["tool_call_id"] for call in state["runtime"]["waiting"]] == ["t1"]
        assert state["messages"][-1]["metadata"]["client_id"] == "p2"
    with pytest.raises(InvalidRequest):
        await send(session, commands.TakeOver())


async def test_another_panels_decision_leaves_the_calls_with_the_one_that_asked(
    scene: Stage,
) -> None:
    session = await scene.session()
    async with session.watched("p1"), session.watched("p2"):
        await waits(scene, session, "erase")
        await send(session, Decision(("t1",), approved=True), "p2")
        assert session.live.client_id == "p1"
        await send(session, ABORT)


async def test_an_edit_and_another_answer_are_versions(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    await say(scene, session, "u1", "One")
    await say(scene, session, "u2", "Two")
    before = await path(scene)
    await send(session, commands.Regenerate())
    await scene.model.asked()
    scene.model.say("Two again")
    await scene.settled(session)
    state = await reader.read()
    last = state["messages"][-1]["id"]
    assert state["versions"][last] == {"index": 1, "ids": [before[3], last]}
    await send(session, commands.RetryFromIndex(index=0, message=user("u1", "Edited")))
    await scene.model.asked()
    scene.model.say("New")
    await scene.settled(session)
    state = await reader.read()
    assert len(state["messages"]) == 2
    edited = state["messages"][0]["id"]
    assert state["versions"][edited] == {"index": 1, "ids": ["u1", edited]}
    await send(session, commands.SwitchVersion("u1"))
    state = await reader.read()
    assert ids(reader) == [*before[:3], last]
    assert state["versions"]["u1"]["index"] == 0
    assert reader.seen[-1]["type"] == "snapshot"


async def test_messages_are_changed_removed_and_cut_off_the_path(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    for identity in ("u1", "u2", "u3"):
        await say(scene, session, identity)
    first = (await path(scene))[1]
    await send(session, commands.UpdateMessage("u1", user("ignored", "Other words")))
    assert (await reader.read())["messages"][0]["parts"][0]["text"] == "Other words"
    await send(session, commands.RemoveMessage(first))
    await reader.read()
    assert first not in ids(reader)
    await send(session, commands.TruncateMessages(message_id="u3"))
    state = await reader.read()
    assert ids(reader) == await path(scene)
    assert ids(reader)[-1] != "u3" and len(ids(reader)) == 3
    await send(session, commands.TruncateMessages(index=0))
    state = await reader.read()
    assert (state["messages"], state["chat"]["messages"], state["has_more"]) == ([], 0, False)
    assert {"message_updated", "message_removed", "messages_truncated"} <= {
        event["type"] for event in reader.seen
    }


async def test_a_branch_is_a_chat_of_its_own(scene: Stage) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    await say(scene, session, "u2")
    made = await send(session, commands.BranchFromChat((await path(scene))[1]))
    assert made is not None
    branch = await scene.sessions.of(made)
    snapshot = await branch.snapshot()
    assert len(snapshot["messages"]) == 2
    assert snapshot["chat"]["branched_from"]["chat_id"] == "c1"
    assert len(await path(scene)) == 4


async def test_a_trajectory_takes_the_place_of_the_path(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    await say(scene, session, "u1")
    message = {"id": "old", "role": "user", "parts": [{"type": "text", "text": "Old"}]}
    trajectory = {
        "type": "comfyui-assistant-trajectory",
        "version": 1,
        "head": 1,
        "messages": [{"row": 1, "parent": None, "message": message}],
    }
    await send(session, command_from({"type": "restore_from_trajectory", "trajectory": trajectory}))
    await reader.read()
    assert ids(reader) == ["old"]


async def test_a_chat_has_a_provider_and_settings_of_its_own(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    body = {"provider": "Work", "model": "large", "temperature": 0.5, "reasoning": "high"}
    await send(session, command_from({"type": "set_params", "params": body}))
    assert (await reader.read())["chat"]["params"] == body
    await say(scene, session, "u1")
    request, provider = scene.model.requests[-1], scene.model.providers[-1]
    assert (provider.name, provider.model) == ("Work", "large")
    assert (request.temperature, request.reasoning_effort) == (0.5, "high")
    await send(
        session, command_from({"type": "set_params", "params": {"model": None, "provider": None}})
    )
    await scene.close()
    scene.begin()
    session = await scene.session()
    await say(scene, session, "u2")
    assert scene.model.providers[-1].name == "scripted"
    assert scene.model.requests[-1].temperature == 0.5


async def test_what_is_changed_while_an_answer_is_stored_stays_changed(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    reader = await reading(session)
    finish = scene.store.finish_answer

    async def slowly(*arguments: Any) -> Any:
        stored = await finish(*arguments)
        params = commands.SetParams(ChatParams(model="other"), frozenset({"model"}))
        await send(session, params)
        renamed = await scene.store.change("c1", "Renamed", None)
        await scene.sessions.changed(renamed)
        return stored

    monkeypatch.setattr(scene.store, "finish_answer", slowly)
    await say(scene, session, "u1")
    chat = (await reader.read())["chat"]
    assert (chat["title"], chat["params"]["model"]) == ("Renamed", "other")
    monkeypatch.undo()
    await say(scene, session, "u2")
    assert scene.model.providers[-1].model == "other"


async def test_a_draft_is_stored_and_sent_to_readers(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    await send(session, commands.SetDraft("A fo"))
    assert (await reader.read())["draft"] == "A fo"
    chat = await scene.store.get("c1")
    assert chat is not None and chat.draft == "A fo"
    await send(session, commands.ClearDraft())
    assert (await reader.read())["draft"] is None


async def test_an_answer_that_nobody_watched_is_unread_until_somebody_looks(scene: Stage) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    assert (await session.snapshot())["chat"]["unread"]
    async with session.watched(None):
        assert not (await session.snapshot())["chat"]["unread"]
        await say(scene, session, "u2")
    assert not (await session.snapshot())["chat"]["unread"]
    chat = await scene.store.get("c1")
    assert chat is not None and not chat.unread


async def test_a_failed_turn_says_why_until_the_next(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await scene.model.asked()
    scene.model.answer(RuntimeError("a bug"))
    await scene.settled(session)
    reader = await reading(session)
    assert reader.state is not None
    assert reader.state["runtime"]["error"]["code"] == "internal"
    await scene.close()
    scene.begin()
    session = await scene.session()
    assert (await session.snapshot())["runtime"]["error"]["code"] == "internal"
    await say(scene, session, "u2")
    assert "error" not in (await session.snapshot())["runtime"]


async def test_a_summary_that_is_made_can_be_stopped(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    begun = asyncio.Event()

    async def slowly(*_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(session._services.turns, "compact", slowly)
    compacting = asyncio.create_task(send(session, commands.Compact()))
    await begun.wait()
    await send(session, commands.UserMessage(user("u2")))
    assert len(session.live.queue) == 1
    with pytest.raises(Conflict) as busy:
        await session.start(TurnRequest(message=user("u3"), chat_id="c1"))
    assert busy.value.code == "turn_running"
    await send(session, ABORT)
    with pytest.raises(Conflict) as stopped:
        await compacting
    assert stopped.value.code == "aborted"
    assert session.live.held
    assert not scene.model.waits


async def test_no_idle_job_begins_beside_the_turn_that_follows(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    turns = session._services.turns
    jobs: list[str] = []
    next_began = asyncio.Event()

    class Job:
        def begin(self, chat: IdleChat) -> None:
            jobs.append(f"begin after {chat.path[-2].id}")

        def stop(self, chat_id: str) -> None:
            jobs.append("stop")
            if len(jobs) == 2:
                next_began.set()

        async def close(self) -> None: ...

    keep = turns._conversations.keep

    async def slowly(*arguments: Any) -> None:
        await next_began.wait()
        await keep(*arguments)

    monkeypatch.setattr(turns, "_idle_jobs", (Job(),))
    monkeypatch.setattr(turns._conversations, "keep", slowly)
    await send(session, commands.UserMessage(user("u1", "1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2", "2")))
    for _ in range(2):
        await scene.model.asked()
        scene.model.say("Yes")
        await scene.settled(session)
    assert jobs == ["stop", "stop", "begin after u2"]


async def test_nothing_that_waits_begins_beside_a_compaction(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    begun, ending = asyncio.Event(), asyncio.Event()

    async def slowly(*_: Any) -> Compaction:
        begun.set()
        await ending.wait()
        return Compaction(None, by_model=False)

    monkeypatch.setattr(session._services.turns, "compact", slowly)
    compacting = asyncio.create_task(send(session, commands.Compact()))
    await begun.wait()
    await send(session, commands.UserMessage(user("u2", "2")))
    await send(session, commands.ResumeQueue())
    assert session.running is None
    ending.set()
    await compacting
    await scene.model.asked()
    scene.model.say("Yes")
    await scene.settled(session)
    assert scene.model.texts[-1] == "2"


async def test_what_a_client_asked_for_is_done_even_if_it_is_gone(scene: Stage) -> None:
    session = await scene.session()
    asking = asyncio.create_task(send(session, commands.UserMessage(user("u1"))))
    await asyncio.sleep(0)
    asking.cancel()
    await scene.model.asked()
    scene.model.say("Yes")
    await scene.settled(session)
    assert len(await path(scene)) == 2


async def test_a_long_cut_is_sent_as_a_snapshot(scene: Stage) -> None:
    session = await scene.session()
    messages: list[Message] = []
    for number in range(60):
        messages.append(user(f"m{number}", "Hello"))
    await scene.store.append_all("c1", messages)
    reader = await reading(session)
    assert reader.state is not None
    assert reader.state["has_more"] and len(reader.state["messages"]) == 50
    await send(session, commands.TruncateMessages(index=3))
    await reader.read()
    assert ids(reader) == ["m0", "m1", "m2"]
    assert not reader.state["has_more"]


async def test_a_queued_message_that_cannot_begin_waits_on_and_says_why(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await send(session, commands.UserMessage(user("u2")))

    async def fail(*_: Any) -> None:
        raise AssistantError("Nothing goes.")

    monkeypatch.setattr(session._services.turns, "start", fail)
    await scene.model.asked()
    scene.model.say("Yes")
    await scene.settled(session)
    assert session.live.held
    snapshot = await session.snapshot()
    assert snapshot["runtime"]["error"]["message"] == "Nothing goes."
    assert [entry["id"] for entry in snapshot["queue"]] == ["u2"]
    monkeypatch.undo()
    await send(session, commands.ResumeQueue())
    await scene.model.asked()


async def test_a_session_is_dropped_when_nobody_uses_it_and_comes_back(scene: Stage) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    async with session.watched("p1"):
        scene.now += 1_000
        scene.sessions.sweep()
        assert scene.sessions.known("c1") is session
    scene.now += 299
    scene.sessions.sweep()
    assert scene.sessions.known("c1") is session
    scene.now += 2
    scene.sessions.sweep()
    assert scene.sessions.known("c1") is None
    again = await scene.session()
    assert again.events.epoch != session.events.epoch
    assert len((await again.snapshot())["messages"]) == 2


async def test_chats_that_were_left_keep_no_events(scene: Stage) -> None:
    """A session of a chat that nobody uses stays for minutes, its events do not."""
    for number in range(8):
        session = await scene.session(f"c{number}")
        await say(scene, session, f"u{number}")
    sessions = [scene.sessions.known(f"c{number}") for number in range(8)]
    async with session.watched("p1"):
        scene.now += 1_000
        scene.sessions._used.update(dict.fromkeys(scene.sessions._used, scene.now))
        scene.now += 60
        scene.sessions.sweep()
        assert all(one and one.events._events for one in sessions)
        scene.now += 61
        scene.sessions.sweep()
        assert [bool(one and one.events._events) for one in sessions] == [False] * 7 + [True]
    assert [scene.sessions.known(f"c{number}") for number in range(8)] == sessions


async def test_an_unknown_chat_leaves_no_session(scene: Stage) -> None:
    with pytest.raises(NotFound):
        await scene.sessions.of("nobody")
    assert scene.sessions.known("nobody") is None


async def test_a_deleted_chat_ends_its_readers_streams(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    reader = await reading(session)
    await scene.sessions.delete("c1", nothing_is_hidden)
    await reader.read()
    assert reader.ended
    assert session.running is None
    with pytest.raises(NotFound):
        await send(session, commands.UserMessage(user("u2")))


async def test_readers_get_no_event_for_a_refused_deletion(scene: Stage) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    reader, seq = await reading(session), scene.sessions.feed.events.seq

    async def refuse() -> None:
        raise Conflict("It runs elsewhere.", code="runs_elsewhere")

    with pytest.raises(Conflict):
        await scene.sessions.delete("c1", refuse)
    await say(scene, session, "u2")
    await reader.read()
    assert not reader.ended
    assert ids(reader)[2] == "u2"
    assert b"chat_deleted" not in b"".join(
        [one async for one in news(scene.sessions.feed.events, seq)]
    )


async def test_a_deletion_comes_to_its_end_when_its_caller_is_cancelled(scene: Stage) -> None:
    session = await scene.session()
    seq = scene.sessions.feed.events.seq
    hiding, go = asyncio.Event(), asyncio.Event()

    async def hide() -> None:
        hiding.set()
        await go.wait()

    deleting = asyncio.create_task(scene.sessions.delete("c1", hide))
    await hiding.wait()
    deleting.cancel()
    await asyncio.wait([deleting])
    go.set()
    # A restored chat gets another session: the ended one refuses every command.
    await until(lambda: scene.sessions.known("c1") is not session)
    assert b"chat_deleted" in b"".join([one async for one in news(scene.sessions.feed.events, seq)])


async def test_nothing_that_waits_begins_in_a_chat_that_is_deleted(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await scene.model.asked()
    await send(session, commands.UserMessage(user("u2")))
    running = session.running
    assert running is not None
    running.close()  # The answer is being kept already: it ends well, and the queue goes on.
    deleting = asyncio.create_task(scene.sessions.delete("c1", nothing_is_hidden))
    await asyncio.sleep(0)
    scene.model.say("Yes")
    await deleting
    await scene.settled(session)
    assert session.running is None
    assert [entry.id for entry in session.live.queue] == ["u2"]


async def test_every_type_of_event_is_folded() -> None:
    assert {
        "snapshot", "stream_started", "stream_delta", "stream_finished", "message_added",
        "message_updated", "message_removed", "messages_truncated", "thread_updated",
        "queue_updated", "runtime_updated", "pause_required", "context_compacted",
    } == EVENT_TYPES  # fmt: skip


async def test_a_late_reader_of_a_grown_chat_gets_a_snapshot_where_it_needs_one(
    scene: Stage,
) -> None:
    said = tuple((answer if number % 2 else user)(f"m{number}") for number in range(60))
    await scene.store.import_messages("c1", said)
    session = await scene.sessions.of("c1")
    for number in range(3):
        await say(scene, session, f"u{number}")
    late = await reading(session)
    # Of the imported messages it has m16 and later messages.
    await send(session, commands.TruncateMessages(message_id="m12"))
    later = await reading(session)
    state = await late.read()
    assert state == later.state
    assert ids(late)[-1] == "m11"


async def test_a_message_with_a_large_image_cuts_nobody_off(scene: Stage) -> None:
    session = await scene.session()
    reader = await reading(session)
    image = FilePart("image/png", "data:image/png;base64," + "A" * 5_000_000)
    with session.events.reader(reader.seq):
        await send(session, commands.UserMessage(Message("u1", "user", (TextPart("Look"), image))))
        await reader.read()
    assert not reader.ended
    assert ids(reader)[0] == "u1"
    await scene.model.asked()
    scene.model.say("Yes")
    await scene.settled(session)


async def test_a_message_that_no_log_could_hold_does_not_wait_either(scene: Stage) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    with pytest.raises(InvalidRequest):
        await send(session, commands.UserMessage(user("u\n2")))
    assert session.live.queue == ()
    await send(session, ABORT)


async def test_an_answer_ends_though_its_chat_is_not_there_to_be_marked(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()

    async def gone(chat_id: str, unread: bool) -> None:
        raise NotFound("There is no such chat.")

    monkeypatch.setattr(scene.store, "set_unread", gone)
    await say(scene, session, "u1")
    assert session.live.state == "idle"
    await say(scene, session, "u2")
    assert scene.model.texts == ["Say u1", "Say u2"]


async def test_readers_get_a_message_whose_versions_cannot_be_read(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    reader = await reading(session)

    async def unreadable(*_: Any) -> Any:
        raise StoreError("The file cannot be read.")

    monkeypatch.setattr(session._services.branches, "versions", unreadable)
    await say(scene, session, "u1")
    await reader.read()
    assert ids(reader)[0] == "u1"


async def test_a_stop_does_not_wait_for_a_provider_that_is_looked_for(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    await send(session, commands.UserMessage(user("u1")))
    await scene.model.asked()
    found = asyncio.Event()

    async def slow(name: str) -> None:
        await found.wait()

    monkeypatch.setattr(session._services.turns, "check_provider", slow)
    chosen = command_from({"type": "set_params", "params": {"provider": "far"}})
    choosing = asyncio.create_task(send(session, chosen))
    await asyncio.sleep(0)
    await asyncio.wait_for(send(session, ABORT), 10)
    assert session.running is None
    found.set()
    await choosing


async def test_every_refusal_has_the_state_and_the_reason(scene: Stage) -> None:
    session = await scene.session()
    refusal = await refused(session, commands.Compact())
    assert refusal.extra["state"] == "idle"
    assert refusal.extra["reason"] == refusal.code


async def test_messages_of_another_process_are_sent_with_the_next_message(
    scene: Stage,
) -> None:
    session = await scene.session()
    await say(scene, session, "u1")
    reader = await reading(session)
    database = SqliteDatabase(scene.folder / "assistant.db")
    await ChatStore(database).append_all("c1", (user("u2"), answer("a2")))
    await say(scene, session, "u3")
    await reader.read()
    assert ids(reader) == await path(scene)
    assert not reader.of("message_added")
    await database.close()


async def test_a_reader_that_leaves_while_the_answer_is_stored_has_not_read_it(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    session.live.reader_joined("p1")
    finish = scene.store.finish_answer

    async def leave(*arguments: Any) -> Any:
        stored = await finish(*arguments)
        assert not stored.unread
        session.live.reader_left("p1")
        return stored

    monkeypatch.setattr(scene.store, "finish_answer", leave)
    await say(scene, session, "u1")
    assert session.live.unread
    stored = await scene.store.get("c1")
    assert stored is not None and stored.unread


async def test_a_reader_that_comes_while_the_unread_mark_is_stored_clears_it(
    scene: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await scene.session()
    finish = scene.store.finish_answer

    async def come(*arguments: Any) -> Any:
        stored = await finish(*arguments)
        assert stored.unread
        session.live.reader_joined("p1")
        return stored

    monkeypatch.setattr(scene.store, "finish_answer", come)
    await say(scene, session, "u1")
    assert session.live.watched
    stored = await scene.store.get("c1")
    assert stored is not None and not stored.unread
    assert not session.live.unread
