"""What a chat shows at this moment, and the events that tell its readers of each change.

    view.enter("generating")                 checked against the table of states
    view.started(message, version)
    view.chunk(chunk)
    view.finished(message)

The one place that emits: whatever changes here is told at once, so that a reader that folds the
events has what `snapshot` would give it. What is stored, and when, is the session's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..chats import Chat, ChatState, Queued, Versions
from ..chats.chat_json import chat_json
from ..chats.reconcile import pending
from ..errors import AssistantError
from ..messages.chunks import Chunk
from ..messages.parts import Message
from ..messages.ui import message_to_ui
from .deltas import MergedChunks
from .event_log import EventLog
from .serialization import Json, entry_of, messages_json, queue_json, version_json, versions_json
from .states import ACTIVE, TRANSITIONS, WAITING

CONTEXT: Final = "data-context"
"""The type of the chunk that holds a request's report."""
PAGE: Final = 50
"""Messages at the end of the path that a snapshot holds."""


@dataclass(frozen=True, slots=True)
class Page:
    """The end of the current path, and which of its messages have other versions."""

    messages: tuple[Message, ...]
    has_more: bool
    versions: Mapping[str, Versions]


@dataclass(slots=True)
class _Stream:
    """The answer that is being given: as it was when it began, and what came since."""

    message: Message
    version: Versions | None
    chunks: MergedChunks


