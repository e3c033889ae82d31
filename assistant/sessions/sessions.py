"""The sessions of one ComfyUI user's chats: made on first use, dropped when unused.

    turn = await sessions.start(request)                   `POST /api/chat`
    await sessions.command("c1", command, sender)
    session = await sessions.of("c1")                      raises NotFound
    await sessions.delete("c1", hide)

A dropped session is loaded from the store again; only its event numbers begin anew, under another
epoch.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

from ..chats import Branches, ChatQueue, ChatStore, ChatSummary, chat_id
from ..chats.chat_json import entry_json
from ..context.report import Report
from ..database import utc_now
from ..errors import NotFound
from ..messages.parts import DataPart, Message, TextPart
from ..turn.compaction import Compacting, ContextWatcher
from ..turn.service import TurnService
from ..turn.stream import TurnStream
from ..turn.turn_request import TurnRequest
from .chat_session import ChatSession
from .commands import Command
from .feed import Feed
from .serialization import Json
from .session_services import SessionServices
from .submissions import Done, Sender, Submitted
from .unbroken import Unbroken

KEPT_SECONDS: Final = 300.0
"""How long an unused session stays in memory."""
RECONNECT_SECONDS: Final = 120.0
"""How long an unused session keeps its events, for clients that reconnect. They are most of its
memory: megabytes."""
SWEEP_SECONDS: Final = 60.0


def _unheard(chat_id: str) -> None:
    """Tells nobody that a chat was made."""


class Sessions(ContextWatcher):
    """For one event loop. `clock` gives seconds, `now` UTC times. `made` is called with the id of
    each chat that is made. `unbroken` runs deletions."""

    def __init__(
        self,
        turns: TurnService,
        store: ChatStore,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.feed = Feed(store, self.entry)
        self.made: Callable[[str], object] = _unheard
        self.unbroken = Unbroken()
        self._turns = turns
        turns.watcher = self
        self._store = store
        self._clock = clock
        self._sessions: dict[str, ChatSession] = {}
        self._used: dict[str, float] = {}
        self._sweeping: asyncio.TimerHandle | None = None
        store.failover.changed.append(self._tell_saving)
        self._services = SessionServices(
            store=store,
            queue=ChatQueue(store),
            branches=Branches(store),
            turns=turns,
            on_branch=self.feed.created,
            now=now,
            new_message_id=lambda: f"msg-{uuid.uuid4().hex}",
        )

    async def start(self, request: TurnRequest) -> TurnStream:
        """Starts the turn that a request asks for.

        Raises Conflict (`turn_running`) when the chat has one, InvalidRequest and NotFound when the
        request does not fit the chat, StoreError when it cannot be stored.
        """
        if request.chat_id is None:
            return (await self._turns.start_stateless(request)).stream
        async with self._made_or_dropped(request.chat_id) as session:
            return await session.start(request)

    async def submit(self, request: TurnRequest, priority: bool) -> Submitted:
        """Begins the turn that a request asks for, or queues its message; the answer comes as the
        chat's events. An unknown chat is made. Raises the errors of `ChatSession.submit`."""
        assert request.chat_id is not None, "the events of a chat need its id"
        async with self._made_or_dropped(request.chat_id) as session:
            return await session.submit(request, priority)

    async def command(self, identity: str, command: Command, sender: Sender) -> tuple[int, Done]:
        """Carries out a command; returns how many messages wait in the queue now, and what it did.
        Raises NotFound for an unknown chat, and the errors of the command."""
        session = await self.of(identity)
        done = await session.command(command, sender)
        return len(session.live.queue), done

    async def of(self, identity: str) -> ChatSession:
        """The chat's session. Raises NotFound for an unknown chat."""
        session = await self._made(identity)
        if not session.live.exists:
            await session.settled()
        if not session.live.exists:
            self._drop(session)
            raise NotFound(f"There is no chat {identity!r}.")
        return session

    async def add_event(self, identity: str, text: str) -> None:
        """Adds an event with this text to a chat: something that happened outside of the
        conversation, such as the end of a workflow's run. Starts no turn. Raises NotFound for an
        unknown chat, and StoreError."""
        event = Message(f"event-{uuid.uuid4().hex}", "user", (TextPart(text),))
        await (await self.of(identity)).add_event(event)

    async def add_parts(self, identity: str, message_id: str, parts: Sequence[DataPart]) -> None:
        """Adds parts of our own to the answer that ends a chat, if it still does. Raises NotFound
        for an unknown chat, and StoreError."""
        await (await self.of(identity)).add_parts(message_id, parts)

    def known(self, identity: str) -> ChatSession | None:
        """The chat's session if it is in memory, else None."""
        return self._sessions.get(chat_id(identity))

    def used(self, identity: str) -> float | None:
        """When the chat's session was asked for last, in seconds of the clock; None if it is not in
        memory."""
        return self._used.get(identity)

    def running(self, identity: str) -> TurnStream | None:
        """The stream of the chat's turn, or None when no turn runs in this process."""
        session = self.known(identity)
        return session.running if session is not None else None

    async def report(self, identity: str) -> Report | None:
        """The report of the chat's last request; None if it had none since ComfyUI started. Raises
        NotFound for an unknown chat."""
        if await self._store.get(chat_id(identity)) is None:
            raise NotFound(f"There is no chat {identity!r}.")
        return self._turns.report(identity)

    def entry(self, chat: ChatSummary) -> Json:
        """The chat's entry in a list, with the compaction that goes on in it."""
        return entry_json(chat, self.compaction(chat.id))

    def compaction(self, identity: str) -> Json | None:
        """The compaction that goes on in a chat, as JSON."""
        return _json(self._turns.compaction(identity))

    def compacting(self, chat_id: str, compacting: Compacting | None) -> None:
        session = self.known(chat_id)
        if session is not None:
            session.live.set_compacting(_json(compacting))

    def compacted(self, chat_id: str, report: Report) -> None:
        session = self.known(chat_id)
        if session is not None:
            session.live.compacted(report.to_json())

    async def changed(self, chat: ChatSummary) -> None:
        """Sends a change that was made without a command: title, pinned."""
        session = self.known(chat.id)
        if session is not None and session.live.exists:
            await session.refresh()
        else:
            self.feed.changed(self.entry(chat))

    def created(self, chat: ChatSummary) -> None:
        """Sends that a chat was made or restored without a command."""
        self.made(chat.id)
        self.feed.created(self.entry(chat))

    async def delete(self, identity: str, hide: Callable[[], Awaitable[None]]) -> None:
        """Deletes a chat by `hide`, also when the caller is cancelled; if `hide` raises, its
        readers get no event. A running turn is stopped; a suspended turn still waits if the chat is
        restored. Raises NotFound for an unknown chat, Conflict (`runs_elsewhere`), and the errors
        of `hide`."""
        await self.unbroken.run(self._delete(identity, hide))

    async def _delete(self, identity: str, hide: Callable[[], Awaitable[None]]) -> None:
        session = await self.of(identity)
        await session.delete(hide)
        # Dropped although its readers may not have left yet: a restored chat gets a new session.
        if self._sessions.get(identity) is session:
            del self._sessions[identity]
            del self._used[identity]
        self.deleted(identity)

    def deleted(self, identity: str) -> None:
        """Sends that a chat without a session was deleted."""
        self._turns.forget(identity)
        self.feed.deleted(identity)

    def sweep(self) -> None:
        """Drops the sessions that were unused for KEPT_SECONDS, and the events of those that were
        unused for RECONNECT_SECONDS."""
        now = self._clock()
        for identity, session in tuple(self._sessions.items()):
            if not session.quiet:
                self._used[identity] = now
            elif now - self._used[identity] >= KEPT_SECONDS:
                self._drop(session)
            elif now - self._used[identity] >= RECONNECT_SECONDS:
                session.events.let_go()

    async def close(self) -> None:
        """Stops all turns; their answers are stored as far as they came."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        self.feed.events.end("")
        await asyncio.gather(*(one.close() for one in tuple(self._sessions.values())))
        await self.unbroken.ended()
        await self._turns.close()

    @asynccontextmanager
    async def _made_or_dropped(self, identity: str) -> AsyncIterator[ChatSession]:
        """The session of a chat that a request may make; dropped if the request did not."""
        session = await self._made(identity)
        try:
            yield session
        finally:
            if not session.live.exists:
                self._drop(session)

    async def _made(self, identity: str) -> ChatSession:
        """The chat's session, also of a chat that is not stored yet."""
        session = self._sessions.get(chat_id(identity))
        if session is None:
            made = ChatSession(identity, self._services, self._tell)
            await made.load(await self._store.get(identity))
            # Another request may have made the session meanwhile.
            session = self._sessions.setdefault(identity, made)
        self._used[identity] = self._clock()
        self._sweep_later()
        return session

    def _tell_saving(self) -> None:
        for session in self._sessions.values():
            session.live.tell_runtime()

    def _tell(self, entry: Json, new: bool) -> None:
        if new:
            self.made(entry["id"])
            self.feed.created(entry)
        else:
            self.feed.changed(entry)

    def _drop(self, session: ChatSession) -> None:
        """Drops a session, unless it is in use again."""
        if session.quiet and self._sessions.get(session.id) is session:
            del self._sessions[session.id]
            del self._used[session.id]

    def _sweep_later(self) -> None:
        if self._sweeping is None:
            loop = asyncio.get_running_loop()
            self._sweeping = loop.call_later(SWEEP_SECONDS, self._sweep_now)

    def _sweep_now(self) -> None:
        self._sweeping = None
        self.sweep()
        if self._sessions:
            self._sweep_later()


def _json(compacting: Compacting | None) -> Json | None:
    return None if compacting is None else dict(compacting.to_json())
