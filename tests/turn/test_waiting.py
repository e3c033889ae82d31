"""Turns that wait for the user's decision or for a panel's result, and the ends of such a wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from plugin.tests.chatting import Chatting, Stream, chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.tools import Bench

PAINT = tool_call("paintNode", {"node": 3}, id="p1")
PAINT_TOO = tool_call("paintNode", {"node": 4}, id="p2")
ERASE = tool_call("erase", id="e1")
ERASE_TOO = tool_call("erase", id="e2")


def parts(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """A message's tool parts by their call."""
    return {p["toolCallId"]: p for p in message["parts"] if p["type"] == "dynamic-tool"}


async def answer(chat: Chatting) -> dict[str, Any]:
    """The stored answer, when no turn runs any more; there must be only one."""
    await chat.idle()
    stored = await chat.stored()
    assert [message["role"] for message in stored["messages"]] == ["user", "assistant"]
    found: dict[str, Any] = stored["messages"][-1]
    return found


async def state(chat: Chatting) -> str:
    return str((await chat.stored())["state"])


def results(chat: Chatting) -> list[str]:
    """The tool results of the last request."""
    return [m["content"] for m in chat.provider.requests[-1].messages if m["role"] == "tool"]


async def paused(chat: Chatting, *steps: Any) -> Stream:
    chat.provider.queue(Script(list(steps)))
    return await chat.say("Do it")


async def test_a_panels_call_ends_the_stream_and_waits(chat: Chatting, bench: Bench) -> None:
    stream = await paused(chat, {"text": "I paint."}, PAINT)
    [call] = stream.of("tool-input-available")
    assert "providerExecuted" not in call
    assert stream.chunks[-1]["finishReason"] == "tool-calls"
    assert await state(chat) == "waiting_client"
    async with chat.client.get("/api/chat/c1/stream") as response:
        assert response.status == 204


async def test_a_panels_result_lets_the_turn_go_on(chat: Chatting, bench: Bench) -> None:
    asked = await paused(chat, PAINT)
    chat.provider.queue("Painted.")
    assert (await chat.command(type="tool_result", tool_call_id="p1", output={"ok": 1})).ok
    message = await answer(chat)
    assert message["id"] == asked.chunks[0]["messageId"]
    assert parts(message)["p1"]["output"] == {"ok": 1}
    assert results(chat) == ['{"ok":1}']
    assert message["parts"][-1]["text"] == "Painted."
    assert await state(chat) == "idle"


async def test_a_panels_failure_is_sent_to_the_model(chat: Chatting, bench: Bench) -> None:
    await paused(chat, PAINT)
    chat.provider.queue("Sorry.")
    await chat.command(type="tool_result", tool_call_id="p1", error="no node 3")
    assert parts(await answer(chat))["p1"]["state"] == "output-error"
    assert "no node 3" in results(chat)[0]


async def test_a_result_in_the_resent_list_is_the_same_transition(
    chat: Chatting, bench: Bench
) -> None:
    await paused(chat, PAINT)
    messages = (await chat.stored())["messages"]
    parts(messages[-1])["p1"].update(state="output-available", output="done")
    chat.provider.queue("Painted.")
    stream = await chat.post({"id": "c1", "messages": messages})
    assert stream.chunks[0]["messageId"] == messages[-1]["id"]
    assert stream.text == "Painted."
    assert results(chat) == ["done"]
    assert len((await chat.stored())["messages"]) == 2


async def test_the_turn_goes_on_when_the_last_result_has_come(chat: Chatting, bench: Bench) -> None:
    await paused(chat, PAINT, PAINT_TOO)
    early = await chat.command(type="tool_result", tool_call_id="p2", output="b")
    assert (early.status, (await early.json())["error"]["code"]) == (409, "nothing_waits")
    assert (await chat.command(type="tool_result", tool_call_id="p1", output="a")).status == 202
    await chat.idle()
    assert await state(chat) == "waiting_client"
    assert len(chat.provider.requests) == 1
    chat.provider.queue("Both.")
    assert (await chat.command(type="tool_result", tool_call_id="p2", output="b")).status == 202
    await answer(chat)
    assert results(chat) == ["a", "b"]


