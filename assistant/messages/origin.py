"""Where a user message comes from. The server sets it; what a client claims is replaced.

Only messages of origin `person` are the user's own words. `metadata.origin` holds the origin in the
log and on the wire. Messages that were stored before there were origins count as `person`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, get_args

from .parts import Message

Origin = Literal["person", "task", "model", "hook", "schedule", "event", "imported"]
ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
FIELD: Final = "origin"
HIDDEN: Final = "hidden"
"""`metadata.hidden` is True for messages that clients do not show; the server's, too."""


def origin_of(message: Message) -> Origin:
    """The origin of a user message."""
    found = message.metadata.get(FIELD)
    return next((origin for origin in ORIGINS if origin == found), "person")


def with_origin(message: Message, origin: Origin) -> Message:
    """A user message with this origin; a message of another role unchanged."""
    if message.role != "user":
        return message
    kept = {name: value for name, value in message.metadata.items() if name != HIDDEN}
    return replace(message, metadata={**kept, FIELD: origin})


def sent_by_a_client(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """New messages of a request: the last user message is a person's, earlier ones are imported."""
    users = [index for index, message in enumerate(messages) if message.role == "user"]
    last = users[-1] if users else None
    return tuple(
        with_origin(message, "person" if index == last else "imported")
        for index, message in enumerate(messages)
    )
