"""Messages that come from outside: from a file, or from a client's own list. Pure.

The law: what comes from outside grants nothing and hides nothing. An approval in it is none, since
only an approval that this server recorded lets a call run; the words that a model reads are the
words that a person sees; and no text in it becomes a question of this server.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from .fences import plain_line, without_tags
from .origin import HIDDEN
from .parts import Approval, DataPart, Message, Part, ReasoningPart, TextPart, ToolPart
from .waiting import WAITING

NOT_RUN: Final = "This call came with an imported chat. It did not run."
NOT_ITS_OWN: Final = "Another call has the same id. This call did not run."
SERVERS_DATA: Final = frozenset(("skill", "command", WAITING))
"""The `data-*` parts that decide what a model reads in place of a message's text, or what a
person is asked. Only this server makes them."""
COMMAND: Final = "command"
"""`metadata.command` keeps an answer to a slash command from the model."""
SERVERS_METADATA: Final = frozenset((COMMAND, HIDDEN))
"""Metadata that would let a person and a model read different messages."""
EXACT: Final = 2**53
"""JavaScript has each whole number up to this one; it rounds larger ones."""
ID_DIGITS: Final = 32
"""Hexadecimal digits (128 bits) of a question's id: no two questions meet by chance or on
purpose."""


def from_outside(message: Message) -> Message:
    """The message as it may enter a log: without the server's own data, and without the approvals
    of calls that are not settled. A call that was asked about or approved is asked about again, a
    call that was declined is settled, and so is a call whose id another call has: a decision names
    the id."""
    calls = Counter(part.tool_call_id for part in message.tool_parts)
    parts = tuple(
        _not_its_own(part) if _is_open(part, calls) else _from_outside(part, message.id)
        for part in message.parts
        if not (isinstance(part, DataPart) and part.name in SERVERS_DATA)
    )
    metadata = {
        name: value for name, value in message.metadata.items() if name not in SERVERS_METADATA
    }
    if parts == message.parts and metadata == message.metadata:
        return message
    return replace(message, parts=parts, metadata=metadata)


def from_file(message: Message) -> Message:
    """`from_outside` for a message of a file: no call of it runs by itself, since no model of this
    server made it, and its texts have no words that only a model reads. While a call of the message
    waits for a decision, no opaque data of a provider stands beside it, which nobody could read and
    the model would get."""
    message = from_outside(message)
    parts = tuple(_from_file(part) for part in message.parts)
    if any(isinstance(part, ToolPart) and not part.settled for part in parts):
        parts = tuple(
            replace(part, provider_metadata=None) if isinstance(part, ReasoningPart) else part
            for part in parts
        )
    return message if parts == message.parts else replace(message, parts=parts)


def asked_again(message: Message) -> Message:
    """The message of this server in another chat: a call that was approved and has not run is
    asked about again there."""
    parts = tuple(
        _asked_again(part, message.id) if isinstance(part, ToolPart) else part
        for part in message.parts
    )
    return message if parts == message.parts else replace(message, parts=parts)


def is_decided(part: Part) -> bool:
    """Whether the part is a call with a decision that has not been carried out."""
    return (
        isinstance(part, ToolPart)
        and part.state == "approval-responded"
        and part.approval is not None
        and part.approval.approved is not None
    )


def approval_id(message_id: str, part: ToolPart) -> str:
    """The id of the question about a call of a stored message: of just this call with just these
    arguments. A call's id alone is not enough, since it is unique on one path of a chat only."""
    asked = (message_id, part.tool_call_id, part.tool_name, part.input)
    text = json.dumps(asked, sort_keys=True, default=str)
    return f"approve-{hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]}"


def same_arguments(ours: Any, theirs: Any) -> bool:
    """Whether a client's arguments of a call are ours, but for what JavaScript does to numbers:
    1.0 becomes 1, and whole numbers above EXACT are rounded."""
    return _in_javascript(ours) == _in_javascript(theirs)


def _in_javascript(value: Any) -> str:
    return json.dumps(_rounded(value), sort_keys=True, default=str)


def _rounded(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        try:
            return value if abs(value) <= EXACT else int(float(value))
        except OverflowError:
            return str(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Mapping):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    return value


def _from_outside(part: Part, message_id: str) -> Part:
    if not isinstance(part, ToolPart):
        return part
    if part.settled:
        title = None if part.title is None else plain_line(part.title)
        return part if title == part.title else replace(part, title=title)
    # The question is this server's: it names the tool, never a title from outside.
    asked = replace(_asked_again(part, message_id), title=None)
    if asked.state in ("input-available", "input-streaming"):
        return replace(asked, approval=None)
    return asked


def _asked_again(part: ToolPart, message_id: str) -> ToolPart:
    if part.state not in ("approval-requested", "approval-responded"):
        return part
    if part.approval is not None and part.approval.approved is False:
        return replace(part, state="output-denied")
    question = Approval(approval_id(message_id, part))
    return replace(part, state="approval-requested", approval=question)


def _is_open(part: Part, calls: Mapping[str, int]) -> bool:
    """Whether the part is a call that is not settled and whose id another call has."""
    return isinstance(part, ToolPart) and not part.settled and calls[part.tool_call_id] > 1


def _not_its_own(part: Part) -> Part:
    assert isinstance(part, ToolPart)
    failed = replace(part, state="output-error", error_text=NOT_ITS_OWN)
    return replace(failed, approval=None, title=None)


def _from_file(part: Part) -> Part:
    if isinstance(part, TextPart):
        return replace(part, text=without_tags(part.text))
    if isinstance(part, ToolPart) and part.state == "input-available":
        return replace(part, state="output-error", error_text=NOT_RUN)
    return part
