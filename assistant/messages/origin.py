"""Where a user message comes from. The server sets it; an origin that a client sends is replaced.

Only messages of origin `person` are the user's own words. `metadata.origin` holds the origin in the
log and on the wire. Messages that were stored before there were origins count as `person`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final, Literal, get_args

from .parts import Message

MessageOrigin = Literal["person", "task", "model", "hook", "schedule", "event", "imported"]
ORIGINS: Final[tuple[MessageOrigin, ...]] = get_args(MessageOrigin)
FIELD: Final = "origin"
HIDDEN: Final = "hidden"
"""`metadata.hidden` is True for messages that clients do not show. Only the server sets it."""
EVENT: Final = "event"
"""The origin of an event, which is also its role in the log: a hidden message that reports what
happened, such as a finished run of a workflow. On the wire it is a user message."""
EVENT_METADATA: Final[dict[str, Any]] = {FIELD: EVENT, HIDDEN: True}


def origin_of(message: Message) -> MessageOrigin:
    """The origin of a user message."""
    found = message.metadata.get(FIELD)
    return next((origin for origin in ORIGINS if origin == found), "person")


def is_event(message: Message) -> bool:
    return message.role == "user" and message.metadata.get(FIELD) == EVENT


def role_in_log(message: Message) -> str:
    """The role of the message's row: `user`, `assistant` or `event`."""
    return EVENT if is_event(message) else message.role


def without_events(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages that are part of the conversation; `messages` itself, a tuple without events."""
    # Asked several times in a turn, of thousands of messages: no call for each, and no copy.
    said = [one for one in messages if one.role != "user" or one.metadata.get(FIELD) != EVENT]
    if isinstance(messages, tuple) and len(said) == len(messages):
        return messages
    return tuple(said)


def events_before(
    messages: Sequence[Message], newer: Sequence[Message] = ()
) -> tuple[Message, ...]:
    """The events between the last user message and the user message before it: the turn of the last
    user message is the first turn that reads them. The messages `newer` follow `messages`."""
    found: list[Message] = []
    last_seen = False
    for message in chain(reversed(newer), reversed(messages)):
        if is_event(message):
            found += [message] * last_seen
        elif message.role == "user":
            if last_seen:
                break
            last_seen = True
    return tuple(reversed(found))


def with_origin(message: Message, origin: MessageOrigin) -> Message:
    """A user message with this origin; a message of another role unchanged."""
    if message.role != "user":
        return message
    kept = {name: value for name, value in message.metadata.items() if name != HIDDEN}
    return replace(message, metadata={**kept, FIELD: origin})


def imported(message: Message) -> Message:
    """A message of an imported chat; an event stays an event."""
    return message if is_event(message) else with_origin(message, "imported")


def sent_by_a_client(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """New messages of a request: the last user message is a person's, earlier user messages are
    imported."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    last = users[-1] if users else None
    return tuple(
        with_origin(message, "person" if index == last else "imported")
        for index, message in enumerate(messages)
    )
