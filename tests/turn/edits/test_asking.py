"""What edits ask about, and what later requests of the chat have of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.context.summary.text import MARKER
from plugin.assistant.workflow.edits.forecast import forecast
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import (
    DEFINITIONS,
    Panel,
    edit,
    newest,
    portrait,
    results,
    revision,
    set_steps,
    told,
    workflow,
)

LONG = "The sampler of the portrait is euler and its steps are twenty. " * 12
SET_STEPS = [{"op": "set", "node": "3", "values": {"steps": 30}}]


def remove(*nodes: int, id: str) -> Any:
    return edit(*({"op": "remove", "node": str(node)} for node in nodes), id=id)


def left(graph: dict[str, Any]) -> int:
    return sum(one["type"] == "Note" for one in graph["nodes"])


async def test_a_batch_that_removes_many_nodes_asks_first(chat: Chatting) -> None:
    chat.provider.queue(Script([remove(10, 11, 12, 13, 14, 15, id="e1")]))
    stream = await chat.say("Remove the notes", workflow=workflow())
    assert stream.of("tool-approval-request")
    [waiting] = stream.of("data-waiting")
    assert waiting["data"]["text"] == "Removes 6 nodes from the workflow."
    assert waiting["data"]["remember"] is False
    assert left(await newest(chat)) == 7
    chat.provider.queue("Removed.")
    await told(chat, type="approve_tools", ids=["e1"])
    await chat.idle()
    assert left(await newest(chat)) == 1


async def test_nodes_are_counted_over_the_batches_of_a_turn(chat: Chatting) -> None:
    """Also over a wait for a decision."""
    chat.provider.queue(
        Script([remove(10, 11, 12, 13, 14, id="e1")]), Script([remove(15, id="e2")])
    )
    stream = await chat.say("Remove the notes", workflow=workflow())
    [waiting] = stream.of("data-waiting")
    assert waiting["data"]["text"] == "Removes 1 node from the workflow, 6 in this answer."
    assert left(await newest(chat)) == 2
    chat.provider.queue(Script([remove(16, id="e3")]))
    await told(chat, type="approve_tools", ids=["e2"])
    await chat.idle()
    stored = await chat.stored()
    assert stored["state"] == "paused"
    chat.provider.queue("Left it.")
    await told(chat, type="reject_tools", ids=["e3"])
    await chat.idle()
    assert left(await newest(chat)) == 1
    chat.provider.queue(Script([remove(16, id="e4")]), "Removed.")
    await chat.say("The last one, too")
    assert left(await newest(chat)) == 0


async def test_what_the_turn_itself_added_may_go_unasked(chat: Chatting) -> None:
    added = [{"op": "add", "id": f"n{n}", "type": "EmptyLatentImage"} for n in range(6)]
    gone = [{"op": "remove", "node": str(17 + n)} for n in range(6)]
    chat.provider.queue(Script([edit(*added, id="e1")]), Script([edit(*gone, id="e2")]), "Done.")
    stream = await chat.say("Try", workflow=workflow())
    assert not stream.of("tool-approval-request"), stream.of("data-waiting")
    assert revision(await newest(chat)) == revision(portrait())


WRAP = {"op": "wrap", "nodes": [str(n) for n in (3, 4, 5, 10, 11, 12, 13)], "title": "All"}
GONE = {"op": "remove", "node": "All"}


@pytest.mark.parametrize("batches", [[[WRAP, GONE]], [[WRAP], [GONE]]])
async def test_what_is_in_a_subgraph_is_counted_with_it(chat: Chatting, batches: Any) -> None:
    chat.provider.queue(*(Script([edit(*one, id=f"e{n}")]) for n, one in enumerate(batches)))
    stream = await chat.say("Tidy up", workflow=workflow())
    assert stream.of("tool-approval-request")
    assert len(stream.of("tool-output-available")) == len(batches) - 1


async def test_nodes_are_counted_over_a_wait_for_a_decision_when_some_are_in_a_subgraph_now(
    chat: Chatting,
) -> None:
    question = tool_call("askUser", {"question": "All of it?"}, id="q1")
    chat.provider.queue(
        Script([edit(WRAP, id="e0"), remove(14, 15, id="e1")]),
        Script([question]),
    )
    await chat.say("Tidy up", workflow=workflow())
    chat.provider.queue(Script([edit({"op": "remove", "node": "17:10"}, id="e2")]), "Done.")
    await told(chat, type="tool_result", tool_call_id="q1", output={"text": "Yes"})
    await chat.idle()
    assert (await chat.stored())["state"] == "idle", "three nodes are gone"


async def test_nodes_of_a_workflow_that_the_turn_opened_are_counted(
    chat: Chatting, tmp_path: Path
) -> None:
    folder = tmp_path / "comfyui" / "workflows"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text(json.dumps(portrait()), encoding="utf-8")
    added = {"op": "add", "id": "a", "type": "EmptyLatentImage"}
    chat.provider.queue(
        Script([edit(added, id="e1")]),
        Script([tool_call("openWorkflow", {"workflow": "mine"}, id="o1")]),
        Script([remove(10, 11, 12, 13, 14, 15, id="e2")]),
    )
    empty = {"nodes": [], "links": [], "version": 0.4}
    stream = await chat.say("Clear mine", workflow=workflow(empty))
    assert stream.of("tool-approval-request")
    assert left(await newest(chat)) == 7


async def test_in_the_mode_ask_each_edit_asks_and_a_wrong_one_is_refused_unasked(
    chat: Chatting,
) -> None:
    await told(chat, type="set_params", params={"approval": "ask"})
    wrong = edit({"op": "remove", "node": "99"}, id="e1")
    chat.provider.queue(Script([wrong]), Script([set_steps(30, "e2")]))
    stream = await chat.say("More steps", workflow=workflow())
    assert "99" in stream.of("tool-output-error")[0]["errorText"]
    [waiting] = stream.of("data-waiting")
    assert waiting["data"]["text"] == "Edits the workflow: changes 1 node."
    foreseen = forecast(portrait(), SET_STEPS, DEFINITIONS)
    assert waiting["data"]["change"] == {"diff": foreseen.diff}
    assert "steps" in foreseen.diff
    assert revision(await newest(chat)) == revision(portrait())
    chat.provider.queue("All right.")
    await told(chat, type="reject_tools", ids=["e2"], reason="Use a different sampler")
    await chat.idle()
    assert "Use a different sampler" in results(chat)[-1]
    assert revision(await newest(chat)) == revision(portrait())


async def test_a_question_shows_new_problems_and_what_taking_back_would_change(
    chat: Chatting,
) -> None:
    await told(chat, type="set_params", params={"approval": "ask"})
    gone = edit({"op": "remove", "node": "5"}, id="e1")
    chat.provider.queue(Script([gone]))
    stream = await chat.say("Without a latent", workflow=workflow())
    change = stream.of("data-waiting")[0]["data"]["change"]
    foreseen = forecast(portrait(), [{"op": "remove", "node": "5"}], DEFINITIONS)
    assert change["diff"] == foreseen.diff
    assert change["problems"] == [one.json() for one in foreseen.problems] != []
    back = tool_call("undoEdits", {}, id="u1")
    chat.provider.queue(Script([back]))
    await told(chat, type="approve_tools", ids=["e1"])
    await chat.idle()
    asked = [
        part["data"]
        for part in (await chat.stored())["messages"][-1]["parts"]
        if part["type"] == "data-waiting"
    ]
    assert asked[-1]["tool_call_id"] == "u1"
    assert "+ 5 EmptyLatentImage" in asked[-1]["change"]["diff"]


async def test_an_approved_edit_is_one_of_the_workflow_that_was_asked_about(chat: Chatting) -> None:
    """Also where the client that approves it has another one open."""
    await told(chat, type="set_params", params={"approval": "ask"})
    chat.provider.queue(Script([set_steps(30)]))
    await chat.say("More steps", workflow=workflow())
    messages = (await chat.stored())["messages"]
    [part] = [one for one in messages[-1]["parts"] if one["type"] == "dynamic-tool"]
    part["state"] = "approval-responded"
    part["approval"] = {"id": part["approval"]["id"], "approved": True}
    chat.provider.queue("Done.")
    other = workflow(portrait(7), "w2")
    stream = await chat.post({"id": "c1", "messages": messages, "workflow": other})
    [made] = stream.of("data-workflow")
    assert made["data"]["id"] == "w1"


async def test_an_approved_edit_is_carried_out_on_the_canvas(chat: Chatting) -> None:
    await told(chat, type="set_params", params={"approval": "ask"})
    async with Panel(chat).subscribed() as panel:
        await (await panel.say("More steps", Script([set_steps(30)])))
        chat.provider.queue("Done.")
        await told(chat, type="approve_tools", ids=["e1"], client_id="tab-1")
        assert (await panel.carry_out(await panel.handed()))["verdict"] == "kept"
        await chat.idle()
    assert revision(await newest(chat)) == revision(portrait(steps=30))


@pytest.mark.parametrize("by_model", [True, False])
async def test_after_compact_the_summary_names_the_edits_and_their_workflow(
    chat: Chatting, by_model: bool
) -> None:
    """Also where a model has written it."""
    operations = (
        {"op": "set", "node": "3", "values": {"steps": 30}},
        {"op": "mode", "node": "10", "mode": "mute"},
        {"op": "disconnect", "to": "3.latent_image"},
    )
    look = Script([tool_call("getWorkflowInfo")])
    chat.provider.queue(look, Script([edit(*operations)]), "Done.")
    await chat.say("More steps", workflow=workflow())
    for number in range(10):
        chat.provider.queue(f"Answer {number}. {LONG}")
        await chat.say(f"Question {number}. {LONG}")
    written = "Goal: a portrait.\nDecisions: more steps.\nNext step: run it."
    chat.provider.queue(written if by_model else "No.")
    async with await chat.command(type="compact") as response:
        assert response.status == 202, await response.text()
    chat.provider.queue("Good.")
    await chat.say("Go on")
    [summary] = [
        one["content"]
        for one in chat.provider.requests[-1].messages
        if MARKER in str(one["content"])
    ]
    assert ("Goal: a portrait." in summary) == by_model
    assert '- #3 in "portrait": steps=30, latent_image<-nothing' in summary
    assert '- #10 in "portrait": mode=mute' in summary


async def test_an_older_view_is_not_sent_again_after_an_edit_and_a_newer_view(
    chat: Chatting,
) -> None:
    look = Script([tool_call("getWorkflowInfo")])
    chat.provider.queue(look, Script([set_steps(30)]), look, "Done.")
    await chat.say("More steps", workflow=workflow())
    first, answer, last = results(chat)
    assert json.loads(first)["_omitted"] is True and "revision" in first
    assert "steps=30" in last
    assert json.loads(answer)["ids"] == {}
