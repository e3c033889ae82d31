"""A chat as its readers have it at this moment; each change is sent to them as an event.

    live.enter("generating")                 checked against the table of states
    live.started(message, version)
    live.chunk(chunk)
    live.finished(message, "idle")

This is the only module that sends a chat's events. Each change is sent at once, so a reader that
applies all events has the state that `snapshot` returns. Nothing is stored here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..chats import Chat, ChatState, Queued, Versions
from ..chats.chat_json import chat_json
from ..errors import AssistantError
from ..messages.chunks import Chunk
from ..messages.merged_chunks import MergedChunks
from ..messages.parts import Message
from ..messages.waiting import waiting
from ..turn.decisions import answering_ids
from .canvases import Canvases
from .event_log import EventLog
from .serialization import (
    Json,
    call_json,
    entry_of,
    queue_json,
    version_json,
    versions_json,
    waiting_json,
)
from .states import STOPPABLE, TRANSITIONS, WAITING

CONTEXT: Final = "data-context"
"""The type of the chunk that holds a request's report."""
PAGE: Final = 50
"""Most messages in a snapshot: those at the end of the path."""


@dataclass(frozen=True, slots=True)
class Page:
    """The messages at the end of the current path, and their versions. `has_more` says whether the
    path has older messages."""

    messages: tuple[Message, ...]
    has_more: bool
    versions: Mapping[str, Versions]


@dataclass(slots=True)
class _Stream:
    """The streaming answer: the message as it was when it began, and the chunks since."""

    message: Message
    version: Versions | None
    chunks: MergedChunks


