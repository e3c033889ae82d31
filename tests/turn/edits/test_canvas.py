"""Edits on the canvas of a panel: handed over, judged, and what happens where no answer comes."""

from __future__ import annotations

import asyncio
import copy
from pathlib import Path
from typing import Any

import pytest
from plugin.assistant.turn.edits import canvas, turn_edits
from plugin.tests.chatting import Chatting, until
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import (
    Json,
    Panel,
    edit,
    editing,
    newest,
    portrait,
    results,
    revision,
    sampler_values,
    set_steps,
    told,
    workflow,
)

LOOK = Script([tool_call("getWorkflowInfo")])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(canvas, "LOOK_SECONDS", 0.05)


async def test_the_panel_that_asked_carries_the_edit_out(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), LOOK, "Done.")
        call = await panel.handed()
        assert panel.state is not None and panel.state["stream"] is not None
        assert (call["tool_call_id"], call["tool"], call["workflow_id"]) == (
            "e1",
            "editWorkflow",
            "w1",
        )
        assert call["input"]["operations"][0]["op"] == "set"
        assert panel.state is not None
        assert call["message_id"] == panel.state["stream"]["message"]["id"]
        assert call["new_ids"] == {}
        assert call["base"]["3"]["values"]["steps"] == 20
        assert "seed" not in call["base"]["3"]["values"]
        assert call["steps"] == [{"do": "values", "node": "3", "values": {"steps": 30}}]
        assert (await chat.stored())["state"] in ("executing_tools", "waiting_client")
        verdict = await panel.carry_out(call)
        assert verdict == {"accepted": True, "queued": 0, "verdict": "kept", "differs": []}
        stream = await saying
    assert not stream.of("data-workflow")
    [available, _] = stream.of("tool-input-available")
    assert available["providerExecuted"] is True
    assert stream.chunks[-1]["finishReason"] == "stop"
    [output, _] = stream.of("tool-output-available")
    assert output["output"]["revision"] == revision(panel.canvas)
    assert "steps=30" in results(chat)[1]
    assert sampler_values(await newest(chat))[2] == 30


async def test_a_panel_without_a_canvas_and_another_panel_get_no_call(chat: Chatting) -> None:
    other = Panel(chat, "tab-2")
    async with Panel(chat).subscribed(canvas=False) as panel, other.subscribed():
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        stream = await saying
        assert stream.of("data-workflow")
        assert panel.waiting is None and other.waiting is None


async def test_the_real_addresses_of_new_nodes_are_those_of_the_canvas(chat: Chatting) -> None:
    new = {"op": "add", "id": "up", "type": "LatentUpscaleBy", "inputs": {"samples": "3.LATENT"}}
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Larger", Script([edit(new)]), "Done.")
        call = await panel.handed()
        foreseen = call["new_ids"]["up"]
        taken = {"id": int(foreseen), "type": "Note", "pos": [0, 900], "widgets_values": ["Mine"]}
        panel.canvas["nodes"].append(taken)
        panel.canvas["last_node_id"] = int(foreseen)
        assert (await panel.carry_out(call))["verdict"] == "kept"
        stream = await saying
    [output] = stream.of("tool-output-available")
    real = output["output"]["ids"]["up"]
    assert real != foreseen
    added = next(one for one in panel.canvas["nodes"] if str(one["id"]) == real)
    assert added["type"] == "LatentUpscaleBy"


