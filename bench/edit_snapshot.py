"""The edit tasks over plain HTTP, without a panel: the snapshot hand, for `edits.py`.

A scripted model calls `editWorkflow` with the task's operations. The graph that the stream carries
in `data-workflow` is read as an API prompt, which must be the expected one. `undo_edits` must give
the workflow from before, and `redo_edits` the edited one again.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from plugin.assistant.workflow.api_prompt import api_prompt
from plugin.assistant.workflow.parse import parse_workflow
from plugin.assistant.workflow.snapshot import Snapshot
from plugin.tests.chatting import Chatting, Stream
from plugin.tests.edits.same_prompt import prompt_differences
from plugin.tests.edits.task import Recorded, Task, recorded_tasks
from plugin.tests.prompts import template_text
from plugin.tests.providers import Script, tool_call
from plugin.tests.turn.edits.panels import DEFINITIONS, editing, graphs, newest

from .edit_outcomes import DIFFERENT, EXACT, NO_ANSWER, REFUSED, UNDO, Outcome

Json = dict[str, Any]


def outcomes(tasks: Sequence[Task]) -> Iterator[Outcome]:
    """Each task's outcome, in order."""
    yield from asyncio.run(_all(tasks))


async def _all(tasks: Sequence[Task]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        async with editing(Path(folder)) as chat:
            return [one async for one in _each(chat, tasks)]


async def _each(chat: Chatting, tasks: Sequence[Task]) -> AsyncIterator[Outcome]:
    for number, task in enumerate(tasks):
        recorded = recorded_tasks()[task.name]
        graph = recorded.workflow or json.loads(template_text(task.template))
        end, faults = await _done(chat, f"c{number}", task, graph, recorded)
        yield Outcome(task.name, task.kind, end, faults)


async def _done(
    chat: Chatting, identity: str, task: Task, graph: Json, recorded: Recorded
) -> tuple[str, list[str]]:
    """How one task ends, and where it is not exact."""
    chat.provider.forget()
    call = tool_call("editWorkflow", {"operations": list(task.operations)}, id="e1")
    chat.provider.queue(Script([call]), "Done.")
    sent = {"id": "w", "name": task.name, "graph": graph}
    stream = await chat.say(task.say, identity, workflow=sent)
    if stream.of("tool-approval-request"):
        # More than five nodes are not removed unasked.
        stream = await _approved(chat, identity, stream)
    if errors := stream.of("tool-output-error"):
        return REFUSED, [errors[0]["errorText"]]
    chunks = stream.of("data-workflow")
    if not chunks:
        return NO_ANSWER, [f"chunks: {', '.join(dict.fromkeys(stream.types))}"]
    made = chunks[-1]["data"]["graph"]
    faults = prompt_differences(
        untitled(recorded.expected), prompt_of(made), list(recorded.names.values())
    )
    if faults:
        return DIFFERENT, faults
    faults = await _taken_back(chat, identity, graph, made)
    return (UNDO if faults else EXACT), faults


async def _approved(chat: Chatting, identity: str, asked: Stream) -> Stream:
    """The rest of an answer whose edit a person allows."""
    wanted = [one["toolCallId"] for one in asked.of("tool-approval-request")]
    joined = asyncio.create_task(chat.join(identity))
    async with await chat.command(identity, type="approve_tools", ids=wanted) as response:
        assert response.status == 202, await response.text()
    await chat.idle(identity)
    return await joined


async def _taken_back(chat: Chatting, identity: str, before: Json, after: Json) -> list[str]:
    """Where `undo_edits` and `redo_edits` do not give the workflows from before and after."""
    messages = (await chat.stored(identity))["messages"]
    faults: list[str] = []
    for command, wanted in (("undo_edits", before), ("redo_edits", after)):
        said = {"type": command, "message_id": messages[-1]["id"]}
        async with await chat.command(identity, **said) as response:
            body = await response.json()
            if response.status != 202:
                return [*faults, f"{command}: {body}"]
        found = await newest(chat, identity)
        if Snapshot(graph=found).revision != Snapshot(graph=wanted).revision:
            faults.append(f"{command}: another workflow")
        faults += [
            f"{command}: {one}" for one in prompt_differences(prompt_of(wanted), prompt_of(found))
        ]
    assert await graphs(chat, identity=identity)
    return faults


def prompt_of(graph: Json) -> Json:
    """The API prompt of a workflow, without titles."""
    return untitled(api_prompt(parse_workflow(graph), DEFINITIONS))


def untitled(prompt: Mapping[str, Any]) -> Json:
    """Without titles, which the front end translates."""
    return {
        address: {key: value for key, value in node.items() if key != "_meta"}
        for address, node in prompt.items()
    }
