"""What a request means for its chat, and what the turn begins with.

`open_in_chat` carries out in the log what `chats.reconcile` says, and gives the history that the
model reads and the answer that the turn writes: a new one, or a suspended one that goes on.

What the store cannot even keep in memory is refused before anything is asked (StoreError): an
answer to a message that the log does not have would be lost with it, and the user can send the
message again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..chats import (
    HEAD,
    Append,
    Branch,
    ChatStore,
    Import,
    Intention,
    Parent,
    Regenerate,
    Resume,
    WorkflowName,
    reconcile,
    replace,
    title_for,
)
from ..errors import InvalidRequest
from ..messages.conversion import to_prompt
from ..messages.parts import Message
from ..user_context.skills import SkillLibrary
from ..workflow.view import Snapshot
from .slash.commands import Slash
from .slash.skill_command import Expanded, expand, has_content

SUBMIT = "submit-message"
REGENERATE = "regenerate-message"


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A parsed `POST /api/chat`: the whole list (`messages`), or one new user message."""

    messages: tuple[Message, ...] = ()
    message: Message | None = None
    chat_id: str | None = None
    trigger: str = SUBMIT
    message_id: str | None = None
    workflow: Snapshot = field(default_factory=Snapshot)
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn begins with.

    `history` ends with the user message, `answer` is the message to write (it has parts already
    when a suspended turn goes on), `reply` is an answer that needs no model, `slash` a command that
    the server answers itself, and `parent` is where the answer stands in the log.

    What became of the chat's path: after the message `after` of it (None: from its beginning)
    `left` messages were dropped and `added` came. The answer is not counted.
    """

    history: tuple[Message, ...]
    answer: Message
    reply: str | None = None
    parent: Parent = HEAD
    slash: Slash | None = None
    after: str | None = None
    left: int = 0
    added: tuple[Message, ...] = ()


async def open_without_chat(request: TurnRequest, skills: SkillLibrary, new_id: str) -> Opening:
    """The opening of a request without a chat id: nothing is stored.

    Raises InvalidRequest when there is nothing to answer."""
    sent = request.messages or ((request.message,) if request.message else ())
    if request.trigger == REGENERATE:
        while sent and sent[-1].role == "assistant":
            sent = sent[:-1]
    messages, _, _ = _continuation(reconcile((), sent, request.trigger), ())
    history, answer = _split(messages, new_id)
    _check(history, answer)
    asked = [await expand(message, skills) for message in history]
    reply, slash = _without_model(asked[-1], answer)
    messages = (*_system(sent), *(item.message for item in asked))
    return Opening(messages, answer, reply, slash=slash)


async def open_in_chat(
    request: TurnRequest,
    chat_id: str,
    store: ChatStore,
    skills: SkillLibrary,
    new_id: str,
    from_queue: str | None = None,
) -> Opening:
    """The opening of a request of a chat; what is new is in the log when this returns, and what it
    was in the queue (the entry `from_queue`) is not there any more.

    Raises InvalidRequest, NotFound and Conflict as `reconcile` and the store do.
    """
    exists = await store.get(chat_id) is not None
    stored = await store.path(chat_id) if exists else ()
    intention = _intention(request, stored)
    messages, kept, parent = _continuation(intention, stored)
    new, answer = _split(messages, new_id)
    _check((*kept, *new), answer)
    asked = [await expand(message, skills) for message in (new or kept[-1:])]
    expanded = tuple(item.message for item in asked)
    before = kept if new else kept[:-1]
    added: tuple[Message, ...] = ()
    if not exists:
        first = next(message for message in expanded if message.role == "user")
        await store.import_messages(chat_id, expanded, title_for(first), _workflow(request))
        parent, added = HEAD, expanded
    elif new or (expanded != kept[-1:] and not answer.parts):
        # Asked again, a command may name a skill that there was not before: the log has its text.
        after = parent if new else (before[-1].id if before else None)
        await store.append_all(chat_id, expanded, after, from_queue)
        parent, added = HEAD, expanded
        if not stored:
            first = next(message for message in expanded if message.role == "user")
            await store.set_title(chat_id, title_for(first), "rule")
    reply, slash = _without_model(asked[-1], answer)
    history = (*_system(request.messages), *before, *expanded)
    stays = before if added else kept
    left = sum(message.id != answer.id for message in stored[len(stays) :])
    last = stays[-1].id if stays else None
    return Opening(history, answer, reply, parent, slash, last, left, added)


def _without_model(asked: Expanded, answer: Message) -> tuple[str | None, Slash | None]:
    """What is answered without asking a model; nothing where a suspended turn goes on."""
    return (asked.answer, asked.slash) if not answer.parts else (None, None)


def _intention(request: TurnRequest, stored: tuple[Message, ...]) -> Intention:
    message = request.message
    if message is None:
        if request.trigger == REGENERATE and not request.messages:
            return reconcile(stored, stored, REGENERATE, request.message_id)
        return reconcile(stored, request.messages, request.trigger, request.message_id)
    if message.role != "user":
        raise InvalidRequest("expected a user message", where="message.role")
    if request.message_id is not None:
        return replace(stored, request.message_id, message)
    if stored and stored[-1].id == message.id:
        # The same message again: its first request was stored and then failed.
        return reconcile(stored, (*stored[:-1], message))
    if any(message.id == earlier.id for earlier in stored):
        raise InvalidRequest(f"the id {message.id!r} is used already", where="message.id")
    return Append(message) if stored else Import((message,))


def _continuation(
    intention: Intention, stored: tuple[Message, ...]
) -> tuple[tuple[Message, ...], tuple[Message, ...], Parent]:
    """The messages to add, the stored ones before them, and the parent of the first."""
    if isinstance(intention, Import):
        return intention.messages, (), HEAD
    if isinstance(intention, Append):
        return (intention.message,), stored, HEAD
    if isinstance(intention, Regenerate):
        return (), _up_to(stored, intention.parent_id), intention.parent_id
    if isinstance(intention, Resume):
        kept = _up_to(stored, intention.parent_id)
        return (intention.message,), kept, intention.parent_id
    assert isinstance(intention, Branch), f"unknown intention {intention!r}"
    return intention.messages, _up_to(stored, intention.parent_id), intention.parent_id


def _up_to(stored: tuple[Message, ...], message_id: str | None) -> tuple[Message, ...]:
    if message_id is None:
        return ()
    place = next(n for n, message in enumerate(stored) if message.id == message_id)
    return stored[: place + 1]


def _split(messages: tuple[Message, ...], new_id: str) -> tuple[tuple[Message, ...], Message]:
    """The messages before the answer, and the answer: the last message where it is one."""
    if messages and messages[-1].role == "assistant":
        return messages[:-1], messages[-1]
    return messages, Message(new_id, "assistant", ())


def _system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The client's system messages, which hold for this request and stand in front (R3)."""
    return tuple(message for message in messages if message.role == "system")


def goes_on(answer: Message) -> bool:
    """Whether a model can go on with an answer: it is new, or it ends with calls."""
    prompt = to_prompt((answer,))
    return not answer.parts or (bool(prompt) and prompt[-1].role == "tool")


def _check(history: tuple[Message, ...], answer: Message) -> None:
    users = [message for message in history if message.role == "user"]
    if not users:
        raise InvalidRequest("expected a user message to answer, got none", where="messages")
    if not has_content(users[-1]):
        raise InvalidRequest("the last user message is empty", where="messages")
    if not goes_on(answer):
        raise InvalidRequest("nothing to answer: the last message is complete", where="messages")


def _workflow(request: TurnRequest) -> WorkflowName | None:
    snapshot = request.workflow
    return WorkflowName(snapshot.id, snapshot.name) if snapshot.name else None