async def test_a_panel_gets_one_call_at_a_time_even_where_several_came(
    chat: Chatting, bench: Bench
) -> None:
    stream = await paused(chat, PAINT, PAINT_TOO)
    assert [c["data"]["tool_call_id"] for c in stream.of("data-waiting")] == ["p1"]
    messages = (await chat.stored())["messages"]
    # A client of the AI SDK runs all its calls at once, and sends their results in one list.
    found = parts(messages[-1])
    found["p1"].update(state="output-available", output="p1")
    found["p2"].update(state="output-available", output="p2")
    chat.provider.queue("Both.")
    assert (await chat.post({"id": "c1", "messages": messages})).text == "Both."
    assert results(chat) == ["p1", "p2"]


async def test_the_first_result_of_a_call_wins(chat: Chatting, bench: Bench) -> None:
    await paused(chat, PAINT, PAINT_TOO)
    await chat.command(type="tool_result", tool_call_id="p1", output="first")
    await chat.idle()
    later = await chat.command(type="tool_result", tool_call_id="p1", output="second")
    assert later.status == 409
    assert (await later.json())["error"]["code"] == "nothing_waits"
    assert parts(await answer(chat))["p1"]["output"] == "first"


async def test_a_panel_cannot_answer_for_the_server(chat: Chatting, bench: Bench) -> None:
    await paused(chat, ERASE)
    refused = await chat.command(type="tool_result", tool_call_id="e1", output="done")
    assert refused.status == 409
    assert await state(chat) == "paused"
    assert bench.erased == 0


async def test_an_acting_tool_of_the_panel_asks_and_then_waits(
    chat: Chatting, bench: Bench
) -> None:
    await paused(chat, tool_call("runWorkflow", id="r1"))
    assert await state(chat) == "paused"
    await chat.command(type="approve_tools", ids=["r1"])
    await chat.idle()
    assert await state(chat) == "waiting_client"
    chat.provider.queue("Ran.")
    await chat.command(type="tool_result", tool_call_id="r1", output="image.png")
    assert (await answer(chat))["parts"][-1]["text"] == "Ran."
    assert results(chat) == ["image.png"]


async def test_calls_that_need_nobody_run_before_the_turn_waits(
    chat: Chatting, bench: Bench
) -> None:
    stream = await paused(chat, tool_call("listUserSkills", id="l1"), ERASE, PAINT)
    assert [c["toolCallId"] for c in stream.of("tool-output-available")] == ["l1"]
    assert [c["toolCallId"] for c in stream.of("tool-approval-request")] == ["e1"]
    assert await state(chat) == "paused"


async def test_a_call_is_asked_about_when_the_call_before_it_is_settled(
    chat: Chatting, bench: Bench
) -> None:
    stream = await paused(chat, ERASE, ERASE_TOO)
    assert [c["toolCallId"] for c in stream.of("tool-approval-request")] == ["e1"]
    early = await chat.command(type="approve_tools", ids=["e2"])
    assert (early.status, (await early.json())["error"]["code"]) == (409, "nothing_waits")
    await chat.command(type="approve_tools", ids=["e1"])
    await chat.idle()
    assert (bench.erased, await state(chat)) == (1, "paused")
    assert len(chat.provider.requests) == 1
    chat.provider.queue("One of two.")
    await chat.command(type="reject_tools", ids=["e2"], reason="keep it")
    found = parts(await answer(chat))
    assert (found["e1"]["state"], found["e2"]["state"]) == ("output-available", "output-denied")
    assert bench.erased == 1
    assert "keep it" in results(chat)[1]


async def test_a_panel_that_is_left_over_is_what_the_chat_waits_for(
    chat: Chatting, bench: Bench
) -> None:
    stream = await paused(chat, ERASE, PAINT)
    assert [c["data"]["tool_call_id"] for c in stream.of("data-waiting")] == ["e1"]
    await chat.command(type="approve_tools", ids=["e1"])
    await chat.idle()
    assert await state(chat) == "waiting_client"
    chat.provider.queue("Both.")
    await chat.command(type="tool_result", tool_call_id="p1", output="ok")
    await answer(chat)
    assert bench.erased == 1


