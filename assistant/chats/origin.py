"""Where the text of a user message comes from. Pure.

The server sets `metadata.origin` of each user message. A message from before that has none, and
counts as a person's.
"""

from __future__ import annotations

from typing import Any, Final, Literal, cast, get_args

from ..messages.parts import Message

MessageOrigin = Literal["person", "task", "model", "hook", "schedule", "event", "imported"]
EVENT: Final = "event"
"""The origin of an event, which is also its role in the log: a hidden message that reports what
happened, such as a finished run of a workflow. On the wire it is a user message."""
EVENT_METADATA: Final[dict[str, Any]] = {"origin": EVENT, "hidden": True}

_ORIGINS: Final = frozenset(get_args(MessageOrigin))


def origin_of(message: Message) -> MessageOrigin:
    """The origin of a user message; `person` where none is known."""
    origin = message.metadata.get("origin")
    return cast(MessageOrigin, origin) if origin in _ORIGINS else "person"


def is_event(message: Message) -> bool:
    return message.role == "user" and origin_of(message) == EVENT


def role_in_log(message: Message) -> str:
    """The role of the message's row: `user`, `assistant` or `event`."""
    return EVENT if is_event(message) else message.role
