"""A chat's current path: changes it in the store and sends its readers the events (R36, R39).

    async with path.lock:                    held while the log changes and its events are sent
        page = await path.page()             the end of the path, for a snapshot

Messages that leave the path stay in the log, as other versions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from ..chats import Begun, Chat
from ..chats.export.trajectory import LogRow
from ..errors import AssistantError, InvalidRequest, NotFound, StoreError
from ..messages.origin import imported, with_origin, without_events
from ..messages.parts import DataPart, Message
from ..turn.opening import Opening
from .commands import RetryFromIndex, TruncateMessages, UpdateMessage
from .live_chat import PAGE, LiveChat, Page
from .session_services import SessionServices
from .states import STOPPABLE, route

READ: Final = PAGE + 1
"""One message more than a snapshot shows, since a snapshot leaves out an older version of the
streaming answer."""


class ChatPath:
    """One chat's path. Methods may raise StoreError; methods that change the path also NotFound,
    InvalidRequest and Conflict.

    `lock` is held while the log changes and the events of the change are sent. It is taken inside
    the session's lock of commands, never the other way round."""

    def __init__(self, chat_id: str, services: SessionServices, live: LiveChat) -> None:
        self._id = chat_id
        self._store = services.store
        self._branches = services.branches
        self._live = live
        self.lock = asyncio.Lock()
        self._has_new_event = False

    async def page(self) -> Page:
        """The end of the path. The caller holds the lock."""
        messages, more = await self._store.page(self._id, None, READ)
        ids = [message.id for message in messages]
        versions = await self._branches.versions(self._id, ids) if ids else {}
        return Page(messages, more, versions)

    async def end(self) -> tuple[Message | None, str | None]:
        """The last message of the conversation, and the id of the last message of the path, which
        may be an event after it."""
        messages, _ = await self._store.page(self._id, None, READ)
        return _end_of(messages)

    async def messages(self) -> tuple[Message, ...]:
        return await self._store.path(self._id)

    async def stored(self) -> Chat | None:
        """The stored chat; None where it is deleted or the store fails."""
        try:
            return await self._store.get(self._id)
        except StoreError:
            return None

    async def refresh(self) -> None:
        """Sends changes of the chat's own fields: title, number of messages, times."""
        if (chat := await self.stored()) is not None:
            self._live.set_chat(chat)

    async def target(self, command: RetryFromIndex | TruncateMessages) -> tuple[int, Message]:
        """The message that a command names by its index in the path or by its id."""
        path = await self.messages()
        if command.message_id is not None:
            for place, message in enumerate(path):
                if message.id == command.message_id:
                    return place, message
            raise NotFound(f"There is no message {command.message_id!r} on this chat's path.")
        assert command.index is not None, "a command has an index or an id"
        if command.index >= len(path):
            raise InvalidRequest(f"the chat has {len(path)} messages", where="index")
        return command.index, path[command.index]

    async def opened(self, opening: Opening, begun: Begun) -> None:
        """Sends the events of the messages that a turn dropped and added. Sends a snapshot instead
        where readers lack the dropped messages, where another process has added messages, or where
        there are more than a snapshot has. The caller holds the lock."""
        foreign = not opening.dropped and opening.after != self._live.end
        lacking = opening.after is not None and not self._live.covers(opening.dropped)
        if foreign or lacking or len(opening.added) > PAGE:
            try:
                self._live.replaced(await self.page())
                self._live.set_chat(begun.chat)
                return
            except StoreError:
                pass  # The events below need no look at the rest of the path.
        if opening.dropped:
            self._live.truncated(opening.after, opening.dropped)
        after = opening.after
        for message in opening.added:
            self._live.added(message, after, begun.versions.get(message.id))
            after = message.id
        self._live.set_chat(begun.chat)

    async def add_event(self, event: Message) -> None:
        """Adds an event to the path. An answer that is in progress or waits stays last: then
        readers get a snapshot. The caller holds the lock."""
        stored = await self._store.add_event(self._id, event)
        if self._live.state in STOPPABLE:
            # The answer may be stored already although its stream has not ended: see
            # `ChatTurns.ended`.
            self._has_new_event = True
            self._live.replaced(await self.page())
        else:
            self._live.added(stored, self._live.end, None)
        await self.refresh()

    async def show_new_event(self) -> None:
        """After a turn in which an event was added, sends a snapshot: readers may have the event
        and the answer in another order than the log. The caller holds the lock."""
        if self._has_new_event:
            self._has_new_event = False
            with suppress(AssistantError):
                self._live.replaced(await self.page())

    async def add_parts(self, message_id: str, parts: Sequence[DataPart]) -> None:
        """Adds parts of our own to the answer that ends the path; does nothing where a turn runs or
        waits, and where the path ends with another message."""
        async with self.lock:
            path = await self.messages()
            last = path[-1] if path else None
            if last is None or last.id != message_id or last.role != "assistant":
                return
            if self._live.state in STOPPABLE:
                return
            message = replace(last, parts=(*last.parts, *parts))
            parent = path[-2].id if len(path) > 1 else None
            await self._store.append(self._id, message, parent)
            self._live.updated(message)
            self._live.ends_with(message)
            await self.refresh()

    async def update(self, command: UpdateMessage) -> None:
        """Replaces the text of a message, which keeps its position and its id."""
        new = with_origin(replace(command.message, id=command.message_id), "person")
        async with self.lock:
            before = await self.page()
            chat = await self._branches.rewrite(self._id, command.message_id, new)
            self._live.updated(new)
            await self.moved(chat, before)

    async def remove(self, message_id: str) -> None:
        async with self.lock:
            before = await self.page()
            ids = [message.id for message in await self.messages()]
            chat = await self._branches.rewrite(self._id, message_id, None)
            from_end = len(ids) - ids.index(message_id)
            covered = self._live.covers(from_end)
            if covered:
                self._live.removed(message_id)
            await self.moved(chat, before if covered else None)

    async def truncate(self, command: TruncateMessages) -> None:
        async with self.lock:
            place, _ = await self.target(command)
            path = await self.messages()
            after, left = path[place - 1].id if place else None, len(path) - place
            chat = await self._branches.truncate(self._id, after)
            covered = self._live.covers(left) or after is None
            if covered:
                self._live.truncated(after, left)
            await self.moved(chat, await self.page() if covered else None)

    async def switch(self, message_id: str) -> None:
        async with self.lock:
            await self.moved(await self._branches.switch_version(self._id, message_id), None)

    async def restore(self, rows: Sequence[LogRow]) -> None:
        """The path becomes the messages of these rows, with their times."""
        messages, times = tuple(one.message for one in rows), [one.created for one in rows]
        async with self.lock:
            restored = _restored(await self.messages(), messages)
            await self.moved(await self._branches.restore(self._id, restored, times), None)

    async def moved(self, chat: Chat, before: Page | None = None) -> None:
        """Sends the events after a change of the path. Readers get a snapshot where `before` is
        None, and where messages have other versions than on the page `before`."""
        page = await self.page()
        last, end = _end_of(page.messages)
        for state in route(self._live.state, chat.state):
            self._live.enter(state)
        self._live.set_chat(chat)
        self._live.ends_with(last, end)
        if before is None or not _same_versions(before, page):
            self._live.replaced(page)


def _end_of(messages: tuple[Message, ...]) -> tuple[Message | None, str | None]:
    said = without_events(messages)
    return said[-1] if said else None, messages[-1].id if messages else None


def _restored(path: tuple[Message, ...], messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The messages to restore: the beginning that they share with the path as it is stored, the
    others as imported ones."""
    same = 0
    for stored, message in zip(path, messages, strict=False):
        if imported(stored) != imported(message):
            break
        same += 1
    return (*path[:same], *map(imported, messages[same:]))


def _same_versions(before: Page, after: Page) -> bool:
    """Whether the messages on both pages have the same versions on both."""
    ids = {message.id for message in before.messages} & {message.id for message in after.messages}
    return all(before.versions.get(one) == after.versions.get(one) for one in ids)
