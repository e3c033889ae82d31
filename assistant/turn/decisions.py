"""Decisions and results that let a suspended turn go on, or end it. Pure.

A command builds the message that a client of `POST /api/chat` would send, and
`chats.reconcile.merge` decides which changes count: so both ways have the same effect. A call is
settled once in a chat, whatever paths its message lies on (`once`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..chats.reconcile import merge
from ..errors import Conflict
from ..messages.parts import Approval, DataPart, Message, Part, ToolPart
from ..messages.waiting import (
    ANSWERED_BY,
    WAITING,
    checked_answer,
    decision_data,
    handed_data,
    waiting,
)

SHOWN = 80
"""Characters of a client's text that an error repeats."""
STOPPED = "Stopped by the user before there was a result."
"""The text does not say whether a running tool had an effect, since that is unknown."""
SETTLED_BEFORE = (
    "This call was decided about or settled before, in another version of this answer. It did not "
    "run again."
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's approval or rejection of calls. `remember` allows their tools in this chat, also
    for the other calls that wait in the same answer; it has no effect for a call that asks each
    time. `reason` has the words of a person who says no: why, or what to do instead. `approval_ids`
    are the ids of the questions that the user saw, in the order of `ids`. They may be missing where
    each of these calls asked one question only (`check_clear`)."""

    ids: tuple[str, ...]
    approved: bool
    remember: bool = False
    reason: str | None = None
    approval_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The panel's result of a call; `error` is set when the tool failed there."""

    tool_call_id: str
    output: Any = None
    error: str | None = None


def decided(
    message: Message,
    command: Decision | ToolResult,
    asks_each_time: frozenset[str] = frozenset(),
) -> Message:
    """The suspended message with the decision; `asks_each_time` names tools. Raises Conflict
    (`nothing_waits`) when no call waits for it."""
    wanted = command.ids if isinstance(command, Decision) else (command.tool_call_id,)
    parts = {part.tool_call_id: part for part in message.tool_parts}
    for call_id in wanted:
        if call_id not in parts:
            raise Conflict(f"No call {call_id[:SHOWN]!r} waits in this chat.", code="nothing_waits")
    if isinstance(command, Decision):
        _check_questions(command, parts)
    else:
        _check_handed(message, command)
    if isinstance(command, Decision) and command.approved and command.remember:
        wanted = _of_the_same_tools(message, wanted, asks_each_time)
    offered = {call_id: _offer(parts[call_id], command) for call_id in wanted}
    sent = replace(
        message,
        parts=tuple(
            offered.get(part.tool_call_id, part) if isinstance(part, ToolPart) else part
            for part in message.parts
        ),
    )
    merged = merge(message, sent)
    if merged == message:
        raise Conflict("That call does not wait any more.", code="nothing_waits")
    return merged


def _check_questions(decision: Decision, parts: Mapping[str, ToolPart]) -> None:
    """Raises Conflict where a call asks another question than the one that the user saw: another
    client may have had the answer given again, with a call of the same id."""
    for call_id, seen in zip(decision.ids, decision.approval_ids, strict=False):
        asked = parts[call_id].approval
        if asked is None or asked.id != seen:
            raise Conflict(
                f"The call {call_id[:SHOWN]!r} is not the one that was shown any more.",
                code="nothing_waits",
            )


def _check_handed(message: Message, result: ToolResult) -> None:
    """Raises Conflict for the result of a call that no panel has, or not yet."""
    now = waiting(message)
    if now is None or now[0].tool_call_id != result.tool_call_id or now[1] == "decision":
        raise Conflict("That call does not wait for a result.", code="nothing_waits")


def answered(message: Message, text: str, message_id: str) -> Message:
    """The suspended message with the text of the message `message_id` as the answer to its
    question. Raises Conflict (`nothing_waits`) when it has no open question."""
    found = waiting(message)
    if found is None or found[1] != "answer":
        raise Conflict("No question waits in this chat.", code="nothing_waits")
    asked, data = found[0], handed_data(message, found[0])
    output = checked_answer(data, {"text": text}, typed=True)
    done = replace(asked, state="output-available", output=output)
    noted = DataPart(WAITING, {**data, ANSWERED_BY: message_id}, asked.tool_call_id)

    def changed(part: Part) -> Part:
        if part is asked:
            return done
        is_note = isinstance(part, DataPart) and (part.name, part.id) == (WAITING, noted.id)
        return noted if is_note else part

    return replace(message, parts=tuple(map(changed, message.parts)))


def answering_ids(message: Message) -> frozenset[str]:
    """The ids of the messages that answered questions of this message."""
    found = (part.data for part in message.parts if isinstance(part, DataPart))
    ids = (data.get(ANSWERED_BY) for data in found if isinstance(data, Mapping))
    return frozenset(one for one in ids if isinstance(one, str))


def check_clear(message: Message, decision: Decision, asked: frozenset[tuple[str, str]]) -> None:
    """Raises Conflict (`which_question`) for a decision that names a call without its question,
    where the chat asked about another call of that id, too: the user may have seen that one.
    `asked` has the ids of the calls and of the questions of the chat."""
    for part in message.tool_parts:
        now = part.approval.id if part.approval else None
        if part.tool_call_id in decision.ids and any(
            call_id == part.tool_call_id and question != now for call_id, question in asked
        ):
            raise Conflict(
                f"The chat asked about the call {part.tool_call_id[:SHOWN]!r} more than once: "
                "approval_ids must name the question.",
                code="which_question",
            )


def once(message: Message, settled: frozenset[str]) -> Message:
    """The message, in which the calls `settled` in other versions of it do not run again."""
    parts = tuple(
        replace(part, state="output-error", error_text=SETTLED_BEFORE)
        if isinstance(part, ToolPart) and not part.settled and part.tool_call_id in settled
        else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def stopped(message: Message) -> Message:
    """The suspended message after an abort: all its calls are settled."""
    parts = tuple(_stopped(p) if isinstance(p, ToolPart) else p for p in message.parts)
    return replace(message, parts=parts, metadata={**message.metadata, "cut": "aborted"})


def _stopped(part: ToolPart) -> ToolPart:
    if part.settled:
        return part
    if part.state == "approval-requested":
        return replace(part, state="output-denied")
    return replace(part, state="output-error", error_text=STOPPED)


def remembered(message: Message, ids: tuple[str, ...], asks_each_time: frozenset[str]) -> set[str]:
    """The names of the tools of the calls `ids` that an approval may allow for the whole chat."""
    names = {
        part.tool_name
        for part in message.tool_parts
        if part.tool_call_id in ids and _may_be_remembered(message, part)
    }
    return names - asks_each_time


def _may_be_remembered(message: Message, part: ToolPart) -> bool:
    return decision_data(message, part).get("remember") is not False


def _of_the_same_tools(
    message: Message, ids: tuple[str, ...], asks_each_time: frozenset[str]
) -> tuple[str, ...]:
    """The calls `ids`, and the calls of the same tools that wait for a decision."""
    names = remembered(message, ids, asks_each_time)
    return ids + tuple(
        part.tool_call_id
        for part in message.tool_parts
        if part.state == "approval-requested"
        and part.tool_name in names
        and _may_be_remembered(message, part)
        and part.tool_call_id not in ids
    )


def _offer(part: ToolPart, command: Decision | ToolResult) -> ToolPart:
    if isinstance(command, ToolResult):
        if command.error is not None:
            return replace(part, state="output-error", error_text=command.error)
        return replace(part, state="output-available", output=command.output)
    asked = part.approval.id if part.approval else ""
    answer = Approval(asked, command.approved, command.reason)
    return replace(part, state="approval-responded", approval=answer)
