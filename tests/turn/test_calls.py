"""Settling calls in the order of their round, and noticing a model that repeats itself."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from plugin.assistant.chats import ApprovalMode
from plugin.assistant.messages.chunks import Chunk
from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.parts import (
    Approval,
    Message,
    Part,
    StepStart,
    ToolPart,
    ToolState,
)
from plugin.assistant.messages.waiting import Question
from plugin.assistant.tools.parameters import Parameters
from plugin.assistant.tools.tool import Tool, ToolContext
from plugin.assistant.tools.toolset import Toolset
from plugin.assistant.turn.calls import MOST_REPEATS, REPEATED, CallRunner, Repetition, Suspension
from plugin.assistant.turn.permission import Granted
from plugin.tests.turn.tools import Bench

SCENE = ToolContext(skills=None)  # type: ignore[arg-type]


def question(part: ToolPart) -> str:
    return f"about {part.tool_call_id}"


def part(name: str, state: ToolState = "input-available", **fields: Any) -> ToolPart:
    return ToolPart("c1", name, state, **{"input": {}, **fields})


class Permits:
    """Permissions as a test gives them; `runs` is what is left of the budget."""

    def __init__(self, mode: ApprovalMode = "edits", *tools: str, runs: int = 0) -> None:
        self.now = Granted(mode, frozenset(tools))
        self.runs = runs

    async def granted(self) -> Granted:
        return self.now

    async def use_runs(self, runs: int) -> bool:
        if runs > self.runs:
            return False
        self.runs -= runs
        return True


async def settled(
    *parts: ToolPart, permits: Permits | None = None, bench: Bench | None = None
) -> tuple[Suspension | None, list[Chunk]]:
    sent: list[Chunk] = []
    tools = Toolset((bench or Bench()).tools)
    runner = CallRunner(sent.append, tools, SCENE, permits or Permits(), question)
    return await runner.settle(parts), sent


async def test_a_tool_of_the_server_runs() -> None:
    bench = Bench()
    bench.release.set()
    suspension, sent = await settled(part("slow"), bench=bench)
    assert not suspension
    assert (sent[0]["type"], sent[0]["output"]) == ("tool-output-available", "done")


async def test_an_acting_tool_asks_unless_it_is_allowed() -> None:
    bench = Bench()
    suspension, sent = await settled(part("erase"), bench=bench)
    assert suspension == Suspension("c1", "paused")
    said, asked = sent
    assert said["data"] == {
        "tool_call_id": "c1",
        "for": "decision",
        "approval_id": "about c1",
        "text": "Uses the tool erase.",
        "remember": True,
    }
    assert said["id"] == "about c1"
    assert asked == {"type": "tool-approval-request", "approvalId": "about c1", "toolCallId": "c1"}
    assert bench.erased == 0
    suspension, sent = await settled(part("erase"), permits=Permits("edits", "erase"), bench=bench)
    assert not suspension
    assert bench.erased == 1


@pytest.mark.parametrize(("approved", "erased"), [(True, 1), (False, 0)])
async def test_a_decision_is_carried_out(approved: bool, erased: int) -> None:
    bench = Bench()
    decided = part("erase", "approval-responded", approval=Approval("a", approved))
    suspension, sent = await settled(decided, bench=bench)
    assert not suspension
    assert bench.erased == erased
    assert sent[0]["type"] == ("tool-output-available" if approved else "tool-output-denied")


async def test_an_open_question_is_not_asked_twice() -> None:
    asked = part("erase", "approval-requested", approval=Approval("a"))
    assert await settled(asked) == (Suspension("c1", "paused"), [])


async def test_a_tool_of_the_panel_waits() -> None:
    suspension, sent = await settled(part("paintNode", input={"node": 1}))
    assert suspension == Suspension("c1", "waiting_client")
    assert [(chunk["type"], chunk["id"], chunk["data"]) for chunk in sent] == [
        ("data-waiting", "c1", {"tool_call_id": "c1", "for": "panel"})
    ]


async def test_a_tool_that_is_gone_is_an_error() -> None:
    suspension, sent = await settled(part("fly"))
    assert not suspension
    assert "no tool 'fly'" in sent[0]["errorText"]


async def test_a_bug_in_a_tool_is_said_without_its_words() -> None:
    _, sent = await settled(part("broken"))
    assert sent[0]["type"] == "tool-output-error"
    assert "secret" not in sent[0]["errorText"]


async def test_a_result_that_no_log_could_hold_is_a_failure() -> None:
    _, sent = await settled(part("odd"))
    assert sent[0]["type"] == "tool-output-error"


@pytest.mark.parametrize("state", ["output-available", "output-error", "output-denied"])
async def test_what_is_settled_is_left_alone(state: ToolState) -> None:
    assert await settled(part("erase", state)) == (None, [])


def test_the_third_same_result_in_a_row_is_one_too_many() -> None:
    repetition = Repetition()
    assert [repetition.note("a", {"x": 1, "y": 2}, "r") for _ in range(2)] == [False, False]
    assert not repetition.stuck("a", {"y": 2, "x": 1})
    assert repetition.note("a", {"y": 2, "x": 1}, "r")
    assert repetition.stuck("a", {"x": 1, "y": 2})


@pytest.mark.parametrize("between", [("b", {}, "r"), ("a", {"x": 1}, "r"), ("a", {}, "other")])
def test_anything_else_in_between_begins_the_count_anew(between: tuple[str, Any, str]) -> None:
    repetition = Repetition()
    for _ in range(2):
        repetition.note("a", {}, "r")
    repetition.note(*between)
    assert not repetition.note("a", {}, "r")
    assert not repetition.stuck("a", {})


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([1, 2]), st.sampled_from("xy"))))
def test_only_runs_of_three_are_noticed(results: list[tuple[str, int, str]]) -> None:
    repetition = Repetition()
    for place, (name, value, output) in enumerate(results):
        run = results[max(0, place - MOST_REPEATS + 1) : place + 1]
        expected = len(run) == MOST_REPEATS and len(set(run)) == 1
        assert repetition.note(name, {"v": value}, output) == expected


async def test_a_call_that_was_refused_three_times_in_a_row_is_stopped() -> None:
    sent: list[Chunk] = []
    runner = CallRunner(sent.append, Toolset(Bench().tools), SCENE, Permits(), question)
    for _ in range(3):
        await runner.settle([part("fly", "output-error", error_text="There is no tool 'fly'.")])
    assert [chunk["errorText"] for chunk in sent] == [REPEATED]


# The order in a round


class Reads:
    """Reads that wait for each other: `first` ends only when `second` has begun."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.first, self.second = asyncio.Event(), asyncio.Event()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool("first", "F", "F.", "reads", run=self._first, parallel=True, group="lookup"),
            Tool("second", "S", "S.", "reads", run=self._second, parallel=True, group="lookup"),
            Tool("edit", "E", "E.", "edits", run=self._edit, group="edit"),
            Tool("paint", "P", "P.", "edits", place="panel", group="edit"),
        )

    async def _first(self, _: Any, context: ToolContext) -> Any:
        self.begun.append("first")
        self.first.set()
        await self.second.wait()
        return "first"

    async def _second(self, _: Any, context: ToolContext) -> Any:
        self.begun.append("second")
        self.second.set()
        return "second"

    async def _edit(self, _: Any, context: ToolContext) -> Any:
        self.begun.append("edit")
        return "edit"


