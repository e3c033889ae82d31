"""Each turn that waits keeps the workflow that was open when its message was sent."""

from __future__ import annotations

import asyncio
from typing import Any

from plugin.assistant.turn.waiting_workflows import MOST_WORKFLOWS, WaitingWorkflows
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.tools import Bench


def workflow(node_type: str) -> dict[str, Any]:
    node = {"id": 1, "type": node_type, "pos": [0, 0], "inputs": [], "outputs": []}
    return {"id": node_type, "name": f"{node_type}.json", "graph": {"nodes": [node], "links": []}}


def seen(chat: Chatting, request: int = -1) -> list[str]:
    """The tool results in a request, by default in the last one."""
    messages = chat.provider.requests[request].messages
    return [str(message["content"]) for message in messages if message["role"] == "tool"]


async def test_two_queued_messages_read_their_own_workflows(chat: Chatting) -> None:
    look = Script([tool_call("getWorkflowInfo")])
    chat.provider.queue(Script([{"text": "Wait"}, {"wait": "go"}]))
    chat.provider.queue(look, "One", look, Script([{"wait": "end"}, {"text": "Two"}]))
    saying = asyncio.create_task(chat.say("Hi"))
    await chat.provider.reached("go")
    for node_type in ("KSampler", "VAEDecode"):
        command: dict[str, Any] = {
            "message": chat.user("Explain it"),
            "workflow": workflow(node_type),
        }
        assert (await chat.command(type="user_message", **command)).status == 202
    chat.provider.release("go")
    await saying
    await chat.provider.reached("end")
    assert "KSampler" in seen(chat, 2)[-1]
    assert "VAEDecode" in seen(chat, 4)[-1]
    chat.provider.release("end")
    await chat.idle()


async def test_the_workflow_of_a_replaced_turn_is_dropped(chat: Chatting, bench: Bench) -> None:
    chat.provider.queue(Script([tool_call("erase")]))
    await chat.say("Erase", workflow=workflow("KSampler"))
    chat.provider.queue("No.")
    await chat.say("Stop that", workflow=workflow("VAEDecode"))
    chat.provider.queue(Script([tool_call("getWorkflowInfo")]), "Nothing.")
    await chat.say("What is open?")
    assert "KSampler" not in seen(chat)[-1]


def test_a_workflow_is_taken_once_and_the_oldest_is_dropped() -> None:
    waiting, open_now = WaitingWorkflows(), Snapshot(id="w", graph={"nodes": []})
    waiting.keep("c", None, open_now)
    waiting.keep("c", "u1", Snapshot(id="other"))
    assert waiting.take("c") is open_now
    assert waiting.take("c") == Snapshot()
    waiting.keep("c", None, open_now)
    for number in range(MOST_WORKFLOWS):
        waiting.keep("d", f"u{number}", Snapshot())
        waiting.keep("c", None, open_now)
    assert len(waiting) == MOST_WORKFLOWS
    assert waiting.take("c") is open_now
    waiting.forget("d")
    assert len(waiting) == 0