async def test_a_decision_while_the_turn_runs_is_refused(chat: Chatting, bench: Bench) -> None:
    chat.provider.queue(Script([{"text": "Slow"}, {"wait": "go"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    refused = await chat.command(type="approve_tools", ids=["e1"])
    assert refused.status == 409
    assert (await refused.json())["error"]["code"] == "turn_running"
    chat.provider.release("go")
    await saying


async def test_a_stop_while_the_chat_waits_ends_the_wait(chat: Chatting, bench: Bench) -> None:
    await paused(chat, ERASE, PAINT)
    assert (await chat.command(type="abort")).status == 202
    message = await answer(chat)
    assert await state(chat) == "idle"
    assert message["metadata"]["cut"] == "aborted"
    found = parts(message)
    assert (found["e1"]["state"], found["p1"]["state"]) == ("output-denied", "output-error")
    assert (await chat.command(type="approve_tools", ids=["e1"])).status == 409
    late = await chat.command(type="tool_result", tool_call_id="p1", output=1)
    assert late.status == 409
    chat.provider.queue("Fine.")
    await chat.say("Never mind")
    assert "declined" in results(chat)[0]
    assert "Stopped by the user" in results(chat)[1]
    assert bench.erased == 0


async def test_a_message_instead_of_a_decision_is_answered(chat: Chatting, bench: Bench) -> None:
    await paused(chat, ERASE, PAINT)
    chat.provider.queue("Something else, then.")
    assert (await chat.say("Something else")).text == "Something else, then."
    assert "did not decide" in results(chat)[0]
    assert "interrupted" in results(chat)[1]
    assert (await chat.command(type="approve_tools", ids=["e1"])).status == 409
    assert (bench.erased, await state(chat)) == (0, "idle")


async def test_a_waiting_turn_can_be_answered_anew(chat: Chatting, bench: Bench) -> None:
    await paused(chat, ERASE)
    chat.provider.queue("Better not.")
    stream = await chat.post({"id": "c1", "trigger": "regenerate-message"})
    assert stream.text == "Better not."
    assert "tool_calls" not in str(chat.provider.requests[-1].messages)
    assert parts(await answer(chat)) == {}
    assert (await chat.command(type="approve_tools", ids=["e1"])).status == 409


async def test_approvals_work_without_a_chat(chat: Chatting, bench: Bench) -> None:
    user = chat.user("Do it")
    chat.provider.queue(Script([ERASE]), "Erased.")
    asked = await chat.post({"messages": [user]})
    [question] = asked.of("tool-approval-request")
    part = {
        "type": "dynamic-tool",
        "toolName": "erase",
        "toolCallId": "e1",
        "state": "approval-responded",
        "input": {},
        "providerExecuted": True,
        "approval": {"id": question["approvalId"], "approved": True},
    }
    message = {"id": asked.chunks[0]["messageId"], "role": "assistant", "parts": [part]}
    stream = await chat.post({"messages": [user, message]})
    assert stream.chunks[0]["messageId"] == message["id"]
    assert stream.text == "Erased."
    assert bench.erased == 1
    async with chat.client.get("/api/chats") as response:
        assert (await response.json()) == {"chats": []}


async def test_a_call_that_was_never_asked_about_asks_even_in_a_clients_list(
    chat: Chatting, bench: Bench
) -> None:
    part = {"type": "tool-erase", "toolCallId": "e1", "state": "input-available", "input": {}}
    message = {"id": "a1", "role": "assistant", "parts": [{**part, "providerExecuted": True}]}
    stream = await chat.post({"id": "c1", "messages": [chat.user("Do it"), message]})
    assert stream.of("tool-approval-request")
    assert (bench.erased, await state(chat)) == (0, "paused")


async def test_an_unknown_chat_may_begin_with_a_result(chat: Chatting, bench: Bench) -> None:
    part = {
        "type": "tool-paintNode",
        "toolCallId": "p1",
        "state": "output-available",
        "input": {"node": 3},
        "output": "ok",
    }
    message = {"id": "a1", "role": "assistant", "parts": [{"type": "step-start"}, part]}
    chat.provider.queue("Painted.")
    stream = await chat.post({"id": "c1", "messages": [chat.user("Paint"), message]})
    assert stream.text == "Painted."
    assert results(chat) == ["ok"]
    assert (await answer(chat))["id"] == "a1"


async def test_the_steps_of_a_turn_count_on_after_a_wait(tmp_path: Path) -> None:
    async with chatting(tmp_path, {"LLM_MAX_STEPS": "2"}) as chat:
        Bench().install(chat)
        await paused(chat, ERASE)
        chat.provider.queue(Script([tool_call("listUserSkills")]))
        await chat.command(type="approve_tools", ids=["e1"])
        message = await answer(chat)
        assert message["metadata"]["steps"] == 2
        notices = [p["data"]["code"] for p in message["parts"] if p["type"] == "data-notice"]
        assert notices == ["step_limit"]


async def test_what_an_answer_took_is_added_up_over_its_wait(chat: Chatting, bench: Bench) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    chat.provider.queue(Script([ERASE], usage=usage), Script([{"text": "Ok"}], usage=usage))
    before = (await chat.say("Do it")).message.metadata
    await chat.command(type="approve_tools", ids=["e1"])
    after = (await answer(chat))["metadata"]
    assert (after["usage"]["input_tokens"], after["usage"]["output_tokens"]) == (200, 20)
    assert after["created"] == before["created"]
    assert after["timing"]["first_token_ms"] == before["timing"]["first_token_ms"]
    assert after["timing"]["total_ms"] >= before["timing"]["total_ms"]


async def test_the_workflow_of_a_waiting_turn_is_there_when_it_goes_on(
    chat: Chatting, bench: Bench
) -> None:
    graph = {"nodes": [{"id": 3, "type": "KSampler"}], "links": []}
    chat.provider.queue(Script([ERASE]))
    await chat.say("Do it", workflow={"id": "w", "name": "mine", "graph": graph})
    chat.provider.queue(Script([tool_call("getWorkflowInfo")]), "A KSampler.")
    await chat.command(type="approve_tools", ids=["e1"])
    await answer(chat)
    assert "\n3 KSampler" in results(chat)[-1]


async def test_a_call_is_addressed_to_the_panel_that_asked(chat: Chatting, bench: Bench) -> None:
    chat.provider.queue(Script([PAINT]))
    stream = await chat.say("Paint", client_id="panel-1")
    assert stream.chunks[0]["messageMetadata"]["client_id"] == "panel-1"
    chat.provider.queue("Painted.")
    await chat.command(type="tool_result", tool_call_id="p1", output=1, client_id="panel-2")
    assert (await answer(chat))["metadata"]["client_id"] == "panel-2"


async def test_a_result_that_the_log_could_not_read_back_is_refused(
    chat: Chatting, bench: Bench
) -> None:
    await paused(chat, PAINT)
    deep: Any = 1
    for _ in range(95):
        deep = [deep]
    refused = await chat.command(type="tool_result", tool_call_id="p1", output=deep)
    assert refused.status == 400
    assert (await refused.json())["error"]["where"] == "output"
    assert await state(chat) == "waiting_client"


async def test_always_in_this_chat_holds_for_this_tool_only(chat: Chatting, bench: Bench) -> None:
    await paused(chat, ERASE)
    chat.provider.queue("Erased.")
    await chat.command(type="approve_tools", ids=["e1"], remember=True)
    await chat.idle()
    chat.provider.queue(Script([tool_call("erase"), tool_call("runWorkflow")]))
    stream = await chat.say("Again")
    assert len(stream.of("tool-approval-request")) == 1
    assert bench.erased == 2


async def test_always_in_this_chat_does_not_reach_another_chat(
    chat: Chatting, bench: Bench
) -> None:
    await paused(chat, ERASE)
    chat.provider.queue("Erased.")
    await chat.command(type="approve_tools", ids=["e1"], remember=True)
    await chat.idle()
    chat.provider.queue(Script([ERASE]))
    assert (await chat.say("Do it", chat="c2")).of("tool-approval-request")


@pytest.mark.parametrize(
    ("command", "where"),
    [
        ({"type": "tool_result", "tool_call_id": "p1"}, "tool_result"),
        ({"type": "tool_result", "tool_call_id": "p1", "output": 1, "error": "x"}, "tool_result"),
        ({"type": "tool_result", "tool_call_id": 7, "output": 1}, "tool_call_id"),
        ({"type": "approve_tools", "ids": []}, "ids"),
        ({"type": "approve_tools", "ids": "e1"}, "ids"),
        ({"type": "approve_tools", "ids": [1]}, "ids"),
        ({"type": "approve_tools", "ids": ["e1"], "remember": "yes"}, "remember"),
        ({"type": "reject_tools", "ids": ["e1"], "reason": 1}, "reason"),
        ({"type": "reject_tools", "ids": ["e1"], "remember": True}, "remember"),
        ({"type": "abort", "now": True}, "now"),
        ({"type": ["abort"]}, "type"),
        ({}, "type"),
        ({"type": "abort", "client_id": "x" * 200}, "client_id"),
    ],
)
async def test_a_malformed_command_is_a_400_that_says_where(
    chat: Chatting, command: dict[str, Any], where: str
) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    refused = await chat.command(**command)
    assert refused.status == 400
    assert (await refused.json())["error"]["where"] == where
