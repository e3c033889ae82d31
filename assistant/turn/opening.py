"""What a turn begins with: the messages that its request adds, its history, and its answer.

`open_in_chat` reads the chat once and says what a request means for it (`chats.reconcile`);
`service` stores that in one transaction. A message that the store cannot keep, not even in memory,
is refused before a model is asked (StoreError): the user can send it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ..chats import (
    HEAD,
    NOT_READ,
    Append,
    Begun,
    Branch,
    ChatStore,
    Import,
    Intention,
    Parent,
    Resume,
    TurnStart,
    Versions,
    WorkflowName,
    edited,
    reconcile,
    title_for,
)
from ..chats.reconcile import REGENERATE
from ..errors import InvalidRequest
from ..messages.conversion import to_prompt
from ..messages.origin import events_before, is_event, sent_by_a_client, without_events
from ..messages.parts import Message
from ..user_context.skills import SkillLibrary
from .decisions import once
from .open_questions import OpenQuestions
from .slash.skill_command import Expanded, expand, has_content
from .slash.slash_commands import Slash, answers_marked
from .turn_request import TurnRequest


@dataclass(frozen=True, slots=True)
class Opening:
    """What a turn begins with.

    `history` ends with the user message. `answer` is the message to write; it has parts already
    when a suspended turn goes on. `reply` is an answer that needs no model, `slash` a command that
    the server answers itself. `version` is the place of the answer among the earlier answers to its
    question (None: it is the first), which is known when the turn has begun in the store. `events`
    came since the user message before; they are not part of the history.

    How the chat's path changes: `dropped` messages after the message `after` (None: from the
    beginning) leave the path, then `added` come. The answer is not counted. `from_queue` is the id
    of the request's entry in the chat's queue.
    """

    history: tuple[Message, ...]
    answer: Message
    reply: str | None = None
    slash: Slash | None = None
    version: Versions | None = None
    after: str | None = None
    dropped: int = 0
    added: tuple[Message, ...] = ()
    events: tuple[Message, ...] = ()
    from_queue: str | None = None


@dataclass(frozen=True, slots=True)
class _Continuation:
    """How a request continues its chat: the messages `kept` of the path stay, the messages `new`
    follow, and the answer follows the message `parent` (HEAD: the last of `new`).

    Without `new` the question is asked again, or its suspended answer goes on.
    """

    kept: tuple[Message, ...]
    new: tuple[Message, ...]
    answer: Message
    parent: Parent

    @property
    def asked(self) -> tuple[Message, ...]:
        """The new messages, else the question that is asked again."""
        return self.new or without_events(self.kept)[-1:]

    @property
    def before(self) -> tuple[Message, ...]:
        """The path before the messages `asked`."""
        return self.kept if self.new else self.kept[: self.kept.index(self.asked[0])]


async def open_stateless(
    request: TurnRequest, skills: SkillLibrary, new_id: str, questions: OpenQuestions
) -> Opening:
    """The opening of a request without a chat id: nothing is stored but the `questions` that the
    server asked, which the request may answer.

    Raises InvalidRequest when there is nothing to answer, and Conflict (`nothing_waits`) for a
    decision on a call that was not asked about."""
    sent = request.messages or ((request.message,) if request.message else ())
    if request.trigger == REGENERATE:
        while sent and sent[-1].role == "assistant":
            sent = sent[:-1]
    intention = reconcile((), sent, request.trigger, recorded=questions.answered)
    continuation = _continuation(intention, (), new_id)
    # Before anything is awaited: another request must not use the same approval.
    questions.close(continuation.answer)
    expanded = [await expand(message, skills) for message in continuation.new]
    reply, slash = _without_model(expanded[-1], continuation.answer)
    history = (*_system(sent), *(item.message for item in expanded))
    return Opening(history, continuation.answer, reply, slash=slash)


async def open_in_chat(
    request: TurnRequest,
    chat_id: str,
    store: ChatStore,
    skills: SkillLibrary,
    new_id: str,
    from_queue: str | None = None,
    is_new: bool = False,
) -> tuple[Opening, TurnStart]:
    """The opening of a request of a chat, and what the store is to begin the turn with.
    `from_queue` is the id of the request's entry in the chat's queue. A chat that `is_new` was
    looked for a moment ago and is not stored.

    Raises InvalidRequest, NotFound and Conflict as `reconcile` and the store do.
    """
    chat, path = (None, NOT_READ) if is_new else await store.find_path(chat_id)
    stored = path.messages
    intention = _intention(request, stored)
    if isinstance(intention, Resume):
        settled = await store.settled_calls(chat_id, intention.message.id)
        intention = replace(intention, message=once(intention.message, settled))
    continuation = _continuation(intention, stored, new_id)
    answer = addressed(continuation.answer, request.client_id)
    expanded = [
        await expand(message, skills, continuation.before) for message in continuation.asked
    ]
    asked = tuple(item.message for item in expanded)
    # A `/skill` message that is asked again may name a skill that did not exist the first time: the
    # skill's text is stored now.
    changed = asked != continuation.asked and not answer.parts
    added = asked if chat is None or continuation.new or changed else ()
    stays = continuation.before if added else continuation.kept
    gone = tuple(message for message in stored[len(stays) :] if message.id != answer.id)
    # No turn has read the events that leave the path with the answer before them.
    events = (*events_before(continuation.before, asked), *filter(is_event, gone))
    reply, slash = _without_model(expanded[-1], answer)
    before = path.said if continuation.before is stored else without_events(continuation.before)
    opening = Opening(
        history=(*_system(request.messages), *before, *asked),
        answer=answer,
        reply=reply,
        slash=slash,
        after=stays[-1].id if stays else None,
        dropped=len(gone),
        added=added,
        events=events,
        from_queue=from_queue,
    )
    untitled = chat is None or (added and all(map(is_event, stored)))
    start = TurnStart(
        answer=answer,
        messages=added,
        after=continuation.parent if continuation.new else opening.after,
        parent=continuation.parent,
        new=chat is None,
        title=_title(asked) if untitled else None,
        workflow=_workflow(request),
        from_queue=from_queue,
        # Only a question that was asked before can have earlier answers.
        question=asked[-1].id if gone or not added else None,
    )
    return opening, start


def open_suspended(path: tuple[Message, ...], answer: Message) -> tuple[Opening, TurnStart]:
    """The opening of a suspended turn that goes on with `answer`, the last message of `path` after
    a decision: nothing is added to the log before it."""
    history = without_events(path[:-1])
    parent = path[-2].id if len(path) > 1 else None
    question = history[-1].id if history else None
    opening = Opening(history, answer, events=events_before(path))
    return opening, TurnStart(answer, parent=parent, question=question)


def begun_as(opening: Opening, begun: Begun) -> Opening:
    """The opening with the answer's version, after the turn has begun in the store."""
    every = begun.answers
    if opening.answer.id not in every:
        every = (*every, opening.answer.id)
    place = every.index(opening.answer.id)
    return replace(opening, version=Versions(place, every) if len(every) > 1 else None)


