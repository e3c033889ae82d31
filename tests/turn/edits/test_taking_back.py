"""Edits are taken back, made again, and the workflow goes back to what it was at a message."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.chats import ChatEdits, ChatGraphs
from plugin.assistant.errors import StoreError
from plugin.assistant.workflow.edits.steps import steps_between
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import (
    DEFINITIONS,
    Json,
    Panel,
    edit,
    editing,
    graphs,
    newest,
    portrait,
    results,
    revision,
    sampler_values,
    set_steps,
    told,
    workflow,
)

ADD = {"op": "add", "id": "up", "type": "LatentUpscaleBy", "inputs": {"samples": "3.LATENT"}}
UNDO = Script([tool_call("undoEdits", id="b1")])
LOOK = Script([tool_call("getWorkflowInfo", id="g1")])


async def edited(chat: Chatting, *operations: Json, **more: Any) -> str:
    """A turn with these edits, without a panel; returns the id of its answer."""
    calls = [edit(one, id=f"e{number}") for number, one in enumerate(operations)]
    chat.provider.queue(*(Script([call]) for call in calls), "Done.")
    stream = await chat.say("Edit", **more)
    assert len(stream.of("tool-output-available")) == len(operations)
    return str(stream.chunks[0]["messageId"])


STEPS = {"op": "set", "node": "3", "values": {"steps": 30}}
CFG = {"op": "set", "node": "3", "values": {"cfg": 4.0}}


async def undo(chat: Chatting, message_id: str, status: int = 202, **more: Any) -> Json:
    return await told(chat, status, type="undo_edits", message_id=message_id, **more)


async def redo(chat: Chatting, message_id: str, status: int = 202, **more: Any) -> Json:
    return await told(chat, status, type="redo_edits", message_id=message_id, **more)


async def test_all_edits_of_an_answer_are_taken_back_and_made_again(chat: Chatting) -> None:
    answer = await edited(chat, STEPS, ADD, workflow=workflow())
    after = await newest(chat)
    back = await undo(chat, answer)
    assert (back["accepted"], back["workflow_id"]) == (True, "w1")
    assert back["revision"] == revision(portrait()) == revision(await newest(chat))
    assert back["steps"] == steps_between(after, portrait(), DEFINITIONS)
    assert back["base"]["3"]["values"]["steps"] == 30
    assert (await undo(chat, answer, 409))["reason"] == "nothing_to_undo"
    again = await redo(chat, answer)
    assert again["revision"] == revision(after) == revision(await newest(chat))
    assert (await redo(chat, answer, 409))["reason"] == "nothing_to_redo"


async def test_a_subgraph_is_made_and_taken_back(chat: Chatting) -> None:
    wrap = {"op": "wrap", "nodes": ["3", "5"], "title": "Sampling"}
    answer = await edited(chat, wrap, workflow=workflow())
    after = await newest(chat)
    assert after["definitions"]["subgraphs"]
    await undo(chat, answer)
    assert revision(await newest(chat)) == revision(portrait())
    again = await redo(chat, answer)
    assert again["revision"] == revision(after)
    assert any(step["do"] == "define" for step in again["steps"])


async def test_what_a_panel_changes_during_an_answer_did_not_come_with_its_question(
    chat: Chatting,
) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Edit", Script([set_steps(30)]), "Done.")
        await panel.carry_out(await panel.handed())
        sent = {"type": "set_workflow", "client_id": "tab-1", "workflow": workflow(panel.canvas)}
        await told(chat, **sent)
        answer = (await saying).chunks[0]["messageId"]
    assert (await at(chat, "u1"))[0] == revision(portrait())
    assert (await at(chat, answer))[0] == revision(portrait(steps=30))


async def test_what_was_changed_since_is_named_and_nothing_is_done(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    await edited(chat, {"op": "set", "node": "3", "values": {"steps": 40}})
    refused = await undo(chat, first, 409)
    assert (refused["reason"], refused["nodes"]) == ("changed_since", ["3"])
    assert sampler_values(await newest(chat))[2] == 40


async def test_what_was_changed_elsewhere_stays(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    await edited(chat, CFG)
    await undo(chat, first)
    assert sampler_values(await newest(chat))[2:4] == [20, 4]
    await redo(chat, first)
    assert sampler_values(await newest(chat))[2:4] == [30, 4]


async def test_what_the_user_changed_between_two_edits_of_an_answer_stays(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say(
            "Edit", Script([set_steps(30)]), Script([edit(CFG, id="e2")]), "Ok"
        )
        await panel.carry_out(await panel.handed())
        await panel.until(lambda: (panel.waiting or {}).get("tool_call_id") == "e2")
        sampler_values(panel.canvas)[4] = "dpmpp_2m"
        assert panel.waiting is not None
        before = copy.deepcopy(panel.waiting)
        verdict = await panel.carry_out(before)
        assert verdict["verdict"] == "undo", "the sampler is in the base"
        await saying
        saying = await panel.say("Edit", Script([set_steps(35, "e3")]), "Ok")
        await panel.carry_out(await panel.handed())
        answer = (await saying).chunks[0]["messageId"]
        await undo(chat, answer, client_id="tab-1")
    assert sampler_values(await newest(chat))[2:5] == [30, 7.5, "dpmpp_2m"]


async def test_the_canvas_of_the_command_counts(chat: Chatting) -> None:
    """The panel sends what is on its canvas, which the server may not know yet."""
    answer = await edited(chat, STEPS, workflow=workflow())
    canvas = await newest(chat)
    sampler_values(canvas)[4] = "dpmpp_2m"
    sampler_values(canvas)[0] = 4711
    back = await undo(chat, answer, client_id="tab-1", workflow=workflow(canvas))
    assert back["steps"] == [{"do": "values", "node": "3", "values": {"steps": 20}}]
    assert sampler_values(await newest(chat)) == [
        4711,
        "randomize",
        20,
        7.5,
        "dpmpp_2m",
        "normal",
        1.0,
    ]
    other = workflow(portrait(steps=99), "w2")
    assert (await redo(chat, answer, workflow=other))["workflow_id"] == "w1"


async def test_edits_on_a_canvas_are_taken_back_there(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Edit", Script([set_steps(30)]), "Done.")
        await panel.carry_out(await panel.handed())
        answer = (await saying).chunks[0]["messageId"]
        back = await undo(chat, answer, client_id="tab-1", workflow=workflow(panel.canvas))
        assert back["steps"] == [{"do": "values", "node": "3", "values": {"steps": 20}}]
        await panel.until(lambda: panel.runtime.get("undone") == [answer])
        sent = {"type": "set_workflow", "client_id": "tab-1"}
        await told(chat, **sent, workflow=workflow(portrait(steps=21)))
        assert sampler_values(await newest(chat))[2] == 21, "the panel's canvas counts on"
        refused = await redo(chat, answer, 409)
        assert refused["nodes"] == ["3"]


async def test_a_canvas_with_another_workflow_takes_nothing_back(chat: Chatting) -> None:
    """Else the chat would say that the edits are taken back, and the workflow still have them."""
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Edit", Script([set_steps(30)]), "Done.")
        await panel.carry_out(await panel.handed())
        answer = (await saying).chunks[0]["messageId"]
        other = workflow(portrait(9), "w2")
        refused = await undo(chat, answer, 409, client_id="tab-1", workflow=other)
        assert refused["error"]["code"] == "other_workflow"
        assert "undone" not in panel.runtime
        await undo(chat, answer, client_id="tab-1", workflow=workflow(panel.canvas))


async def test_what_is_undone_is_known_after_a_restart(tmp_path: Path) -> None:
    async with editing(tmp_path) as chat:
        answer = await edited(chat, STEPS, workflow=workflow())
        await undo(chat, answer)
    async with editing(tmp_path) as chat:
        async with Panel(chat).subscribed() as panel:
            assert panel.runtime["undone"] == [answer]
            await redo(chat, answer)
            await panel.until(lambda: "undone" not in panel.runtime)
        assert sampler_values(await newest(chat))[2] == 30


async def test_where_the_store_fails_nothing_is_taken_back(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await edited(chat, STEPS, workflow=workflow())
    after = await newest(chat)

    async def fail(*_: Any) -> None:
        raise StoreError("The disk is full.")

    async with Panel(chat, "tab-9").subscribed() as panel:
        with monkeypatch.context() as patch:
            patch.setattr(ChatGraphs, "keep", fail)
            await undo(chat, answer, 503)
        chat.provider.queue(LOOK, "It has 30 steps.")
        await chat.say("What is it?")
        assert "steps=30" in results(chat)[-1], "the next turn reads what is there"
        assert "undone" not in panel.runtime
        assert revision(await newest(chat)) == revision(after)
        await undo(chat, answer)
        await panel.until(lambda: panel.runtime.get("undone") == [answer])


async def test_an_answer_without_edits_and_a_busy_chat(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    stream = await chat.say("Hi", workflow=workflow())
    nothing = await undo(chat, stream.chunks[0]["messageId"], 409)
    assert nothing["reason"] == "nothing_to_undo"
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Edit", Script([set_steps(30)]), "Done.")
        call = await panel.handed()
        assert (await undo(chat, "any", 409))["reason"] == "waiting_client"
        await panel.carry_out(call)
        await saying


async def test_the_model_takes_back_the_last_edits(chat: Chatting) -> None:
    await edited(chat, STEPS, workflow=workflow())
    await edited(chat, CFG)
    chat.provider.queue(UNDO, "Taken back.")
    stream = await chat.say("Undo that")
    [output] = stream.of("tool-output-available")
    assert output["output"]["values"] == {"3": {"cfg": 7.5}}
    assert sampler_values(await newest(chat))[2:4] == [30, 7.5]
    chat.provider.queue(UNDO, "Taken back.")
    await chat.say("And the one before")
    assert sampler_values(await newest(chat))[2:4] == [20, 7.5]
    chat.provider.queue(UNDO, "Nothing left.")
    await chat.say("Once more")
    assert "No answer of this chat has edits" in results(chat)[-1]


async def test_the_model_takes_back_an_earlier_turn_or_its_own(chat: Chatting) -> None:
    await edited(chat, STEPS, workflow=workflow())
    await edited(chat, CFG)
    second = Script([tool_call("undoEdits", {"turn": 2}, id="b1")])
    third = Script([tool_call("undoEdits", {"turn": 3}, id="b2")])
    chat.provider.queue(second, third, "Taken back.")
    await chat.say("Undo the one before")
    assert sampler_values(await newest(chat))[2:4] == [20, 4]
    assert "Only 1 answers" in results(chat)[-1]
    own = Script([set_steps(50, "e9")])
    chat.provider.queue(own, UNDO, "As before.")
    stream = await chat.say("Try something and take it back")
    assert sampler_values(await newest(chat))[2:4] == [20, 4]
    nothing = await undo(chat, stream.chunks[0]["messageId"], 409)
    assert nothing["reason"] == "nothing_to_undo"


async def test_taking_back_what_took_back_makes_it_again(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    chat.provider.queue(UNDO, "Taken back.")
    async with Panel(chat, "tab-9").subscribed() as panel:
        stream = await chat.say("Undo that")
        await panel.until(lambda: panel.runtime.get("undone") == [first])
        back = stream.chunks[0]["messageId"]
        await undo(chat, back)
        await panel.until(lambda: panel.runtime.get("undone") == [back])
    assert sampler_values(await newest(chat))[2] == 30
    await undo(chat, first)
    assert sampler_values(await newest(chat))[2] == 20


async def test_the_model_is_told_what_was_changed_since(chat: Chatting) -> None:
    await edited(chat, STEPS, workflow=workflow())
    chat.provider.queue(UNDO, "Not possible.")
    await chat.say("Undo", workflow=workflow(portrait(steps=44)))
    assert "changed since: 3" in results(chat)[-1]


async def test_undo_on_a_canvas_is_handed_over(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Edit", Script([set_steps(30)]), "Done.")
        await panel.carry_out(await panel.handed())
        await saying
        saying = await panel.say("Undo", UNDO, "Done.")
        call = await panel.handed()
        assert (call["tool"], call["new_ids"]) == ("undoEdits", {})
        assert call["steps"] == [{"do": "values", "node": "3", "values": {"steps": 20}}]
        before = copy.deepcopy(panel.canvas)
        after = copy.deepcopy(before)
        sampler_values(after)[2] = 20
        assert (await panel.send("b1", {"before": before, "after": after}))["verdict"] == "kept"
        await saying
    assert sampler_values(await newest(chat))[2] == 20


async def edited_two(chat: Chatting) -> tuple[str, Json, Json]:
    """An answer that edits the open workflow, then another one that it opens: the id of the answer,
    and the two workflows as it left them."""
    add = edit({"op": "add", "id": "up", "type": "EmptyLatentImage"}, id="e2")
    other = {"template": "image_z_image_turbo", "name": "Z"}
    opening = tool_call("openWorkflow", other, id="o1")
    chat.provider.queue(*(Script([one]) for one in (set_steps(30), opening, add)), "Done.")
    stream = await chat.say("Edit both", workflow=workflow())
    opened = stream.of("tool-output-available")[1]["output"]["id"]
    second = {"id": opened, "name": "Z", "graph": await newest(chat)}
    return str(stream.chunks[0]["messageId"]), workflow(portrait(steps=30)), second


async def test_the_model_takes_back_what_it_edited_in_the_open_workflow_only(
    chat: Chatting,
) -> None:
    async with Panel(chat, "tab-9").subscribed() as panel:
        answer, first, second = await edited_two(chat)
        chat.provider.queue(UNDO, "Taken back.")
        stream = await chat.say("Undo that", workflow=second)
        [output] = stream.of("tool-output-available")
        assert output["output"]["not_taken_back_in"] == ["portrait"]
        assert "undone" not in panel.runtime
        chat.provider.queue(UNDO, "Taken back.")
        stream = await chat.say("And the first one", workflow=first)
        [output] = stream.of("tool-output-available")
        assert output["output"]["values"] == {"3": {"steps": 20}}
        assert "not_taken_back_in" not in output["output"]
        await panel.until(lambda: panel.runtime.get("undone") == [answer])


async def test_a_person_takes_back_what_the_canvas_shows_and_is_told_what_else_there_is(
    chat: Chatting,
) -> None:
    async with Panel(chat).subscribed() as panel:
        answer, first, second = await edited_two(chat)
        sent: Json = {"client_id": "tab-1"}
        back = await undo(chat, answer, **sent, workflow=first)
        assert (back["workflow_id"], back["left"]) == ("w1", ["Z"])
        assert "also" not in back and "undone" not in panel.runtime
        refused = await undo(chat, answer, 409, **sent, workflow=workflow())
        assert refused["reason"] == "nothing_to_undo" and "Z" in refused["error"]["message"]
        back = await undo(chat, answer, **sent, workflow=second)
        assert back["workflow_id"] == second["id"] and "left" not in back
        await panel.until(lambda: panel.runtime.get("undone") == [answer])
        again = await redo(chat, answer, **sent, workflow=workflow())
        assert (again["workflow_id"], again["left"]) == ("w1", ["Z"])
        await panel.until(lambda: "undone" not in panel.runtime)


async def test_without_a_canvas_all_workflows_of_an_answer_are_taken_back(chat: Chatting) -> None:
    answer, first, _ = await edited_two(chat)
    back = await undo(chat, answer, workflow=first)
    assert [one["workflow_id"] for one in back["also"]] == ["w1"]
    assert "left" not in back
    assert (await undo(chat, answer, 409))["reason"] == "nothing_to_undo"


async def test_what_took_back_one_workflow_is_taken_back_there_only(chat: Chatting) -> None:
    async with Panel(chat, "tab-9").subscribed() as panel:
        answer, first, second = await edited_two(chat)
        chat.provider.queue(UNDO, "Taken back.")
        stream = await chat.say("Undo that", workflow=second)
        chat.provider.queue(UNDO, "Taken back.")
        await chat.say("And the first one", workflow=first)
        await panel.until(lambda: panel.runtime.get("undone") == [answer])
        back = stream.chunks[0]["messageId"]
        await undo(chat, back)
        await panel.until(lambda: panel.runtime.get("undone") == [back])
        chat.provider.queue(UNDO, "Nothing left.")
        await chat.say("Once more", workflow=workflow())
        assert "another workflow" in results(chat)[-1], "the first one is taken back still"


async def at(chat: Chatting, message_id: str, identity: str = "c1") -> tuple[str, bool]:
    [found] = await graphs(chat, f"?message_id={message_id}", identity)
    return found["revision"], found["current"]


async def test_what_was_taken_back_is_told_where_it_cannot_be_noted(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = await edited(chat, STEPS, workflow=workflow())

    async def fail(*_: Any) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(ChatEdits, "mark", fail)
        chat.provider.queue(UNDO, "Taken back.")
        stream = await chat.say("Undo that")
    [output] = stream.of("tool-output-available")
    assert output["output"]["values"] == {"3": {"steps": 20}}
    assert "The disk is full." in output["output"]["not_noted"]
    assert sampler_values(await newest(chat))[2] == 20
    chat.provider.queue(UNDO, "It is so already.")
    await chat.say("Once more")
    assert "taken back already" in results(chat)[-1]
    assert (await undo(chat, answer, 409))["reason"] == "nothing_to_undo"


async def test_which_workflow_it_was_at_a_message(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    second = await edited(chat, CFG)
    last = revision(await newest(chat))
    assert await at(chat, "u1") == (revision(portrait()), False)
    assert await at(chat, first) == (revision(portrait(steps=30)), False)
    assert await at(chat, "u2") == (revision(portrait(steps=30)), False)
    assert await at(chat, second) == (last, True)
    async with chat.client.get("/api/chats/c1/workflows?message_id=none") as response:
        assert response.status == 404


async def test_another_version_of_an_answer_offers_its_workflow(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    chat.provider.queue(Script([edit(CFG, id="e7")]), "Another way.")
    assert (await chat.command(type="regenerate", workflow=workflow())).status == 202
    await chat.idle()
    stored = (await chat.stored())["messages"]
    other = stored[-1]["id"]
    assert sampler_values(await newest(chat))[2:4] == [20, 4]
    assert (await at(chat, other))[1] is True
    await told(chat, type="switch_version", message_id=first)
    assert await at(chat, first) == (revision(portrait(steps=30)), False)
    canvas = await newest(chat)
    back = await told(chat, type="restore_workflow", client_id="tab-1", workflow=workflow(canvas))
    assert back["revision"] == revision(portrait(steps=30))
    values = {"steps": 30, "cfg": 7.5}
    assert back["steps"] == [{"do": "values", "node": "3", "values": values}]
    assert (await at(chat, first))[1] is True


async def test_a_branch_offers_the_workflow_of_its_end(chat: Chatting) -> None:
    first = await edited(chat, STEPS, workflow=workflow())
    await edited(chat, CFG)
    branch = (await told(chat, type="branch_from_chat", message_id=first))["chat_id"]
    assert await at(chat, first, branch) == (revision(portrait(steps=30)), False)
    back = await told(chat, chat=branch, type="restore_workflow", message_id=first)
    assert back["revision"] == revision(portrait(steps=30))
    assert sampler_values(await newest(chat, branch))[2:4] == [30, 7.5]
    assert sampler_values(await newest(chat))[2:4] == [30, 4]
    await told(chat, chat=branch, type="undo_edits", message_id=first)
    assert sampler_values(await newest(chat, branch))[2] == 20


async def test_nothing_is_known_without_a_workflow(chat: Chatting) -> None:
    chat.provider.queue("Hello")
    await chat.say("Hi")
    assert await graphs(chat, "?message_id=u1") == []
    refused = await told(chat, 409, type="restore_workflow")
    assert refused["reason"] == "nothing_to_restore"