class LiveChat:
    """One chat. `changed(entry, is_new)` is called when the chat's entry in the list changes.
    `saving` returns whether messages are saved, and if not, why."""

    def __init__(
        self,
        events: EventLog,
        changed: Callable[[Json, bool], None],
        saving: Callable[[], Json],
    ) -> None:
        self.events = events
        self.state: ChatState = "idle"
        self.queue: tuple[Queued, ...] = ()
        self.held = False
        self.draft: str | None = None
        self.client_id: str | None = None
        """The panel that runs the panel tools of the answer."""
        self.end: str | None = None
        """The id of the last message that readers have; None in an empty chat."""
        self._changed = changed
        self._saving = saving
        self._chat: Json = {}
        self._compacting: Json | None = None
        self.answered_by: set[str] = set()
        """The ids of messages that answered questions: they are in no log."""
        self._waiting: tuple[Json, ...] = ()
        self._handed: Json | None = None
        self._undone: tuple[str, ...] = ()
        self._error: Json | None = None
        self._context: Json | None = None
        self._stream: _Stream | None = None
        self._clients: Counter[str | None] = Counter()
        self.canvases = Canvases()
        self._known = PAGE
        self._runtime: Json = self._runtime_json()

    def load(
        self, chat: Chat, queue: Sequence[Queued], last: Message | None, end: str | None
    ) -> None:
        """Takes over the stored chat; sends no event. `last` is the last message of the
        conversation, `end` the id of the last message of the path, which may be an event."""
        self.state, self.draft = chat.state, chat.draft
        self.queue, self.held = tuple(queue), bool(queue)
        self._chat = chat_json(chat, self._compacting)
        self._take_from(last)
        self.end = end
        self._runtime = self._runtime_json()

    @property
    def exists(self) -> bool:
        """Whether the chat is stored."""
        return bool(self._chat)

    @property
    def unread(self) -> bool:
        return bool(self._chat.get("unread"))

    @property
    def streams(self) -> str | None:
        """The id of the streaming answer."""
        return self._stream.message.id if self._stream is not None else None

    @property
    def watched(self) -> bool:
        """Whether any reader is subscribed."""
        return self._clients.total() > 0

    def present(self, client_id: str | None) -> bool:
        """Whether that panel is subscribed."""
        return client_id is not None and self._clients[client_id] > 0

    def reader_joined(self, client_id: str | None, canvas: bool = False) -> None:
        """`canvas`: the reader carries out edits on a canvas."""
        self._clients[client_id] += 1
        if canvas:
            self.canvases.joined(client_id)
        self.tell_runtime()

    def reader_left(self, client_id: str | None, canvas: bool = False) -> None:
        self._clients[client_id] -= 1
        if not self._clients[client_id]:
            del self._clients[client_id]
        if canvas:
            self.canvases.left(client_id)
        self.tell_runtime()

    def hand_over(self, call: Json | None, client_id: str | None) -> None:
        """A call of the running turn waits for this panel; None: not any more. The caller enters
        the state, which sends it."""
        self._handed = call
        if call is not None:
            self.client_id = client_id

    def set_undone(self, undone: tuple[str, ...]) -> None:
        """The answers whose edits are taken back."""
        self._undone = undone
        self.tell_runtime()

    def snapshot(self, page: Page) -> Json:
        """The body of a snapshot, with its messages as they are. The caller has read `page` and
        holds the path's lock."""
        stream = self._stream
        shown = [message for message in page.messages if message.id != self.streams]
        kept = shown[-PAGE:]
        # The new reader has these messages only; readers that came before may have more.
        self._known = min(self._known, PAGE)
        found = {message.id: page.versions.get(message.id) for message in kept}
        if stream is not None:
            found[stream.message.id] = stream.version
        return {
            "chat": self._chat,
            "messages": kept,
            "has_more": page.has_more or len(shown) > len(kept),
            "versions": versions_json({name: one for name, one in found.items() if one}),
            "stream": stream and {"message": stream.message, "chunks": stream.chunks.chunks},
            "queue": queue_json(self.queue),
            "held": self.held,
            "draft": self.draft,
            "runtime": self._runtime,
            "context": self._context,
        }

    # States and the chat's own fields.

    def enter(self, state: ChatState) -> None:
        """Enters a state. Raises ValueError for a change that is not in the table."""
        if (self.state, state) not in TRANSITIONS:
            raise ValueError(f"no chat goes from {self.state} to {state}")
        self.state = state
        if state in STOPPABLE:
            self._error = None
        self.tell_runtime()
        self._tell_chat({**self._chat, "state": state})

    def set_chat(self, chat: Chat) -> None:
        """Takes over the fields of the stored chat, but for its state, which `enter` changes."""
        self._tell_chat({**chat_json(chat, self._compacting), "state": self.state})

    def set_compacting(self, compacting: Json | None) -> None:
        """A compaction goes on in the chat; None: not any more (R57)."""
        self._compacting = compacting
        if self._chat:
            self._tell_chat({**self._chat, "compacting": compacting})

    def set_unread(self, unread: bool) -> None:
        self._tell_chat({**self._chat, "unread": unread})

    def set_draft(self, draft: str | None) -> None:
        if draft != self.draft:
            self.draft = draft
            self.events.add("thread_updated", {"chat": {}, "draft": draft})

    def set_queue(self, queue: Sequence[Queued], held: bool) -> None:
        """Sets the queue; an empty queue is never held."""
        held = held and bool(queue)
        if (tuple(queue), held) != (self.queue, self.held):
            self.queue, self.held = tuple(queue), held
            self.events.add("queue_updated", {"queue": queue_json(queue), "held": held})

    def left_queue(self, entry_id: str) -> None:
        """The entry waits no longer: it is in the log, or was cancelled."""
        left = tuple(entry for entry in self.queue if entry.id != entry_id)
        self.set_queue(left, self.held)

    def tell_runtime(self) -> None:
        runtime = self._runtime_json()
        if runtime != self._runtime:
            self._runtime = runtime
            self.events.add("runtime_updated", {"runtime": runtime})

    def failed(self, error: AssistantError) -> None:
        """Shows an error that happened outside of a turn, until a turn begins."""
        self._error = {"code": error.code, "message": error.message}
        self.tell_runtime()

    # The answer.

    def started(self, message: Message, version: Versions | None) -> None:
        self._stream = _Stream(message, version, MergedChunks())
        if message.parts:
            self._known -= 1  # A suspended answer goes on: it leaves the messages until it ends.
        self._take_from(message)
        self.tell_runtime()
        self.events.add("stream_started", _with_version({"message": message}, version))

    def chunk(self, chunk: Chunk) -> None:
        if self._stream is None:
            return
        self._stream.chunks.add(chunk)
        body = {"message_id": self._stream.message.id, "chunk": chunk}
        self.events.add("stream_delta", body)
        if chunk["type"] == CONTEXT:
            before, self._context = self._context, chunk["data"]
            if before is not None and chunk["data"]["cuts"] > before["cuts"]:
                self.compacted(chunk["data"])

    def finished(self, message: Message, state: ChatState) -> None:
        """The answer has ended, whole or not; the chat enters `state`."""
        self._stream = None
        self._known += 1
        self.events.add("stream_finished", {"message_id": message.id, "state": state})
        self._take_from(message, state)
        self.enter(state)
        if state == "paused":
            asked = [part for part in message.tool_parts if part.state == "approval-requested"]
            calls = [call_json(message, part) for part in asked]
            self.events.add("pause_required", {"calls": calls})

    def compacted(self, report: Json | None, text: str | None = None) -> None:
        """Sends that from now on the model reads a summary instead of older messages."""
        self._context = report
        body: Json = {"report": report}
        if text is not None:
            body["text"] = text
        self.events.add("context_compacted", body)

    # The path.

    def covers(self, messages: int) -> bool:
        """Whether each reader has at least one message more than the last `messages` of the
        path."""
        return messages < self._known

    def added(self, message: Message, after: str | None, version: Versions | None) -> None:
        self._known += 1
        self.end = message.id
        body = {"message": message, "after": after}
        self.events.add("message_added", _with_version(body, version))

    def updated(self, message: Message) -> None:
        self.events.add("message_updated", {"message": message})

    def ends_with(self, message: Message | None, end: str | None = None) -> None:
        """The conversation ends with this version of a message, the path with the message `end`
        (None: with the same)."""
        self._take_from(message)
        self.end = end or self.end
        self.tell_runtime()

    def removed(self, message_id: str) -> None:
        self._known -= 1
        self.events.add("message_removed", {"message_id": message_id})

    def truncated(self, after: str | None, left: int) -> None:
        """`left` messages after the message `after` have left the path."""
        self._known = PAGE if after is None else self._known - left
        self.end = after
        self.events.add("messages_truncated", {"after": after})

    def replaced(self, page: Page) -> None:
        """Sends a snapshot, for a change that no other event describes."""
        self._known = PAGE
        self.end = page.messages[-1].id if page.messages else None
        self.events.add("snapshot", self.snapshot(page))

    def _take_from(self, message: Message | None, state: ChatState | None = None) -> None:
        """Takes over the runtime's fields from the last message: the waiting calls and their panel
        and, in the state `error`, the error."""
        self.end = message.id if message is not None else None
        answer = message if message is not None and message.role == "assistant" else None
        metadata: Mapping[str, Any] = answer.metadata if answer is not None else {}
        self.client_id = metadata.get("client_id")
        waits = waiting(answer) if answer is not None and self._stream is None else None
        self._waiting = () if answer is None or waits is None else (waiting_json(answer, *waits),)
        if answer is not None:
            self.answered_by |= answering_ids(answer)
        error = metadata.get("error") if (state or self.state) == "error" else None
        self._error = None
        if isinstance(error, Mapping):
            self._error = {name: error.get(name) for name in ("code", "message")}

    def _runtime_json(self) -> Json:
        body: Json = {
            "state": self.state,
            "client_id": self.client_id,
            "client_present": self.present(self.client_id),
            "waiting": self._waiting_json() if self.state in WAITING else [],
            "saving": self._saving(),
        }
        if self._undone:
            body["undone"] = list(self._undone)
        if self._error is not None and self.state not in STOPPABLE:
            body["error"] = self._error
        return body

    def _waiting_json(self) -> list[Json]:
        """The call that is waited for."""
        return list(self._waiting) if self._handed is None else [self._handed]

    def _tell_chat(self, chat: Json) -> None:
        names = {**self._chat, **chat}
        new = {name: chat.get(name) for name in names if chat.get(name) != self._chat.get(name)}
        if not new:
            return
        before, self._chat = self._chat, chat
        self.events.add("thread_updated", {"chat": new})
        if entry_of(before) != entry_of(chat):
            self._changed(entry_of(chat), not before)


def _with_version(body: Json, version: Versions | None) -> Json:
    return body if version is None else {**body, "version": version_json(version)}
