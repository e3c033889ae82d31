"""The intention of a request: what its list of messages means for the stored chat.

The clients of `POST /api/chat` send the list of messages as they see it. Its difference from the
log is one of five intentions (`docs/decisions/0006-a-turn-belongs-to-the-server.md`), and the
stored version of a message counts wherever a client could have rewritten the message. Pure: `turn`
carries the intention out with the store.

The law of decisions: *only an approval that this server recorded, for just these arguments, once,
lets a call run.* A decision in a list counts for a call that waits in the stored answer, under the
id of its question and with its stored arguments; any other decision that would let the turn go on
is refused (`nothing_waits`). Messages that only the client has are taken as `outside` says.

System messages of the request are passed over: they hold for their request and are not stored.
Events are passed over in both lists: a client may not have seen them, and none of them is answered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import Conflict, InvalidRequest, NotFound
from ..messages.origin import is_event
from ..messages.outside import from_outside, is_decided, same_arguments
from ..messages.parts import DataPart, Message, Part, StepStart, TextPart, ToolPart
from ..messages.waiting import WaitsFor, checked_answer, handed_data, waiting
from .chat import ChatState

SUBMIT = "submit-message"
REGENERATE = "regenerate-message"
STATE_OF: Final[Mapping[WaitsFor, ChatState]] = {
    "decision": "paused",
    "answer": "waiting_user_input",
    "panel": "waiting_client",
}
"""The state of a chat by what its answer waits for."""
SHOWN = 80
"""Characters of a call's id that an error repeats."""