def addressed(answer: Message, client_id: str | None) -> Message:
    """The answer with the panel that runs its panel tools, in `metadata.client_id`."""
    if client_id is None:
        return answer
    return replace(answer, metadata={**answer.metadata, "client_id": client_id})


def _title(messages: Sequence[Message]) -> str:
    return title_for(next(message for message in messages if message.role == "user"))


def _without_model(asked: Expanded, answer: Message) -> tuple[str | None, Slash | None]:
    """The answer that needs no model, and the slash command; neither for a suspended turn."""
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
        return edited(stored, request.message_id, message)
    last = next((one for one in reversed(stored) if not is_event(one)), None)
    if last is not None and last.id == message.id:
        # The first request with this message stored it and failed then.
        return reconcile(stored, (*without_events(stored)[:-1], message))
    if message.id in [earlier.id for earlier in stored]:
        raise InvalidRequest(f"the id {message.id!r} is used already", where="message.id")
    return Append(message) if last is not None else Import((message,))


def _continuation(intention: Intention, stored: tuple[Message, ...], new_id: str) -> _Continuation:
    """Raises InvalidRequest when there is nothing to answer."""
    kept = stored
    parent: Parent = HEAD
    messages: tuple[Message, ...] = ()
    if isinstance(intention, Import):
        messages = intention.messages
    elif isinstance(intention, Append):
        messages = (intention.message,)
    else:
        kept, parent = _up_to(stored, intention.parent_id), intention.parent_id
        if isinstance(intention, Resume):
            messages = (intention.message,)
        elif isinstance(intention, Branch):
            messages = intention.messages
    new, answer = _split(messages, new_id)
    _check(kept, new, answer)
    return _Continuation(kept, sent_by_a_client(answers_marked(new)), answer, parent)


def _up_to(stored: tuple[Message, ...], message_id: str | None) -> tuple[Message, ...]:
    if message_id is None:
        return ()
    place = next(n for n, message in enumerate(stored) if message.id == message_id)
    return stored[: place + 1]


def _split(messages: tuple[Message, ...], new_id: str) -> tuple[tuple[Message, ...], Message]:
    """The messages before the answer, and the answer: the last message if that is the
    assistant's."""
    if messages and messages[-1].role == "assistant":
        return messages[:-1], messages[-1]
    return messages, Message(new_id, "assistant", ())


def _system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The client's system messages. They hold for this request only and come first (R3)."""
    return tuple(message for message in messages if message.role == "system")


def goes_on(answer: Message) -> bool:
    """Whether a model can continue the answer: it is empty, or it ends with tool results."""
    prompt = to_prompt((answer,))
    return not answer.parts or (bool(prompt) and prompt[-1].role == "tool")


def _check(kept: tuple[Message, ...], new: tuple[Message, ...], answer: Message) -> None:
    newest_first = chain(reversed(new), (one for one in reversed(kept) if not is_event(one)))
    asked = next((message for message in newest_first if message.role == "user"), None)
    if asked is None:
        raise InvalidRequest("expected a user message to answer, got none", where="messages")
    if not has_content(asked):
        raise InvalidRequest("the last user message is empty", where="messages")
    if not goes_on(answer):
        raise InvalidRequest("nothing to answer: the last message is complete", where="messages")


def _workflow(request: TurnRequest) -> WorkflowName | None:
    snapshot = request.workflow
    return WorkflowName(snapshot.id, snapshot.name) if snapshot.name else None
