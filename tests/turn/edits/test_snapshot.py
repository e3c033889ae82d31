"""Edits without a canvas: by plain HTTP, as `curl` does it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.edits.forms import FORMS
from plugin.tests.chatting import Chatting
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import (
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

LOOK = Script([tool_call("getWorkflowInfo")])


async def test_a_batch_changes_the_workflow_and_the_stream_says_so(chat: Chatting) -> None:
    chat.provider.queue(Script([set_steps(30)]), "Done.")
    stream = await chat.say("More steps", workflow=workflow())
    [chunk] = stream.of("data-workflow")
    assert chunk["transient"] is True
    assert chunk["data"]["id"] == "w1"
    assert sampler_values(chunk["data"]["graph"])[2] == 30
    [available] = stream.of("tool-input-available")
    assert available["providerExecuted"] is True
    [output] = stream.of("tool-output-available")
    assert set(output["output"]) == {"ids", "diff", "problems", "revision"}
    assert "steps=20 -> 30" in output["output"]["diff"]
    assert output["output"]["revision"] == chunk["data"]["revision"]
    assert sampler_values(await newest(chat))[2] == 30
    assert stream.text == "Done."


async def test_later_reads_and_edits_see_the_edited_workflow(chat: Chatting) -> None:
    chat.provider.queue(
        Script([set_steps(30, "e1")]),
        LOOK,
        Script([edit({"op": "set", "node": "3", "values": {"cfg": 4}}, id="e2")]),
        "Done.",
    )
    await chat.say("More steps", workflow=workflow())
    assert "steps=30" in results(chat)[1]
    values = sampler_values(await newest(chat))
    assert (values[2], values[3]) == (30, 4)
    assert sum(one["message_id"] is None for one in await graphs(chat)) == 2


async def test_a_new_node_gets_an_address(chat: Chatting) -> None:
    new = {
        "op": "add",
        "id": "up",
        "type": "LatentUpscaleBy",
        "values": {"scale_by": 2},
        "inputs": {"samples": "3.LATENT"},
    }
    chat.provider.queue(Script([edit(new)]), "Done.")
    stream = await chat.say("Larger", workflow=workflow())
    [output] = stream.of("tool-output-available")
    address = output["output"]["ids"]["up"]
    added = next(one for one in (await newest(chat))["nodes"] if str(one["id"]) == address)
    assert added["type"] == "LatentUpscaleBy"


async def test_without_a_chat_the_edited_workflow_is_streamed_and_nothing_is_kept(
    chat: Chatting,
) -> None:
    chat.provider.queue(Script([set_steps(30)]), LOOK, Script([tool_call("undoEdits")]), "Done.")
    stream = await chat.say("More steps", None, workflow=workflow())
    assert sampler_values(stream.of("data-workflow")[0]["data"]["graph"])[2] == 30
    assert "steps=30" in results(chat)[1]
    assert "stored chat only" in results(chat)[2]


async def test_what_the_server_made_counts_until_a_message_brings_a_workflow(
    tmp_path: Path,
) -> None:
    """A panel's canvas does not have it: what the panel sends while it is open is older. A restart
    changes nothing."""
    async with editing(tmp_path) as chat:
        chat.provider.queue(Script([set_steps(30)]), "Done.")
        await chat.say("More steps", workflow=workflow())
        stale = {"type": "set_workflow", "workflow": workflow(), "client_id": "tab-1"}
        await told(chat, **stale)
        assert sampler_values(await newest(chat))[2] == 30
    async with editing(tmp_path) as chat:
        await told(chat, **stale)
        assert sampler_values(await newest(chat))[2] == 30
        chat.provider.queue(LOOK, "Thirty.")
        await chat.post({"id": "c1", "message": {**chat.user("How many?"), "id": "u9"}})
        assert "steps=30" in results(chat)[-1]
        chat.provider.queue(LOOK, "Twenty.")
        await chat.post(
            {"id": "c1", "message": {**chat.user("And now?"), "id": "u10"}, "workflow": workflow()}
        )
        assert "steps=30" not in results(chat)[-1]
        await told(chat, **{**stale, "workflow": workflow(portrait(steps=25))})
        assert sampler_values(await newest(chat))[2] == 25


async def test_a_wrong_batch_changes_nothing_and_says_what_would_be_right(chat: Chatting) -> None:
    wrong = edit({"op": "set", "node": "3", "values": {"stepz": 30}}, id="e1")
    half = edit(
        {"op": "set", "node": "3", "values": {"steps": 30}}, {"op": "remove", "node": "99"}, id="e2"
    )
    chat.provider.queue(Script([wrong]), Script([half]), "Sorry.")
    stream = await chat.say("More steps", workflow=workflow())
    errors = [one["errorText"] for one in stream.of("tool-output-error")]
    assert "steps" in errors[0] and "Operation 0" in errors[0]
    assert "Operation 1" in errors[1] and "99" in errors[1]
    assert not stream.of("data-workflow")
    assert revision(await newest(chat)) == revision(portrait())


async def test_the_right_form_is_shown_once_in_a_turn(chat: Chatting) -> None:
    chat.provider.queue(
        Script([edit({"op": "set", "node": "3"}, id="e1")]),
        Script([edit({"op": "set", "values": {"steps": 3}}, id="e2")]),
        "Sorry.",
    )
    stream = await chat.say("More steps", workflow=workflow())
    first, second = [one["errorText"] for one in stream.of("tool-output-error")]
    assert '{"op": "set", "node": "3"' in first
    assert '{"op": "set", "node": "3"' not in second
    assert 'of "set" stands above' in second


async def test_each_form_is_shown_once_in_a_turn_and_named_later(chat: Chatting) -> None:
    wrong: tuple[tuple[str, Any], ...] = (
        ("", {"text": "more steps"}),
        ("set", {"operations": [{"op": "set", "node": "3"}]}),
        ("", {"operations": [{"op": "fly"}]}),
        ("mode", {"operations": [{"op": "mode", "node": "3", "mode": "sleep"}]}),
        ("set", {"operations": [{"op": "set", "node": "3", "values": "more"}]}),
        ("", {"edits": "more steps"}),
        ("mode", {"operations": [{"op": "arrange"}, {"op": "mode", "node": "3"}]}),
    )
    scripts = [
        Script([tool_call("editWorkflow", given, id=f"e{n}")]) for n, (_, given) in enumerate(wrong)
    ]
    chat.provider.queue(*scripts, "Sorry.")
    stream = await chat.say("More steps", workflow=workflow())
    errors = [one["errorText"] for one in stream.of("tool-output-error")]
    shown: set[str] = set()
    for (name, _), error in zip(wrong, errors, strict=True):
        assert (FORMS[name] in error) == (name not in shown), error
        whose = f'of "{name}"' if name else "of operations"
        assert (f"The form {whose} stands above." in error) == (name in shown), error
        shown.add(name)


async def test_operations_as_models_write_them(chat: Chatting) -> None:
    """As a JSON text, under another name, a single one without a list."""
    one = {"op": "set", "node": "3", "values": {"steps": "30"}}
    for number, arguments in enumerate(
        ({"operations": json.dumps([one])}, {"edits": [one]}, one), start=1
    ):
        chat.provider.queue(Script([tool_call("editWorkflow", arguments)]), "Done.")
        stream = await chat.say("More steps", f"c{number + 1}", workflow=workflow())
        assert stream.of("tool-output-available"), stream.of("tool-output-error")


async def test_nothing_open_and_no_workflow_say_how_to_open_one(chat: Chatting) -> None:
    chat.provider.queue(Script([set_steps(30)]), "Sorry.")
    stream = await chat.say("More steps")
    [error] = stream.of("tool-output-error")
    assert "No workflow is open" in error["errorText"] and "openWorkflow" in error["errorText"]


async def test_a_template_becomes_the_chats_workflow_and_the_old_one_stays(
    chat: Chatting,
) -> None:
    chat.provider.queue(
        Script([tool_call("openWorkflow", {"template": "image_z_image_turbo"}, id="o1")]),
        LOOK,
        "Opened.",
    )
    stream = await chat.say("Open a template", workflow=workflow())
    [output, _] = stream.of("tool-output-available")
    assert set(output["output"]) == {"id", "name", "revision"}
    assert output["output"]["id"] != "w1"
    assert output["output"]["name"] == "image_z_image_turbo"
    assert 'workflow "image_z_image_turbo"' in results(chat)[1]
    names = {one["workflow_id"]: one["name"] for one in await graphs(chat)}
    assert names["w1"] == "portrait"
    chat.provider.queue(
        Script([tool_call("openWorkflow", {"template": "image_z_image_turbo"}, id="o2")]), "Again."
    )
    stream = await chat.say("Once more")
    [output] = stream.of("tool-output-available")
    assert output["output"]["name"] == "image_z_image_turbo (2)"


async def test_a_saved_workflow_is_opened_as_a_copy(chat: Chatting, tmp_path: Path) -> None:
    folder = tmp_path / "comfyui" / "workflows"
    folder.mkdir(parents=True)
    (folder / "mine.json").write_text(json.dumps(portrait(steps=12)), encoding="utf-8")
    chat.provider.queue(
        Script([tool_call("openWorkflow", {"workflow": "mine"}, id="o1")]),
        Script([tool_call("openWorkflow", {"workflow": "none"}, id="o2")]),
        Script([tool_call("openWorkflow", {}, id="o3")]),
        "Opened.",
    )
    stream = await chat.say("Open mine")
    [output] = stream.of("tool-output-available")
    assert output["output"]["name"] == "mine (2)"
    assert output["output"]["revision"] == revision(portrait(steps=12))
    errors = [one["errorText"] for one in stream.of("tool-output-error")]
    assert "'mine'" in errors[0] and "template or workflow" in errors[1]


async def test_the_notes_of_the_next_turn_name_the_edited_workflow(chat: Chatting) -> None:
    chat.provider.queue(Script([edit({"op": "remove", "node": "10"})]), "Done.")
    await chat.say("Remove a note", workflow=workflow())
    chat.provider.queue("Hello")
    await chat.say("Hi")
    sent = json.dumps(chat.provider.requests[-1].messages)
    assert '[Active workflow: \\\\\\"portrait\\\\\\", 9 nodes]' in sent or "9 nodes" in sent
