"""The parts that the sessions of one ComfyUI user share. Built by `sessions`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ..chats import Branches, ChatQueue, ChatStore
from ..turn.service import TurnService
from .serialization import Json


@dataclass(frozen=True, slots=True)
class SessionServices:
    """`on_branch` is called with the list's entry of a new chat that was branched from another;
    `now` gives UTC times."""

    store: ChatStore
    queue: ChatQueue
    branches: Branches
    turns: TurnService
    on_branch: Callable[[Json], None]
    now: Callable[[], datetime]
    new_message_id: Callable[[], str]
