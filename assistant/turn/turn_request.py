"""What a client asks for with `POST /api/chat` or a command that begins a turn. A plain value."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..chats.reconcile import SUBMIT
from ..messages.parts import Message
from ..workflow.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A request for one turn: the whole list (`messages`), or one new user message (`message`).

    `message_id` is the message to replace or to answer again. `client_id` is the panel that tool
    calls for a panel go to. Without a `chat_id` nothing is stored.
    """

    messages: tuple[Message, ...] = ()
    message: Message | None = None
    chat_id: str | None = None
    trigger: str = SUBMIT
    message_id: str | None = None
    workflow: Snapshot = field(default_factory=Snapshot)
    client_id: str | None = None

    @property
    def new_message(self) -> Message | None:
        """The user message that is asked; None to give another answer, and for a list that ends
        with an answer."""
        last = self.message or (self.messages[-1] if self.messages else None)
        asks = self.trigger == SUBMIT and last is not None and last.role == "user"
        return last if asks else None