class LiveChat:
    """One chat. `changed` is told the list's entry whenever that is another, and whether it is the
    first; `saving` says whether what is said is saved, and why not."""

    def __init__(
        self,
        log: EventLog,
        changed: Callable[[Json, bool], None],
        saving: Callable[[], Json],
    ) -> None:
        self.log = log
        self.state: ChatState = "idle"
        self.queue: tuple[Queued, ...] = ()
        self.held = False
        self.draft: str | None = None
        self.client_id: str | None = None
        """The panel that the answer's calls go to."""
        self.end: str | None = None
        """The message that the path ends with, as readers know it."""
        self._changed = changed
        self._saving = saving
        self._chat: Json = {}
        self._waiting: tuple[str, ...] = ()
        self._error: Json | None = None
        self._context: Json | None = None
        self._stream: _Stream | None = None
        self._clients: Counter[str | None] = Counter()
        self._known = PAGE
        self._runtime: Json = self._runtime_json()

    def load(self, chat: Chat, queue: Sequence[Queued], last: Message | None) -> None:
        """The chat as it is stored; nothing is told."""
        self.state, self.draft = chat.state, chat.draft
        self.queue, self.held = tuple(queue), bool(queue)
        self._chat = chat_json(chat)
        self._about(last)
        self._runtime = self._runtime_json()

    @property
    def exists(self) -> bool:
        """Whether there is such a chat (yet)."""
        return bool(self._chat)

    @property
    def unread(self) -> bool:
        return bool(self._chat.get("unread"))

    @property
    def streams(self) -> str | None:
        """The id of the answer that is being given."""
        return self._stream.message.id if self._stream is not None else None

    @property
    def watched(self) -> bool:
        """Whether anybody is subscribed."""
        return self._clients.total() > 0

    def present(self, client_id: str | None) -> bool:
        """Whether that panel is subscribed."""
        return client_id is not None and self._clients[client_id] > 0

    def came(self, client_id: str | None) -> None:
        self._clients[client_id] += 1
        self.tell_runtime()

    def left(self, client_id: str | None) -> None:
        self._clients[client_id] -= 1
        if not self._clients[client_id]:
            del self._clients[client_id]
        self.tell_runtime()

    def snapshot(self, page: Page) -> Json:
        """The body of a snapshot; `page` is read by the caller, who lets nothing change the path
        meanwhile."""
        stream = self._stream
        shown = [message for message in page.messages if message.id != self.streams]
        kept = shown[-PAGE:]
        # From now on somebody has no more than these, whatever other readers have seen grow.
        self._known = min(self._known, PAGE)
        found = {message.id: page.versions.get(message.id) for message in kept}
        if stream is not None:
            found[stream.message.id] = stream.version
        return {
            "chat": self._chat,
            "messages": messages_json(kept),
            "has_more": page.has_more or len(shown) > len(kept),
            "versions": versions_json({name: one for name, one in found.items() if one}),
            "stream": stream
            and {"message": message_to_ui(stream.message), "chunks": stream.chunks.chunks},
            "queue": queue_json(self.queue),
            "held": self.held,
            "draft": self.draft,
            "runtime": self._runtime,
            "context": self._context,
        }

    # States and the chat's own fields.

    def enter(self, state: ChatState) -> None:
        """Another state. Raises ValueError for a change that the table does not have."""
        if (self.state, state) not in TRANSITIONS:
            raise ValueError(f"no chat goes from {self.state} to {state}")
        self.state = state
        if state in ACTIVE:
            self._error = None
        self.tell_runtime()
        self._tell_chat({**self._chat, "state": state})

    def chat_is(self, chat: Chat) -> None:
        """The chat as it is stored; its state is told by `enter`."""
        self._tell_chat({**chat_json(chat), "state": self.state})

    def unread_is(self, unread: bool) -> None:
        self._tell_chat({**self._chat, "unread": unread})

    def draft_is(self, draft: str | None) -> None:
        if draft != self.draft:
            self.draft = draft
            self.log.add("thread_updated", {"chat": {}, "draft": draft})

    def queue_is(self, queue: Sequence[Queued], held: bool) -> None:
        """What waits; an empty queue holds nothing back."""
        held = held and bool(queue)
        if (tuple(queue), held) != (self.queue, self.held):
            self.queue, self.held = tuple(queue), held
            self.log.add("queue_updated", {"queue": queue_json(queue), "held": held})

    def left_queue(self, entry_id: str) -> None:
        """The entry waits no longer: it is in the log, or was cancelled."""
        left = tuple(entry for entry in self.queue if entry.id != entry_id)
        self.queue_is(left, self.held)

    def tell_runtime(self) -> None:
        runtime = self._runtime_json()
        if runtime != self._runtime:
            self._runtime = runtime
            self.log.add("runtime_updated", {"runtime": runtime})

    def failed(self, error: AssistantError) -> None:
        """What could not be done outside of any turn, until something is done again."""
        self._error = {"code": error.code, "message": error.message}
        self.tell_runtime()

    # The answer.

    def started(self, message: Message, version: Versions | None) -> None:
        self._stream = _Stream(message, version, MergedChunks())
        if message.parts:
            self._known -= 1  # It goes on: readers had it among the messages, and will again.
        self._about(message)
        self.tell_runtime()
        self.log.add("stream_started", _with_version({"message": message_to_ui(message)}, version))

    def chunk(self, chunk: Chunk) -> None:
        if self._stream is None:
            return
        self._stream.chunks.add(chunk)
        body = {"message_id": self._stream.message.id, "chunk": chunk}
        self.log.add("stream_delta", body)
        if chunk["type"] == CONTEXT:
            before, self._context = self._context, chunk["data"]
            if before is not None and chunk["data"]["cuts"] > before["cuts"]:
                self.compacted(chunk["data"])

    def finished(self, message: Message, state: ChatState) -> None:
        """The answer is whole, or as far as it comes; the chat enters `state`."""
        self._stream = None
        self._known += 1
        self.log.add("stream_finished", {"message_id": message.id, "state": state})
        self._about(message, state)
        self.enter(state)
        if state == "paused":
            asked = [part for part in message.tool_parts if part.state == "approval-requested"]
            calls = [
                {
                    "id": part.tool_call_id,
                    "name": part.tool_name,
                    "title": part.title or part.tool_name,
                    "input": part.input,
                }
                for part in asked
            ]
            self.log.add("pause_required", {"calls": calls})

    def compacted(self, report: Json | None, text: str | None = None) -> None:
        """Older messages are not sent any more from now on; a summary stands for them."""
        self._context = report
        body: Json = {"report": report}
        if text is not None:
            body["text"] = text
        self.log.add("context_compacted", body)

    # The path.

    def covers(self, messages: int) -> bool:
        """Whether every reader still has a message when so many have left the end of the path."""
        return messages < self._known

    def added(self, message: Message, after: str | None, version: Versions | None) -> None:
        self._known += 1
        self.end = message.id
        body = {"message": message_to_ui(message), "after": after}
        self.log.add("message_added", _with_version(body, version))

    def updated(self, message: Message) -> None:
        self.log.add("message_updated", {"message": message_to_ui(message)})

    def ends_with(self, message: Message | None) -> None:
        """The path ends with this message, in this version."""
        self._about(message)
        self.tell_runtime()

    def removed(self, message_id: str) -> None:
        self._known -= 1
        self.log.add("message_removed", {"message_id": message_id})

    def truncated(self, after: str | None, left: int) -> None:
        """So many messages after `after` have left the path."""
        self._known = PAGE if after is None else self._known - left
        self.end = after
        self.log.add("messages_truncated", {"after": after})

    def replaced(self, page: Page) -> None:
        """All is another: readers get a snapshot."""
        self._known = PAGE
        self.end = page.messages[-1].id if page.messages else None
        self.log.add("snapshot", self.snapshot(page))

    def _about(self, message: Message | None, state: ChatState | None = None) -> None:
        """Takes from the last answer what the runtime tells: whose calls wait and, in the state
        `error`, what failed."""
        self.end = message.id if message is not None else None
        answer = message if message is not None and message.role == "assistant" else None
        metadata: Mapping[str, Any] = answer.metadata if answer is not None else {}
        self.client_id = metadata.get("client_id")
        calls = pending(answer) if answer is not None and self._stream is None else ()
        self._waiting = tuple(part.tool_call_id for part in calls)
        error = metadata.get("error") if (state or self.state) == "error" else None
        self._error = None
        if isinstance(error, Mapping):
            self._error = {name: error.get(name) for name in ("code", "message")}

    def _runtime_json(self) -> Json:
        body: Json = {
            "state": self.state,
            "client_id": self.client_id,
            "client_present": self.present(self.client_id),
            "waiting": list(self._waiting) if self.state in WAITING else [],
            "saving": self._saving(),
        }
        if self._error is not None and self.state not in ACTIVE:
            body["error"] = self._error
        return body

    def _tell_chat(self, chat: Json) -> None:
        names = {**self._chat, **chat}
        new = {name: chat.get(name) for name in names if chat.get(name) != self._chat.get(name)}
        if not new:
            return
        before, self._chat = self._chat, chat
        self.log.add("thread_updated", {"chat": new})
        if entry_of(before) != entry_of(chat):
            self._changed(entry_of(chat), not before)


def _with_version(body: Json, version: Versions | None) -> Json:
    return body if version is None else {**body, "version": version_json(version)}