async def test_a_seed_that_a_run_turned_meanwhile_is_no_change(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        call = await panel.handed()
        sampler_values(panel.canvas)[0] = 4711
        assert (await panel.carry_out(call))["verdict"] == "kept"
        await saying
    assert sampler_values(await newest(chat))[:3] == [4711, "randomize", 30]


async def test_what_the_user_changed_in_the_same_node_meanwhile_is_not_overwritten(
    chat: Chatting,
) -> None:
    """A panel that does not look: the server tells it to take its step back."""
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        call = await panel.handed()
        sampler_values(panel.canvas)[3] = 3.0
        verdict = await panel.carry_out(call)
        assert verdict["verdict"] == "undo" and "3" in verdict["differs"][0]
        assert sampler_values(panel.canvas)[2] == 20
        stream = await saying
    [error] = stream.of("tool-output-error")
    assert "taken back" in error["errorText"] and "changed before" in error["errorText"]
    assert sampler_values(await newest(chat))[2] == 20


async def test_a_canvas_that_did_something_else_takes_it_back(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        call = await panel.handed()
        after = portrait(steps=31)
        verdict = await panel.send("e1", {"before": portrait(), "after": after, "ids": {}})
        assert verdict["verdict"] == "undo"
        assert "steps" in verdict["differs"][0] and "31" in verdict["differs"][0]
        stream = await saying
        assert await panel.carry_out(call) == {**verdict, "differs": [canvas.TOO_LATE]}
    assert "31" in stream.of("tool-output-error")[0]["errorText"]
    assert revision(await newest(chat)) == revision(portrait())


@pytest.mark.parametrize("refused", ["other_workflow", "changed", "unknown_type"])
async def test_a_refusal_is_told_and_the_turn_goes_on(chat: Chatting, refused: str) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        await panel.handed()
        answer = await panel.send("e1", {"refused": refused, "text": "Node 3."})
        assert answer == {"accepted": True, "queued": 0}
        stream = await saying
    [error] = stream.of("tool-output-error")
    assert error["errorText"] == f"{canvas.REFUSED[refused]} Node 3."
    assert stream.text == "Sorry."


async def test_a_result_without_graphs_and_a_failure_of_the_page(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say(
            "More", Script([set_steps(30, "e1")]), Script([set_steps(31, "e2")]), "Sorry."
        )
        await panel.handed()
        assert (await panel.send("e1", {"ok": True}))["verdict"] == "undo"
        await panel.until(lambda: (panel.waiting or {}).get("tool_call_id") == "e2")
        failed = {"type": "tool_result", "tool_call_id": "e2", "error": "no canvas"}
        assert "verdict" not in await told(chat, **failed, client_id="tab-1")
        stream = await saying
    errors = [one["errorText"] for one in stream.of("tool-output-error")]
    assert "before and after" in errors[0] and "no canvas" in errors[1]


async def test_a_canvas_that_cannot_be_checked_takes_it_back(
    chat: Chatting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        call = await panel.handed()
        monkeypatch.setattr(turn_edits, "judged", broken)
        verdict = await panel.carry_out(call)
        assert (verdict["verdict"], verdict["differs"]) == ("undo", [canvas.NOT_JUDGED])
        assert (await saying).text == "Sorry."


async def test_without_an_answer_the_turn_goes_on_and_a_late_result_is_undone(
    chat: Chatting, impatient: None
) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        call = await panel.handed()
        stream = await saying
        assert stream.of("tool-output-error")[0]["errorText"] == canvas.NO_ANSWER
        assert stream.text == "Sorry."
        assert (await panel.carry_out(call))["verdict"] == "undo"
        assert panel.canvas == portrait()
    assert revision(await newest(chat)) == revision(portrait())


async def test_a_late_result_in_the_middle_of_the_answer_is_undone(
    chat: Chatting, impatient: None
) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say(
            "More steps", Script([set_steps(30)]), Script([{"wait": "go"}, {"text": "Sorry."}])
        )
        call = await panel.handed()
        await chat.provider.reached("go")
        assert (await panel.carry_out(call))["verdict"] == "undo"
        chat.provider.release("go")
        await saying


@pytest.mark.parametrize("busy", [False, True])
async def test_a_late_result_is_undone_when_the_chat_has_gone_on(
    chat: Chatting, impatient: None, busy: bool
) -> None:
    """Also while the next answer is given."""
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Sorry.")
        call = await panel.handed()
        await saying
        saying = await panel.say("Hello", Script([{"wait": "go"}, {"text": "Hi."}]))
        await chat.provider.reached("go")
        if not busy:
            chat.provider.release("go")
            await saying
        assert (await panel.carry_out(call))["verdict"] == "undo"
        chat.provider.release("go")
        await saying
        assert panel.canvas == portrait()


async def test_a_result_that_was_kept_is_kept_when_the_chat_has_gone_on(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        call = await panel.handed()
        await panel.carry_out(call)
        await saying
        await (await panel.say("Hello", "Hi."))
        assert (await panel.carry_out(call))["verdict"] == "kept"
        assert sampler_values(panel.canvas)[2] == 30


async def test_a_panel_that_is_gone_for_good(chat: Chatting, impatient: None) -> None:
    """The first call waits for it as long as for a page that is loaded again; when it is gone so
    long, the server makes edits itself."""
    panel = Panel(chat)
    async with panel.subscribed():
        saying = await panel.say(
            "More steps", Script([set_steps(30, "e1")]), Script([set_steps(31, "e2")]), "Done."
        )
        await panel.handed()
    stream = await saying
    assert stream.of("tool-output-error")[0]["errorText"] == canvas.NO_ANSWER
    assert sampler_values(stream.of("data-workflow")[0]["data"]["graph"])[2] == 31


async def test_a_page_that_is_loaded_again_gets_the_call_and_applies_it_once(
    chat: Chatting,
) -> None:
    """Before it is applied, while it is, and after."""
    panel = Panel(chat)
    async with panel.subscribed():
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        await panel.handed()
    panel.state = None
    async with panel.subscribed():
        call = await panel.handed()
        answers = await asyncio.gather(panel.carry_out(call), panel.carry_out(call))
        assert [one["verdict"] for one in answers] == ["kept", "kept"]
        await saying
        assert (await panel.carry_out(call))["verdict"] == "kept"
    assert sampler_values(panel.canvas)[2] == 30


async def test_a_page_that_is_loading_while_the_model_calls(chat: Chatting) -> None:
    panel = Panel(chat)
    async with panel.subscribed():
        script = Script([{"wait": "go"}, set_steps(30)])
        saying = await panel.say("More steps", script, "Done.")
        await chat.provider.reached("go")
    chat.provider.release("go")
    await until(lambda: chat.assistant.space_of("default").sessions.running("c1") is not None)
    panel.state = None
    async with panel.subscribed():
        assert (await panel.carry_out(await panel.handed()))["verdict"] == "kept"
        await saying


async def test_a_result_of_another_panel_does_not_count(chat: Chatting) -> None:
    other = Panel(chat, "tab-2")
    async with Panel(chat).subscribed() as panel, other.subscribed():
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        call = await panel.handed()
        verdict = await other.carry_out(call)
        assert (verdict["verdict"], verdict["differs"]) == ("undo", [canvas.OTHER_PANEL])
        assert (await panel.carry_out(call))["verdict"] == "kept"
        await saying


async def test_another_panel_takes_over_with_the_same_workflow_only(chat: Chatting) -> None:
    panel, other = Panel(chat), Panel(chat, "tab-2")
    async with other.subscribed():
        async with panel.subscribed():
            saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
            call = await panel.handed()
            over: Json = {"type": "take_over", "client_id": "tab-2", "workflow": workflow()}
            refused = await told(chat, 409, **over)
            assert refused["reason"] == "client_present"
        await other.until(lambda: not other.runtime["client_present"])
        wrong = {**over, "workflow": workflow(identity="w2")}
        assert (await told(chat, 409, **wrong))["reason"] == "other_workflow"
        nobody = {**over, "client_id": "tab-3"}
        assert (await told(chat, 409, **nobody))["reason"] == "no_canvas"
        await told(chat, **over)
        assert (await other.handed())["tool_call_id"] == "e1"
        assert (await panel.carry_out(call))["verdict"] == "undo"
        assert (await other.carry_out(call))["verdict"] == "kept"
        stream = await saying
    assert stream.message.metadata["client_id"] == "tab-2"


async def test_a_stop_ends_the_wait_and_a_new_message_waits_for_it(chat: Chatting) -> None:
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]))
        call = await panel.handed()
        refused = await chat.say("Something else")
        assert (refused.status, refused.error["code"]) == (409, "turn_waits")
        await told(chat, type="abort")
        await saying
        await panel.until(lambda: panel.runtime["state"] == "idle")
        assert panel.runtime["waiting"] == []
        assert (await panel.carry_out(call))["verdict"] == "undo"
    assert revision(await newest(chat)) == revision(portrait())


async def test_a_restart_in_the_middle_of_a_call(tmp_path: Path) -> None:
    """The answer is cut, and the canvas goes back: it is what the chat knows."""
    async with editing(tmp_path) as chat:
        await chat.client.post("/api/chats", json={"id": "c1"})
        panel = Panel(chat)
        async with panel.subscribed():
            saying = await panel.say("More steps", Script([set_steps(30)]))
            call = await panel.handed()
            await chat.assistant.space_of("default").sessions.close()
            await saying
    async with editing(tmp_path) as chat:
        panel.chat = chat
        assert (await panel.carry_out(call))["verdict"] == "undo"
        assert panel.canvas == portrait()
        stored = (await chat.stored())["messages"][-1]
        [part] = [one for one in stored["parts"] if one["type"] == "dynamic-tool"]
        assert part["state"] == "output-error"
        assert revision(await newest(chat)) == revision(portrait())


async def test_a_graph_with_unknown_nodes_is_edited_where_they_are_not(chat: Chatting) -> None:
    graph = portrait()
    graph["nodes"].append({"id": 20, "type": "Nobodys", "pos": [0, 0], "widgets_values": [1, "x"]})
    async with Panel(chat, graph=graph).subscribed() as panel:
        saying = await panel.say("More steps", Script([set_steps(30)]), "Done.")
        assert (await panel.carry_out(await panel.handed()))["verdict"] == "kept"
        await saying


async def test_two_edits_of_one_round_are_handed_over_one_after_the_other(chat: Chatting) -> None:
    second: Any = edit({"op": "set", "node": "3", "values": {"cfg": 4}}, id="e2")
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("More", Script([set_steps(30), second]), "Done.")
        first = await panel.handed()
        assert first["tool_call_id"] == "e1"
        await panel.carry_out(first)
        await panel.until(lambda: (panel.waiting or {}).get("tool_call_id") == "e2")
        assert panel.waiting is not None
        await panel.carry_out(panel.waiting)
        await saying
    assert sampler_values(await newest(chat))[2:4] == [30, 4]


async def test_a_workflow_is_opened_in_a_new_tab(chat: Chatting) -> None:
    opening = tool_call("openWorkflow", {"template": "image_z_image_turbo", "name": "Z"}, id="o1")
    async with Panel(chat).subscribed() as panel:
        saying = await panel.say("Open it", Script([opening]), LOOK, "Opened.")
        call = await panel.handed()
        assert (call["tool"], call["name"], call["workflow_id"]) == ("openWorkflow", "Z", None)
        assert call["graph"]["nodes"]
        opened = {"id": "w7", "name": "Z (3)", "graph": copy.deepcopy(call["graph"])}
        assert (await panel.send("o1", opened))["verdict"] == "kept"
        stream = await saying
    [output, _] = stream.of("tool-output-available")
    assert output["output"] == {"id": "w7", "name": "Z (3)", "revision": revision(call["graph"])}
    assert 'workflow "Z (3)"' in results(chat)[1]