@dataclass(frozen=True, slots=True)
class Import:
    """The chat is new: these are all its messages."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Append:
    """One new user message at the end."""

    message: Message


@dataclass(frozen=True, slots=True)
class Resume:
    """The suspended last answer gained results or decisions: `message` is its new version, to be
    stored after `parent_id`."""

    parent_id: str | None
    message: Message


@dataclass(frozen=True, slots=True)
class Regenerate:
    """The user message `parent_id` is to be answered (again)."""

    parent_id: str


@dataclass(frozen=True, slots=True)
class Branch:
    """These messages follow `parent_id` (None: the beginning), on a path of their own."""

    parent_id: str | None
    messages: tuple[Message, ...]


Intention = Import | Append | Resume | Regenerate | Branch
Recorded = Callable[[ToolPart], ToolPart | None]
"""A decided call of a message that no log holds -> the call as this server asked about it, with the
decision; None where the server did not ask, or has the answer already."""


def nothing_recorded(_: ToolPart) -> None:
    """No call of a message outside of the log was asked about."""
    return


def reconcile(
    stored: Sequence[Message],
    sent: Sequence[Message],
    trigger: str = SUBMIT,
    message_id: str | None = None,
    recorded: Recorded = nothing_recorded,
) -> Intention:
    """The intention of a request. `stored` is the current path, root first, empty for an unknown
    chat.

    `message_id` counts for `regenerate-message` only (the answer, or the message that it answers;
    None means the last); for an edited message without the whole list there is `edited`.
    Raises InvalidRequest when there is nothing to answer, NotFound for an unknown `message_id`, and
    Conflict (`nothing_waits`) for a decision that does not count.
    """
    if trigger not in (SUBMIT, REGENERATE):
        raise InvalidRequest(f"expected {SUBMIT} or {REGENERATE}, got {trigger!r}", where="trigger")
    events = {message.id for message in stored if is_event(message)}
    stored = tuple(message for message in stored if message.id not in events)
    sent = tuple(one for one in sent if one.role != "system" and one.id not in events)
    _check_ids(sent)
    if not stored:
        return Import(_new(sent, recorded))
    if trigger == REGENERATE:
        return _regenerate(stored, sent, message_id)
    return _submit(stored, sent)


def edited(stored: Sequence[Message], message_id: str, new: Message) -> Branch:
    """An edited user message in the place of `message_id`; the new message has that id or another
    id.

    Raises NotFound for an unknown id, InvalidRequest when either is no user message.
    """
    place = _place(stored, message_id)
    if stored[place].role != "user" or is_event(stored[place]) or new.role != "user":
        raise InvalidRequest("only a user message can be edited", where="messageId")
    if any(message.id == new.id for message in stored[:place]):
        raise InvalidRequest(f"the id {new.id!r} is used by an earlier message", where="message.id")
    return Branch(_id_before(stored, place), (from_outside(new),))


def merge(stored: Message, sent: Message) -> Message:
    """`stored` with the parts that a client may add: answers to approvals, and results of the tools
    that ran at the client, such as a person's answer to a question. Settled calls and all other
    parts stay as they were stored. Raises InvalidRequest for an answer that its question does not
    allow."""
    offered = {part.tool_call_id: part for part in sent.tool_parts}
    parts: list[Part] = []
    for part in stored.parts:
        if isinstance(part, ToolPart) and part.tool_call_id in offered:
            theirs = _checked(stored, part, offered[part.tool_call_id])
            part = _merge_tool(part, theirs)
        parts.append(part)
    return dataclasses.replace(stored, parts=tuple(parts))


def pending(message: Message) -> ToolPart | None:
    """The call that waits for a person's decision or answer, or for a panel's result: a chat waits
    for one thing at a time."""
    found = waiting(message)
    return None if found is None else found[0]


def state_after(message: Message) -> ChatState:
    """The state of a chat that ends with this message: it waits, or it is idle."""
    found = waiting(message)
    return "idle" if found is None else STATE_OF[found[1]]


def _submit(stored: Sequence[Message], sent: Sequence[Message]) -> Intention:
    common = _common(stored, sent)
    new = tuple(sent[common:])
    if common == 0:
        return Branch(None, _new(new))
    last = stored[common - 1]
    if not new:
        _check_decisions(last, sent[common - 1])
    merged = merge(last, sent[common - 1])
    parent_id = _id_before(stored, common - 1)
    if not new and merged != last and common == len(stored):
        return Resume(parent_id, merged)
    if not new and last.role == "user":
        return Regenerate(last.id)
    if not new:
        raise InvalidRequest("nothing to answer: the list brings nothing new", where="messages")
    if merged != last:
        # Results that came with the next user message: both are stored.
        return Branch(parent_id, (merged, *_new(new)))
    if common == len(stored) and len(new) == 1 and new[0].role == "user":
        return Append(from_outside(new[0]))
    return Branch(last.id, _new(new))


def _regenerate(
    stored: Sequence[Message], sent: Sequence[Message], message_id: str | None
) -> Regenerate | Branch:
    target = _target(stored, sent, message_id)
    asked = target
    while asked >= 0 and stored[asked].role != "user":
        asked -= 1
    if asked < 0:
        raise InvalidRequest("no user message comes before that answer", where="messageId")
    ids = [message.id for message in sent]
    if stored[target].role != "user" and stored[target].id in ids:
        sent = sent[: ids.index(stored[target].id)]
    common = _common(stored, sent)
    new = tuple(sent[common:])
    if new and new[-1].role == "user":
        # The client has another history: its history is answered, the stored history stays as a
        # branch.
        return Branch(stored[common - 1].id if common else None, _new(new))
    return Regenerate(stored[asked].id)


def _target(stored: Sequence[Message], sent: Sequence[Message], message_id: str | None) -> int:
    """The place in `stored` of the answer to give again, or of the message it answers."""
    if message_id is not None and any(message.id == message_id for message in stored):
        return _place(stored, message_id)
    if message_id is not None:
        # The client may have given the cut answer an id of its own: then the message before it
        # decides.
        if sent and sent[-1].role == "user" and any(sent[-1].id == m.id for m in stored):
            return _place(stored, sent[-1].id)
        raise NotFound(f"There is no message {message_id!r} in this chat.")
    answers = [n for n, message in enumerate(stored) if message.role == "assistant"]
    return len(stored) - 1 if stored[-1].role == "user" or not answers else answers[-1]


def _common(stored: Sequence[Message], sent: Sequence[Message]) -> int:
    """How many messages both lists begin with."""
    count = 0
    for ours, theirs in zip(stored, sent, strict=False):
        if not _same(ours, theirs):
            break
        count += 1
    return count


def _same(ours: Message, theirs: Message) -> bool:
    if ours.id != theirs.id or ours.role != theirs.role:
        return False
    if ours.role == "user":
        return _typed(ours) == _typed(theirs)
    if ours.text == theirs.text:
        return True
    # The client may have more, or less, of a cut answer than the log.
    return bool(ours.metadata.get("cut")) and (
        ours.text.startswith(theirs.text) or theirs.text.startswith(ours.text)
    )


def _typed(message: Message) -> tuple[Part, ...]:
    """The parts of the user; the server adds the `data-*` parts."""
    return tuple(part for part in message.parts if not isinstance(part, DataPart))


def _merge_tool(ours: ToolPart, theirs: ToolPart) -> ToolPart:
    if ours.state == "approval-requested" and theirs.state == "approval-responded":
        asked, answer = ours.approval, theirs.approval
        if not asked or not answer or asked.id != answer.id or not _same_call(ours, theirs):
            return ours
        if answer.approved is not None:
            decision = dataclasses.replace(asked, approved=answer.approved, reason=answer.reason)
            return dataclasses.replace(ours, state="approval-responded", approval=decision)
        return ours
    if not _runs_at_client(ours):
        return ours
    if theirs.state == "output-available":
        return dataclasses.replace(ours, state="output-available", output=theirs.output)
    if theirs.state == "output-error":
        text = theirs.error_text or "The tool failed without saying why."
        return dataclasses.replace(ours, state="output-error", error_text=text)
    return ours


def _checked(stored: Message, ours: ToolPart, theirs: ToolPart) -> ToolPart:
    """`theirs`; where it answers a question, with the answer as the model reads it."""
    if theirs.state != "output-available" or not _runs_at_client(ours):
        return theirs
    data = handed_data(stored, ours)
    if data.get("for") != "answer":
        return theirs
    return dataclasses.replace(theirs, output=checked_answer(data, theirs.output))


def _same_call(ours: ToolPart, theirs: ToolPart) -> bool:
    """Whether a decision on `theirs` is one on `ours`: a person decides about arguments. A client
    that leaves them out decides about ours."""
    if ours.tool_name != theirs.tool_name:
        return False
    return theirs.input is None or same_arguments(ours.input, theirs.input)


def _check_decisions(stored: Message, sent: Message) -> None:
    """Raises Conflict for a decision on a call that does not wait, or not with these arguments. The
    decision that the stored call has already may come again."""
    known = {part.tool_call_id: part for part in stored.tool_parts}
    for theirs in sent.tool_parts:
        if not is_decided(theirs):
            continue
        ours = known.get(theirs.tool_call_id)
        if ours is None or not (_is_repeated(ours, theirs) or _merge_tool(ours, theirs) != ours):
            raise _does_not_wait(theirs)


def _is_repeated(ours: ToolPart, theirs: ToolPart) -> bool:
    """Whether the call waits to be carried out with this very decision."""
    if not is_decided(ours) or not _same_call(ours, theirs):
        return False
    made, sent = ours.approval, theirs.approval
    if made is None or sent is None:
        return False
    return (made.id, made.approved) == (sent.id, sent.approved)


def _does_not_wait(part: ToolPart) -> Conflict:
    return Conflict(
        f"The decision on the call {part.tool_call_id[:SHOWN]!r} does not count: the call does not"
        " wait for it, or waits with other arguments. Load the chat again.",
        code="nothing_waits",
    )


def _new(
    messages: tuple[Message, ...], recorded: Recorded = nothing_recorded
) -> tuple[Message, ...]:
    """The messages that only the client has, as they may be answered. Raises Conflict when the last
    of them has a decision on a call that was not `recorded`, and InvalidRequest when there is
    nothing to answer."""
    taken = tuple(map(from_outside, messages))
    if taken and taken[-1].role == "assistant":
        taken = (*taken[:-1], _with_decisions(taken[-1], messages[-1], recorded))
    return _answerable(taken)


def _with_decisions(taken: Message, sent: Message, recorded: Recorded) -> Message:
    """`taken` with the decided calls of `sent`, as the server recorded them. A call whose id is not
    its own cannot be decided about."""
    ids = [part.tool_call_id for part in sent.tool_parts]
    ours: dict[str, ToolPart] = {}
    for part in sent.tool_parts:
        if is_decided(part):
            found = recorded(part) if ids.count(part.tool_call_id) == 1 else None
            if found is None:
                raise _does_not_wait(part)
            ours[part.tool_call_id] = found
    parts = tuple(
        ours.get(part.tool_call_id, part) if isinstance(part, ToolPart) else part
        for part in taken.parts
    )
    return dataclasses.replace(taken, parts=parts) if ours else taken


def _runs_at_client(part: ToolPart) -> bool:
    """Whether this call waits for a panel's result."""
    if part.provider_executed:
        return False
    allowed = part.approval is not None and part.approval.approved is True
    return part.state == "input-available" or (part.state == "approval-responded" and allowed)


def _answerable(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """`messages`, if a model can go on after the last one; raises InvalidRequest."""
    if not messages:
        raise InvalidRequest("expected at least one message, got none", where="messages")
    last = messages[-1]
    if last.role == "user":
        return messages
    borders = [n for n, part in enumerate(last.parts) if isinstance(part, StepStart)]
    step = last.parts[borders[-1] + 1 :] if borders else last.parts
    calls = [part for part in step if isinstance(part, ToolPart)]
    spoke_last = bool(step) and isinstance(step[-1], TextPart)
    if not calls or spoke_last or pending(last):
        raise InvalidRequest(
            "nothing to answer: the last message is an assistant's", where="messages"
        )
    return messages


def _id_before(stored: Sequence[Message], place: int) -> str | None:
    return stored[place - 1].id if place else None


def _place(stored: Sequence[Message], message_id: str) -> int:
    for place, message in enumerate(stored):
        if message.id == message_id:
            return place
    raise NotFound(f"There is no message {message_id!r} in this chat.")


def _check_ids(sent: Sequence[Message]) -> None:
    seen: set[str] = set()
    for message in sent:
        if message.id in seen:
            raise InvalidRequest(f"two messages have the id {message.id!r}", where="messages")
        seen.add(message.id)