def named(*names: str) -> list[ToolPart]:
    return [ToolPart(f"c{n}", name, "input-available", input={}) for n, name in enumerate(names)]


async def settled_reads(*names: str) -> tuple[Reads, Suspension | None, list[Chunk]]:
    sent: list[Chunk] = []
    reads = Reads()
    runner = CallRunner(sent.append, Toolset(reads.tools), SCENE, Permits(), question)
    suspension = await asyncio.wait_for(runner.settle(named(*names)), 10)
    return reads, suspension, sent


async def test_reads_that_stand_next_to_each_other_run_at_once_and_answer_in_order() -> None:
    reads, _, sent = await settled_reads("first", "second")
    assert reads.begun == ["first", "second"]
    assert [(c["toolCallId"], c["output"]) for c in sent] == [("c0", "first"), ("c1", "second")]


async def test_a_call_that_changes_something_waits_for_the_reads_before_it() -> None:
    reads, _, sent = await settled_reads("second", "edit", "first")
    assert reads.begun == ["second", "edit", "first"]
    assert [c["toolCallId"] for c in sent] == ["c0", "c1", "c2"]


async def test_only_reads_run_ahead_of_a_call_that_is_not_settled() -> None:
    reads, suspension, sent = await settled_reads("paint", "edit", "second")
    assert suspension == Suspension("c0", "waiting_client")
    assert reads.begun == ["second"]
    assert [c["toolCallId"] for c in sent if c["type"] == "tool-output-available"] == ["c2"]


async def test_the_same_read_again_in_a_round_is_counted_one_by_one() -> None:
    reads, _, sent = await settled_reads(*["second"] * 5)
    assert [c["type"] for c in sent[:2]] == ["tool-output-available"] * 2
    assert [c["errorText"] for c in sent[2:]] == [REPEATED] * 3
    assert len(reads.begun) == MOST_REPEATS


