"""Approval modes: which calls ask a person, in which mode, and what no mode lets through."""

from __future__ import annotations

import json
from typing import Any

import pytest
from plugin.assistant.errors import ToolError
from plugin.assistant.tools.parameters import Arguments
from plugin.assistant.tools.tool import Asking, Tool, ToolContext
from plugin.assistant.tools.toolset import Toolset, standard_toolset
from plugin.tests.chatting import Chatting, Stream
from plugin.tests.providers import Script, tool_call


class Runs(Arguments):
    count: int = 1


class Nodes(Arguments):
    nodes: int


class Workshop:
    """A tool of each kind, one that the budget covers, and one that asks by its arguments."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    @property
    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool("look", "Looked", "Looks.", "reads", run=self._look, group="lookup"),
            Tool("paint", "Painted", "Paints.", "edits", run=self._paint, group="edit"),
            Tool("erase", "Erased", "Erases.", "acts", run=self._erase, group="edit"),
            Tool(
                "render",
                "Rendered",
                "Renders.",
                "acts",
                run=self._render,
                spends=lambda arguments: int(arguments.count),
                group="run",
            ),
            Tool(
                "remove",
                "Removed",
                "Removes nodes.",
                "edits",
                run=self._remove,
                asks=self._asks_to_remove,
                group="edit",
            ),
        )

    async def _look(self, _: object, context: ToolContext) -> Any:
        self.ran.append("look")
        return "seen"

    async def _paint(self, _: object, context: ToolContext) -> Any:
        self.ran.append("paint")
        return "painted"

    async def _erase(self, _: object, context: ToolContext) -> Any:
        self.ran.append("erase")
        return "erased"

    async def _render(self, arguments: Runs, context: ToolContext) -> Any:
        self.ran.append(f"render {arguments.count}")
        return {"runs": arguments.count}

    async def _remove(self, arguments: Nodes, context: ToolContext) -> Any:
        self.ran.append(f"remove {arguments.nodes}")
        return {"removed": arguments.nodes}

    async def _asks_to_remove(self, arguments: Nodes, context: ToolContext) -> Asking:
        """More than five nodes in a turn ask each time."""
        if arguments.nodes < 0:
            raise ToolError("nodes: expected a number of nodes")
        if arguments.nodes > 1_000:
            raise RuntimeError("secret words of a bug")
        before = sum(
            part.output["removed"]
            for part in context.calls()
            if part.tool_name == "remove" and part.state == "output-available"
        )
        nodes = before + arguments.nodes
        return Asking(f"Removes {arguments.nodes} of your\nnodes.", each_time=nodes > 5)


@pytest.fixture
def workshop(chat: Chatting) -> Workshop:
    workshop = Workshop()
    chat.assistant.toolset = Toolset((*standard_toolset(), *workshop.tools))
    return workshop


async def begun(chat: Chatting, **params: Any) -> None:
    """The chat c1 with these parameters, after a first turn."""
    chat.provider.queue("Hello.")
    await chat.say("Hi")
    if params:
        response = await chat.command(type="set_params", params=params)
        assert response.status == 202, await response.text()


async def asked(chat: Chatting, *calls: Any) -> list[str]:
    """Has the model call tools; returns the sentences that a person reads. All may run."""
    chat.provider.queue(Script(list(calls)))
    chat.provider.queue("Done.")
    stream = await chat.say("Do it")
    said = texts(stream)
    while (await chat.stored())["state"] == "paused":
        [waiting] = await waiting_calls(chat)
        assert (await chat.command(type="approve_tools", ids=[waiting["id"]])).status == 202
        await chat.idle()
        now = [one["text"] for one in await waiting_calls(chat)]
        said += now
    return said


def texts(stream: Stream) -> list[str]:
    return [chunk["data"]["text"] for chunk in stream.of("data-waiting")]


async def waiting_calls(chat: Chatting) -> list[dict[str, Any]]:
    """The calls of the last answer that wait for a decision, with their sentences."""
    parts = (await chat.stored())["messages"][-1]["parts"]
    notes = {part["id"]: part["data"] for part in parts if part["type"] == "data-waiting"}
    return [
        {"id": part["toolCallId"], **notes[part["approval"]["id"]]}
        for part in parts
        if part.get("state") == "approval-requested"
    ]


def call(name: str, identity: str = "t1", **arguments: Any) -> Any:
    return tool_call(name, arguments, id=identity)


@pytest.mark.parametrize(
    ("params", "name", "asks"),
    [
        ({}, "look", False),
        ({}, "paint", False),
        ({}, "erase", True),
        ({}, "render", True),
        ({"approval": "edits"}, "paint", False),
        ({"approval": "edits"}, "render", True),
        ({"approval": "ask"}, "look", False),
        ({"approval": "ask"}, "paint", True),
        ({"approval": "ask"}, "erase", True),
        ({"approval": "ask"}, "render", True),
        ({"approval": "budget", "budget": {"runs": 2, "minutes": 5}}, "paint", False),
        ({"approval": "budget", "budget": {"runs": 2, "minutes": 5}}, "erase", True),
        ({"approval": "budget", "budget": {"runs": 2, "minutes": 5}}, "render", False),
    ],
)
async def test_the_mode_says_which_kinds_of_tools_ask(
    chat: Chatting, workshop: Workshop, params: dict[str, Any], name: str, asks: bool
) -> None:
    await begun(chat, **params)
    said = await asked(chat, call(name))
    assert said == ([f"Uses the tool {name}."] if asks else [])
    assert [one.split()[0] for one in workshop.ran] == [name]


async def test_a_budget_goes_until_its_runs_are_used(chat: Chatting, workshop: Workshop) -> None:
    await begun(chat, approval="budget", budget={"runs": 3, "minutes": 60})
    assert (await chat.stored())["params"]["budget"] == {"runs": 3, "minutes": 60}
    assert await asked(chat, call("render", count=2)) == []
    assert (await chat.stored())["budget_left"]["runs"] == 1
    # Two are more than the one that is left; the one still goes through after that.
    assert await asked(chat, call("render", "t2", count=2)) == ["Uses the tool render."]
    assert await asked(chat, call("render", "t3")) == []
    assert await asked(chat, call("render", "t4")) == ["Uses the tool render."]
    assert workshop.ran == ["render 2", "render 2", "render 1", "render 1"]
    await chat.command(type="set_params", params={"budget": {"runs": 1, "minutes": 60}})
    assert await asked(chat, call("render", "t5")) == []


async def test_a_budget_goes_until_its_minutes_are_over(chat: Chatting, workshop: Workshop) -> None:
    await begun(chat, approval="budget", budget={"runs": 9, "minutes": 0.000001})
    assert await asked(chat, call("render")) == ["Uses the tool render."]
    assert (await chat.stored())["budget_left"]["runs"] == 9


async def test_a_budget_is_stored_and_other_parameters_leave_it_alone(
    chat: Chatting, workshop: Workshop
) -> None:
    await begun(chat, approval="budget", budget={"runs": 2, "minutes": 60})
    calls = [call("render", f"t{n}") for n in range(3)]
    assert await asked(chat, *calls) == ["Uses the tool render."]
    space = chat.assistant.space_of("default")
    assert not await space.chats.use_runs("c1", 1)
    # Other parameters leave the budget as it is.
    await chat.command(type="set_params", params={"temperature": 0.5})
    assert not await space.chats.use_runs("c1", 1)
    assert (await chat.stored())["params"]["approval"] == "budget"


async def test_what_a_call_does_may_make_it_ask_each_time(
    chat: Chatting, workshop: Workshop
) -> None:
    await begun(chat)
    assert await asked(chat, call("remove", nodes=5)) == []
    # Counted per turn: six nodes in two calls, of which nobody asked about the first.
    said = await asked(chat, call("remove", "t2", nodes=3), call("remove", "t3", nodes=3))
    assert said == ["Removes 3 of your nodes."]
    assert workshop.ran == ["remove 5", "remove 3", "remove 3"]


async def test_a_permission_for_the_chat_does_not_cover_a_call_that_asks_each_time(
    chat: Chatting, workshop: Workshop
) -> None:
    await begun(chat, approval="ask")
    chat.provider.queue(Script([call("remove", nodes=9)]))
    await chat.say("Do it")
    [waiting] = await waiting_calls(chat)
    assert waiting["remember"] is False
    chat.provider.queue(Script([call("remove", "t2", nodes=1)]), "Done.")
    await chat.command(type="approve_tools", ids=["t1"], remember=True)
    await chat.idle()
    # Nine and one: asked about again. In the next turn one node is asked about by the mode.
    [waiting] = await waiting_calls(chat)
    assert (waiting["id"], waiting["remember"]) == ("t2", False)
    await chat.command(type="reject_tools", ids=["t2"])
    await chat.idle()
    chat.provider.queue(Script([call("remove", "t3", nodes=1)]))
    await chat.say("One more")
    [waiting] = await waiting_calls(chat)
    assert (waiting["id"], waiting["remember"]) == ("t3", True)
    chat.provider.queue("Done.")
    await chat.command(type="approve_tools", ids=["t3"], remember=True)
    await chat.idle()
    assert await asked(chat, call("remove", "t4", nodes=1)) == []
    assert await asked(chat, call("remove", "t5", nodes=9)) == ["Removes 9 of your nodes."]


async def test_a_mode_counts_at_once_and_the_strictest_forgets_what_was_allowed(
    chat: Chatting, workshop: Workshop
) -> None:
    await begun(chat)
    chat.provider.queue(Script([call("erase")]), "Done.")
    await chat.say("Do it")
    await chat.command(type="approve_tools", ids=["t1"], remember=True)
    await chat.idle()
    assert await asked(chat, call("erase", "t2")) == []
    # The turn waits while the mode changes; its next call goes by the new one.
    chat.provider.queue(Script([call("render", "t3"), call("paint", "t4"), call("erase", "t5")]))
    await chat.say("Do it")
    await chat.command(type="set_params", params={"approval": "ask"})
    chat.provider.queue("Done.")
    for identity in ("t3", "t4", "t5"):
        [waiting] = await waiting_calls(chat)
        assert waiting["id"] == identity
        await chat.command(type="approve_tools", ids=[identity])
        await chat.idle()
    assert (await chat.stored())["params"]["approval"] == "ask"
    await chat.command(type="set_params", params={"approval": "edits"})
    assert (await chat.stored())["params"]["approval"] == "edits"
    await chat.command(type="set_params", params={"approval": None})
    assert "approval" not in (await chat.stored())["params"]


async def test_the_words_of_a_person_who_says_no_reach_the_model(
    chat: Chatting, workshop: Workshop
) -> None:
    await begun(chat)
    chat.provider.queue(Script([call("erase")]))
    await chat.say("Do it")
    chat.provider.queue("Painted.")
    words = "No, paint it red instead"
    await chat.command(type="reject_tools", ids=["t1"], reason=words)
    await chat.idle()
    [result] = [m for m in chat.provider.requests[-1].messages if m["role"] == "tool"]
    assert json.loads(result["content"]) == {
        "error": f"The user declined this. It did not run. The user says: {words}"
    }
    assert workshop.ran == []


async def test_a_call_that_cannot_say_what_it_does_does_not_run(
    chat: Chatting, workshop: Workshop
) -> None:
    chat.provider.queue(
        Script([call("remove", nodes=-1), call("remove", "t2", nodes=2_000)]), "No."
    )
    stream = await chat.say("Do it")
    wrong, broken = [chunk["errorText"] for chunk in stream.of("tool-output-error")]
    assert "expected a number of nodes" in wrong
    assert "secret" not in broken
    assert workshop.ran == []
    assert stream.of("tool-approval-request") == []


@pytest.mark.parametrize("how", ["branch", "trajectory", "restore", "share"])
async def test_no_other_chat_has_the_mode_or_the_permissions(
    chat: Chatting, workshop: Workshop, how: str
) -> None:
    await begun(chat, approval="budget", budget={"runs": 9, "minutes": 60}, temperature=0.5)
    chat.provider.queue(Script([call("erase", "t0")]), "Done.")
    await chat.say("Do it")
    await chat.command(type="approve_tools", ids=["t0"], remember=True)
    await chat.idle()
    other = await moved(chat, how)
    stored = await chat.stored(other)
    assert "approval" not in stored["params"]
    assert "budget_left" not in stored
    chat.provider.queue(Script([call("render"), call("erase", "t2")]))
    stream = await chat.say("Do it", chat=other)
    assert texts(stream) == ["Uses the tool render."]
    await chat.command(other, type="approve_tools", ids=["t1"])
    await chat.idle(other)
    assert (await chat.stored(other))["state"] == "paused", "erase asks, too"


async def moved(chat: Chatting, how: str) -> str:
    """The chat c1 as another one, or as it is after its own trajectory was restored."""
    if how == "branch":
        last = (await chat.stored())["messages"][-1]["id"]
        made = await chat.command(type="branch_from_chat", message_id=last)
        return str((await made.json())["chat_id"])
    if how == "share":
        async with chat.client.post("/api/chats/c1/share", json={}) as response:
            content = (await response.json())["content"]
        return await imported(chat, "share", content)
    async with chat.client.get("/api/chats/c1/export?format=trajectory") as response:
        content = await response.text()
    if how == "trajectory":
        return await imported(chat, "trajectory", content)
    restore = {"type": "restore_from_trajectory", "trajectory": json.loads(content)}
    assert (await chat.command(**restore)).status == 202
    return "c1"


async def imported(chat: Chatting, kind: str, content: str) -> str:
    body = {"format": kind, "content": content}
    async with chat.client.post("/api/chats/import", json=body) as response:
        assert response.status == 201, await response.text()
        return str((await response.json())["id"])


@pytest.mark.parametrize(
    ("params", "where"),
    [
        ({"approval": "always"}, "params.approval"),
        ({"approval": "budget"}, "params.budget"),
        ({"approval": "ask", "budget": {"runs": 1, "minutes": 1}}, "params.budget"),
        ({"budget": {"runs": 1, "minutes": 1}}, "params.budget"),
        ({"budget": None}, "params.budget"),
        ({"approval": "budget", "budget": {"runs": 0, "minutes": 1}}, "params.budget.runs"),
        ({"approval": "budget", "budget": {"runs": 1}}, "params.budget.minutes"),
        ({"approval": "budget", "budget": {"runs": 1, "minutes": -1}}, "params.budget.minutes"),
        ({"approval": "budget", "budget": {"runs": 1.5, "minutes": 1}}, "params.budget.runs"),
    ],
)
async def test_a_mode_that_cannot_be_is_a_400_that_says_where(
    chat: Chatting, params: dict[str, Any], where: str
) -> None:
    await begun(chat)
    refused = await chat.command(type="set_params", params=params)
    assert refused.status == 400
    assert (await refused.json())["error"]["where"] == where
    assert "approval" not in (await chat.stored())["params"]
