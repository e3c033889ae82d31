"""How a message gets into a chat: it begins a turn, or waits in the queue of a busy chat.

    await submissions.say(command, sender, busy=False)          the command `user_message`
    await submissions.submit(request, priority, busy=False)     `POST /api/chat`, answered at once
    request = await submissions.again(command, sender)          the request of a retry

Whether the chat's state takes the message is decided in `chat_session`, which holds its lock of
commands meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..chats import ChatState
from ..chats.identity import message_id as check_message_id
from ..chats.reconcile import REGENERATE, SUBMIT
from ..errors import InvalidRequest
from ..messages.origin import without_events
from ..messages.parts import FilePart, Message
from ..turn.slash.skill_command import has_content
from ..turn.stream import TurnStream
from ..turn.turn_request import TurnRequest
from ..workflow.snapshot import Snapshot
from . import commands
from .chat_turns import ChatTurns
from .live_chat import LiveChat
from .message_queue import MessageQueue
from .path import ChatPath
from .serialization import Json
from .session_services import SessionServices
from .states import WAITS_FOR_ANSWER


@dataclass(frozen=True, slots=True)
class Sender:
    """The client that sent a command: its panel, and the workflow that is open there."""

    client_id: str | None = None
    workflow: Snapshot = field(default_factory=Snapshot)


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did: the id of the chat that it made, if any, whether its message answered a
    question, and what a panel is told besides: the verdict on an edit, or what its canvas has to
    do."""

    made: str | None = None
    answered: bool = False
    told: Json = field(default_factory=dict)

    def to_json(self) -> Json:
        """The fields of the answer."""
        made = {} if self.made is None else {"chat_id": self.made}
        return {**made, **({"answered": True} if self.answered else {}), **self.told}


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a client gets for a message that was taken. `seq` is the number of the last event before
    it, `queued` the number of messages that wait. `answered`: the message is the answer to a
    question, and begins no turn."""

    id: str
    message_id: str
    seq: int
    epoch: str
    state: ChatState
    queued: int
    answered: bool = False


def kind_of(request: TurnRequest) -> str:
    """The command that does the same as the request: its row in the table of `gates`."""
    if request.new_message is None:
        return "regenerate"
    return "user_message" if request.message_id is None else "retry_from_index"


class Submissions:
    """For one chat. Methods raise the errors of the store and of `turn.opening`."""

    def __init__(
        self,
        chat_id: str,
        services: SessionServices,
        live: LiveChat,
        path: ChatPath,
        turns: ChatTurns,
        queue: MessageQueue,
    ) -> None:
        self._id = chat_id
        self._store = services.store
        self._service = services.turns
        self._new_message_id = services.new_message_id
        self._live = live
        self._path = path
        self._turns = turns
        self._queue = queue

    async def submit(self, request: TurnRequest, priority: bool, *, busy: bool) -> Submitted:
        """Begins the request's turn, or queues its message where the chat is `busy`. A message that
        the log or the queue knows changes nothing, whatever its text. Raises Refused for a full
        queue."""
        new, seq = request.new_message, self._live.events.seq
        if new is None:
            if request.trigger == SUBMIT:
                raise InvalidRequest("expected a new user message at the end", where="messages")
            stream = await self._turns.begin(request)
            return self._submitted(stream.message.id, seq)
        _check(new)
        if new.id in self._live.answered_by:
            return self._submitted(new.id, seq, answered=True)
        if new.id != request.message_id and await self.knows(new.id):
            return self._submitted(new.id, seq)
        if self._live.state == WAITS_FOR_ANSWER and request.message_id is None:
            await self.answer(new, request.client_id)
            return self._submitted(new.id, seq, answered=True)
        if request.message_id is not None:
            retry = commands.RetryFromIndex(message_id=request.message_id, message=new)
            sender = Sender(request.client_id, request.workflow)
            request = await self.again(retry, sender)
            new = request.message or new
        elif await self._waits(new, priority, request, busy=busy):
            return self._submitted(new.id, seq)
        await self._turns.begin(request)
        return self._submitted(new.id, seq)

    async def answer(self, message: Message, client_id: str | None) -> TurnStream:
        """Answers the chat's question with the message's text; what is queued stays queued. Raises
        InvalidRequest for a message with more than text: a result holds nothing else."""
        if any(isinstance(part, FilePart) for part in message.parts):
            raise InvalidRequest(
                "the assistant waits for an answer in words; send the file after it",
                where="message.parts",
            )
        return await self._turns.answer(message.text, message.id, client_id)

    async def say(self, command: commands.UserMessage, sender: Sender, *, busy: bool) -> bool:
        """Begins a turn, or queues the message behind the messages that wait already, or answers
        the chat's question with it; returns whether it is such an answer. A message that was sent
        before changes nothing."""
        message = command.message
        _check(message)
        if message.id in self._live.answered_by:
            return True
        if self._queue.holds(message.id):
            return False
        path = without_events(await self._path.messages())
        asked = next((other for other in reversed(path) if other.role == "user"), None)
        if asked is not None and asked.id == message.id and (busy or asked is not path[-1]):
            # Sent again by a client that did not get the answer to its first request.
            return False
        if any(other.id == message.id for other in path[:-1]):
            raise InvalidRequest(f"the id {message.id!r} is used already", where="message.id")
        if self._live.state == WAITS_FOR_ANSWER:
            await self.answer(message, sender.client_id)
            return True
        request = TurnRequest(
            message=message,
            chat_id=self._id,
            workflow=sender.workflow,
            client_id=sender.client_id,
        )
        if not await self._waits(message, command.priority, request, busy=busy):
            await self._turns.begin(request)
        return False

    async def _waits(
        self, message: Message, priority: bool, request: TurnRequest, *, busy: bool
    ) -> bool:
        """Queues the message if the chat is `busy` or other messages wait; else returns False."""
        if not (busy or self._live.queue):
            return False
        if request.workflow.graph is not None:
            self._service.keep_workflow(self._id, message.id, request.workflow)
        await self._queue.add(message, priority, request.client_id)
        if not busy:
            self._queue.release()
            await self._queue.run_next()
        return True

    async def again(
        self, command: commands.RetryFromIndex | commands.Regenerate, sender: Sender
    ) -> TurnRequest:
        request = TurnRequest(
            chat_id=self._id,
            trigger=REGENERATE,
            workflow=sender.workflow,
            client_id=sender.client_id,
        )
        if isinstance(command, commands.Regenerate):
            return replace(request, message_id=command.message_id)
        _, asked = await self._path.target(command)
        if asked.role != "user":
            raise InvalidRequest("expected the place of a user message", where="index")
        request = replace(request, message_id=asked.id)
        if command.message is None:
            return request
        if not has_content(command.message):
            raise InvalidRequest("the message is empty", where="message")
        new = command.message
        if new.id == asked.id:
            # A new id makes the old message a version; under its own id it would be replaced.
            new = replace(new, id=self._new_message_id())
        return replace(request, trigger=SUBMIT, message=new)

    async def knows(self, message_id: str) -> bool:
        """Whether the chat's log or its queue has a message of this id: it was sent before."""
        if not self._live.exists:
            return False
        return self._queue.holds(message_id) or await self._store.knows(self._id, message_id)

    def _submitted(self, message_id: str, seq: int, *, answered: bool = False) -> Submitted:
        live = self._live
        epoch, queued = live.events.epoch, len(live.queue)
        return Submitted(self._id, message_id, seq, epoch, live.state, queued, answered)


def _check(message: Message) -> None:
    """Raises InvalidRequest for a message that no turn could answer: it must not wait for one."""
    if not has_content(message):
        raise InvalidRequest("the message is empty", where="message")
    check_message_id(message.id)