async def test_reads_that_run_at_once_end_with_a_turn_that_is_stopped() -> None:
    reads = Reads()
    sent: list[Chunk] = []
    runner = CallRunner(sent.append, Toolset(reads.tools), SCENE, Permits(), question)
    task = asyncio.ensure_future(runner.settle(named("first")))
    await asyncio.wait_for(reads.first.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert len(asyncio.all_tasks()) == 1


async def test_a_stop_keeps_the_result_of_a_read_behind_one_that_goes_on() -> None:
    begun = asyncio.Event()

    async def endless(_: Any, context: ToolContext) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # The stop waits for this, too.

    async def quick(_: Any, context: ToolContext) -> Any:
        return "quick"

    tools = (
        Tool("endless", "E", "E.", "reads", run=endless, parallel=True, group="lookup"),
        Tool("quick", "Q", "Q.", "reads", run=quick, parallel=True, group="lookup"),
        Tool("blocked", "B", "B.", "reads", run=endless, parallel=True, group="lookup"),
    )
    sent: list[Chunk] = []
    runner = CallRunner(sent.append, Toolset(tools), SCENE, Permits(), question)
    task = asyncio.ensure_future(runner.settle(named("endless", "quick", "blocked")))
    await asyncio.wait_for(begun.wait(), 10)
    await asyncio.sleep(0)
    assert sent == []
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [(chunk["toolCallId"], chunk["output"]) for chunk in sent] == [("c1", "quick")]
    assert len(asyncio.all_tasks()) == 1


# The law of order: any round of calls, settled to its end with a person who decides


class Traced:
    """Tools of each kind and place."""

    @property
    def tools(self) -> tuple[Tool, ...]:
        return (
            Tool("read", "R", "R.", "reads", run=self._run, parallel=True, group="lookup"),
            Tool("edit", "E", "E.", "edits", run=self._run, group="edit"),
            Tool("act", "A", "A.", "acts", run=self._run, group="run"),
            Tool("panel", "P", "P.", "edits", place="panel", group="edit"),
            Tool("ask", "Q", "Q.", "reads", ASKING, "user", group="lookup"),
        )

    async def _run(self, arguments: Any, context: ToolContext) -> Any:
        return "done"


ASKING = Parameters({"type": "object"}, lambda _: Question("Which?"))
ROUNDS = st.lists(
    st.tuples(st.sampled_from(["read", "edit", "act", "panel", "ask"]), st.booleans())
)


@given(ROUNDS, st.sampled_from(["ask", "edits"]))
def test_a_round_is_settled_in_its_order_and_waits_for_one_thing_at_a_time(
    calls: list[tuple[str, bool]], mode: ApprovalMode
) -> None:
    asyncio.run(_play(calls, mode))


async def _play(calls: list[tuple[str, bool]], mode: ApprovalMode) -> None:
    traced = Traced()
    step: tuple[Part, ...] = tuple(
        ToolPart(f"c{n}", name, "input-available", input={}, provider_executed=name != "panel")
        for n, (name, _) in enumerate(calls)
    )
    message = Message("a", "assistant", (StepStart(), *step))
    for _ in range(2 * len(calls) + 1):
        sent: list[Chunk] = []
        runner = CallRunner(sent.append, Toolset(traced.tools), SCENE, Permits(mode), question)
        suspension = await runner.settle(message.tool_parts)
        settled_now = [c["toolCallId"] for c in sent if c["type"].startswith("tool-output")]
        message = fold(message, sent)
        open_calls = [part for part in message.tool_parts if not part.settled]
        if suspension is None:
            assert not open_calls
            break
        # It waits for the first open call, and what was settled behind it only reads.
        assert suspension.call_id == open_calls[0].tool_call_id
        first = int(suspension.call_id[1:])
        late = [one for one in settled_now if int(one[1:]) > first]
        assert {calls[int(one[1:])][0] for one in late} <= {"read"}
        asked = [part for part in open_calls if part.state == "approval-requested"]
        handed = [c for c in sent if c["type"] == "data-waiting"]
        assert len(asked) <= 1 and len(handed) <= 1
        message = _decided(message, suspension, agrees=calls[first][1])
    else:
        raise AssertionError("the round does not end")


def _decided(message: Message, suspension: Suspension, *, agrees: bool) -> Message:
    """The message after a person or a panel did what the turn waits for."""

    def changed(part: Part) -> Part:
        if not isinstance(part, ToolPart) or part.tool_call_id != suspension.call_id:
            return part
        if suspension.state == "paused":
            approval = Approval(f"about {part.tool_call_id}", agrees)
            return replace(part, state="approval-responded", approval=approval)
        return replace(part, state="output-available", output="ok")

    return replace(message, parts=tuple(map(changed, message.parts)))
