"""The intention of a request: what its list of messages means for the stored chat.

The clients of `POST /api/chat` send the list of messages as they see it. Its difference from the
log is one of five intentions (`docs/decisions/0006-a-turn-belongs-to-the-server.md`), and the
stored version of a message counts wherever a client could have rewritten the message. Pure: `turn`
carries the intention out with the store.

System messages of the request are passed over: they hold for their request and are not stored.
Events are passed over in both lists: a client may not have seen them, and none of them is answered.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import InvalidRequest, NotFound
from ..messages.origin import is_event
from ..messages.parts import DataPart, Message, Part, StepStart, TextPart, ToolPart
from .chat import ChatState

SUBMIT = "submit-message"
REGENERATE = "regenerate-message"


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


def reconcile(
    stored: Sequence[Message],
    sent: Sequence[Message],
    trigger: str = SUBMIT,
    message_id: str | None = None,
) -> Intention:
    """The intention of a request. `stored` is the current path, root first, empty for an unknown
    chat.

    `message_id` counts for `regenerate-message` only (the answer, or the message that it answers;
    None means the last); for an edited message without the whole list there is `edited`.
    Raises InvalidRequest when there is nothing to answer, NotFound for an unknown `message_id`.
    """
    if trigger not in (SUBMIT, REGENERATE):
        raise InvalidRequest(f"expected {SUBMIT} or {REGENERATE}, got {trigger!r}", where="trigger")
    events = {message.id for message in stored if is_event(message)}
    stored = tuple(message for message in stored if message.id not in events)
    sent = tuple(one for one in sent if one.role != "system" and one.id not in events)
    _check_ids(sent)
    if not stored:
        return Import(_answerable(sent))
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
    return Branch(_id_before(stored, place), (new,))


def merge(stored: Message, sent: Message) -> Message:
    """`stored` with the parts that a client may add: answers to approvals, and results of the tools
    that ran at the client. Settled calls and all other parts stay as they were stored."""
    offered = {part.tool_call_id: part for part in sent.tool_parts}
    parts: list[Part] = []
    for part in stored.parts:
        if isinstance(part, ToolPart) and part.tool_call_id in offered:
            part = _merge_tool(part, offered[part.tool_call_id])
        parts.append(part)
    return dataclasses.replace(stored, parts=tuple(parts))


def pending(message: Message) -> tuple[ToolPart, ...]:
    """The tool calls that wait for a person's decision or for a panel's result."""
    return tuple(part for part in message.tool_parts if _waits(part))


def state_after(message: Message) -> ChatState:
    """The state of a chat that ends with this message: it waits, or it is idle."""
    waiting = pending(message)
    if any(part.state == "approval-requested" for part in waiting):
        return "paused"
    return "waiting_client" if waiting else "idle"


def _submit(stored: Sequence[Message], sent: Sequence[Message]) -> Intention:
    common = _common(stored, sent)
    new = tuple(sent[common:])
    if common == 0:
        return Branch(None, _answerable(new))
    last = stored[common - 1]
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
        return Branch(parent_id, (merged, *_answerable(new)))
    if common == len(stored) and len(new) == 1 and new[0].role == "user":
        return Append(new[0])
    return Branch(last.id, _answerable(new))


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
        return Branch(stored[common - 1].id if common else None, new)
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
        if asked and answer and asked.id == answer.id and answer.approved is not None:
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


def _runs_at_client(part: ToolPart) -> bool:
    """Whether this call waits for a panel's result."""
    if part.provider_executed:
        return False
    allowed = part.approval is not None and part.approval.approved is True
    return part.state == "input-available" or (part.state == "approval-responded" and allowed)


def _waits(part: ToolPart) -> bool:
    return part.state == "approval-requested" or _runs_at_client(part)


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
