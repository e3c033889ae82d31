"""The store of chats: messages, answers in progress, events and the settings of a chat (R33).

    store = ChatStore(database)
    await store.recover()                              once, before the first turn
    await store.create("c1", title, workflow)
    await store.append("c1", message)                  a row of the log, durable when this returns
    await store.begin_turn("c1", TurnStart(answer, (message,)))
                                                       a message and its answer, which begins,
    await store.checkpoint("c1", answer)               is saved while it streams,
    await store.finish_answer("c1", answer)            and becomes one row of the log
    await store.add_event("c1", message)               a hidden message about what happened

Nothing is changed or deleted in the log: an edited message, another answer and a suspended answer
that went on are new rows, and the chat's head says which path is the current one. `reconcile`
decides what a request means for the log; this room has no provider and no key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from ..context.projections import Projections
from ..database import Transaction
from ..messages.parts import Message
from . import chat_rows, titles, turn_start
from .chat import (
    HEAD,
    MOST_PER_PAGE,
    Chat,
    ChatParams,
    ChatState,
    ChatSummary,
    Parent,
    TitleSource,
    WorkflowName,
)
from .failover import listing
from .identity import chat_id as check_chat_id
from .log import chat_log, checkpoint, event_rows, paths, projection_rows
from .log.chat_log import Added
from .log.read_path import NOT_READ, Newer, ReadPath, read_newer
from .permissions import Permissions
from .transactions import ChatTransactions
from .turn_start import Begun, TurnStart

MOST_CHATS: Final = 10**9
"""More chats than a file holds."""
FoundChat = TypeVar("FoundChat", bound="Chat | None")


class ChatStore(ChatTransactions):
    """The chats of one ComfyUI user, in one database.

    For one event loop. Every method may raise StoreError, InvalidRequest for an id that cannot name
    a chat and, where it does not say otherwise, NotFound for a chat that does not exist.
    """

    async def create(
        self,
        chat_id: str,
        title: str = titles.NEW_CHAT,
        workflow: WorkflowName | None = None,
        source: TitleSource = "rule",
    ) -> Chat:
        """A new, empty chat. Raises Conflict (`chat_exists`, `chat_deleted`) for an id that is
        taken."""
        return await self.import_messages(chat_id, (), title, workflow, source)

    async def import_messages(
        self,
        chat_id: str,
        messages: Sequence[Message],
        title: str = titles.NEW_CHAT,
        workflow: WorkflowName | None = None,
        source: TitleSource = "rule",
    ) -> Chat:
        """A new chat with these messages: all of them or, when it raises, nothing."""
        now = self.now()

        def work(transaction: Transaction) -> Chat:
            chat_rows.insert_chat(
                transaction, chat_id, titles.clean_title(title), workflow, now, source
            )
            self._add(transaction, chat_rows.require(transaction, chat_id), messages, HEAD, now)
            return chat_rows.require(transaction, chat_id)

        return await self.write(chat_id, work)

    async def get(self, chat_id: str) -> Chat | None:
        """The chat, or None when there is none."""
        return await self.read(chat_id, lambda transaction: chat_rows.find(transaction, chat_id))

    async def list(self, limit: int = 50, before: str | None = None) -> tuple[ChatSummary, ...]:
        """Up to `limit` chats, last changed first; `before` is the last id of the page before.

        Raises NotFound for an unknown `before`."""
        await self._prepare()
        bounded = max(1, min(limit, MOST_PER_PAGE))
        return await listing.newest(self.failover, bounded, before)

    async def every(self) -> tuple[ChatSummary, ...]:
        """All chats, last changed first."""
        await self._prepare()
        return await listing.newest(self.failover, MOST_CHATS, None)

    async def path(self, chat_id: str) -> tuple[Message, ...]:
        """All messages of the current path, oldest first."""
        return (await self._read_path(chat_id, chat_rows.require))[1].messages

    async def find_path(self, chat_id: str) -> tuple[Chat | None, ReadPath]:
        """The chat with its current path; None and no messages when there is no such chat."""
        return await self._read_path(chat_id, chat_rows.find)

    async def knows(self, chat_id: str, message_id: str) -> bool:
        """Whether the chat's log has a message of this id, on any path."""

        def work(transaction: Transaction) -> bool:
            chat_rows.require(transaction, chat_id)
            return paths.has_message(transaction, chat_id, message_id)

        return await self.read(chat_id, work)

    async def settled_calls(self, chat_id: str, message_id: str) -> frozenset[str]:
        """The calls of a message that any version of the message has with a result or as declined,
        also a version that is not on the current path."""

        def work(transaction: Transaction) -> frozenset[str]:
            chat_rows.require(transaction, chat_id)
            rows = paths.rows_of_message(transaction, chat_id, message_id)
            versions = chat_log.read_rows(transaction, chat_id, rows).values()
            parts = (part for version in versions for part in version.message.tool_parts)
            return frozenset(part.tool_call_id for part in parts if part.settled)

        return await self.read(chat_id, work)

    async def questions(self, chat_id: str) -> frozenset[tuple[str, str]]:
        """All questions whether a tool may act that were asked in the chat, on any path: the ids of
        the call and of the question."""

        def work(transaction: Transaction) -> frozenset[tuple[str, str]]:
            chat_rows.require(transaction, chat_id)
            rows = chat_log.read_containing(transaction, chat_id, '"approval":')
            parts = (part for _, message in rows for part in message.tool_parts)
            return frozenset(
                (part.tool_call_id, part.approval.id) for part in parts if part.approval
            )

        return await self.read(chat_id, work)

    async def page(
        self, chat_id: str, before: str | None = None, limit: int = 50
    ) -> tuple[tuple[Message, ...], bool]:
        """The last `limit` messages of the current path that come before the message `before`
        (None: from the end of the path), and whether older messages are left. The cost does not
        grow with the length of the chat.

        Raises NotFound when `before` is not on the path."""
        bounded = max(1, min(limit, MOST_PER_PAGE))

        def work(transaction: Transaction) -> tuple[tuple[Message, ...], bool]:
            head = chat_rows.require(transaction, chat_id).head_row
            rows, more = paths.page(transaction, chat_id, head, before, bounded)
            read = chat_log.read_rows(transaction, chat_id, rows)
            return tuple(read[row].message for row in rows if row in read), more

        return await self.read(chat_id, work)

    async def append(self, chat_id: str, message: Message, parent: Parent = HEAD) -> int:
        """Add a message after `parent`; it ends the current path then. Returns its row.

        A message with the id of a message that already follows `parent` is its newer version.
        Raises InvalidRequest for an id that is used earlier on the path, Refused (`chat_full`) for
        a full chat, and Conflict (`turn_running`) while an answer is in progress."""
        return (await self.append_all(chat_id, (message,), parent))[-1]

    async def append_all(
        self, chat_id: str, messages: Sequence[Message], parent: Parent = HEAD
    ) -> tuple[int, ...]:
        """Add messages that follow each other, the first after `parent`: all or none."""
        added = await self.extend(
            chat_id,
            lambda transaction, chat, now: self._add(transaction, chat, messages, parent, now),
        )
        self._cache.grow(chat_id, messages, added)
        return tuple(added.rows)

    async def add_event(self, chat_id: str, message: Message) -> Message:
        """Add an event at the end of the current path, also while an answer is in progress, which
        follows the event then. Returns the event as it is read: a hidden user message. It is not
        counted among the chat's messages and is not searched.

        Raises InvalidRequest for an id that is used earlier on the path, Refused (`chat_full`)."""
        now, event = self.now(), event_rows.as_event(message)

        def work(transaction: Transaction) -> tuple[tuple[Message, ...], Added]:
            chat = chat_rows.require(transaction, chat_id)
            new, added = event_rows.add(transaction, chat, event, now)
            self.check_room(chat, added.chars)
            return new, added

        new, added = await self.write(chat_id, work)
        self._cache.grow(chat_id, new, added)
        return event

    async def begin_turn(self, chat_id: str, start: TurnStart) -> Begun:
        """Add the messages of a request and begin their answer; state `generating`.

        The current path ends before the answer until the answer is finished, unless it ends with an
        older version of it. Raises Conflict (`turn_running`) while another answer is in progress,
        and the errors of `turn_start.begin`: then nothing is stored."""
        self.check_not_answering(chat_id)
        now = self.now()

        def work(transaction: Transaction) -> Begun:
            return turn_start.begin(transaction, chat_id, start, self.owner, now, self._add)

        self._answering[chat_id] = start.answer.id
        try:
            begun = await self.write(chat_id, work)
        except BaseException:
            del self._answering[chat_id]
            raise
        if begun.added is not None:
            self._cache.grow(chat_id, start.messages, begun.added)
        return begun

    async def checkpoint(self, chat_id: str, message: Message) -> None:
        """Save the present state of the answer; the caller decides how often. Does nothing when
        this answer is not in progress any more."""
        now = self.now()
        await self.write(chat_id, lambda c: checkpoint.save(c, chat_id, message, now))

    async def finish_answer(
        self, chat_id: str, message: Message, state: ChatState = "idle", unread: bool = False
    ) -> Chat:
        """The answer is done (or suspended, or failed): it becomes a row, and the chat has `state`.
        With `unread` the chat is marked as unread.

        Returns the chat. Raises Conflict when this answer is not in progress. After a StoreError it
        may be called again."""
        now, begun = self.now(), self._answering.get(chat_id) == message.id

        def work(transaction: Transaction) -> tuple[Chat, Added]:
            added = checkpoint.finish(transaction, chat_id, message, state, now, begun)
            if unread:
                chat_rows.set_unread(transaction, chat_id, True)
            return chat_rows.require(transaction, chat_id), added

        try:
            chat, added = await self.write(chat_id, work)
        finally:
            if self._answering.get(chat_id) == message.id:
                del self._answering[chat_id]
        self._cache.grow(chat_id, (message,), added)
        return chat

    async def set_state(self, chat_id: str, state: ChatState) -> None:
        def work(transaction: Transaction) -> None:
            self.check_here(transaction, chat_id)
            chat_rows.set_state(transaction, chat_id, state)

        await self.change_row(chat_id, work)

    async def set_title(self, chat_id: str, title: str, source: TitleSource = "user") -> bool:
        """Rename the chat, unless its title has a stronger source: a user's title stays. Returns
        whether it was renamed."""
        clean = titles.clean_title(title)
        return await self.write(chat_id, lambda c: chat_rows.retitle(c, chat_id, clean, source))

    async def change(
        self, chat_id: str, title: str | None = None, pinned: bool | None = None
    ) -> ChatSummary:
        """Change the title, or whether the chat is pinned; None leaves a value as it is."""

        def work(transaction: Transaction) -> ChatSummary:
            chat_rows.require(transaction, chat_id)
            if title is not None:
                chat_rows.set_title(transaction, chat_id, titles.clean_title(title), "user")
            if pinned is not None:
                chat_rows.set_pinned(transaction, chat_id, pinned)
            return chat_rows.require(transaction, chat_id)

        return await self.write(chat_id, work)

    async def set_params(self, chat_id: str, params: ChatParams) -> None:
        """Set the parameters of the chat, from its next turn on. Its permissions stay."""

        def work(transaction: Transaction) -> None:
            permissions = chat_rows.require(transaction, chat_id).permissions
            chat_rows.set_params(transaction, chat_id, params, permissions)

        await self.write(chat_id, work)

    async def set_permissions(self, chat_id: str, permissions: Permissions) -> None:
        """Set the chat's approval mode. The mode `ask` also forgets which tools were allowed."""

        def work(transaction: Transaction) -> None:
            chat = chat_rows.require(transaction, chat_id)
            chat_rows.set_params(transaction, chat_id, chat.params, permissions)
            if permissions.mode == "ask":
                chat_rows.set_allowed_tools(transaction, chat_id, ())

        await self.write(chat_id, work)

    async def use_runs(self, chat_id: str, runs: int) -> bool:
        """Take `runs` from the chat's budget; returns whether the budget covers them. Two turns
        never take the same run."""

        def work(transaction: Transaction) -> bool:
            chat = chat_rows.require(transaction, chat_id)
            permissions = chat.permissions.with_used(runs, self.now())
            if permissions is None:
                return False
            chat_rows.set_params(transaction, chat_id, chat.params, permissions)
            return True

        return await self.write(chat_id, work)

    async def set_draft(self, chat_id: str, draft: str | None) -> None:
        """Keep the text that the user typed and has not sent; None when there is none."""
        await self.change_row(chat_id, lambda c: chat_rows.set_draft(c, chat_id, draft or None))

    async def set_unread(self, chat_id: str, unread: bool) -> None:
        """Set whether an answer ended while no reader followed the chat."""
        await self.change_row(chat_id, lambda c: chat_rows.set_unread(c, chat_id, unread))

    async def keep_projections(self, chat_id: str, committed: Projections) -> None:
        """Replace the chat's projections: the messages that its context leaves out (R28). The cost
        grows with the difference, not with the length of the chat."""
        await self.change_row(chat_id, lambda c: projection_rows.keep(c, chat_id, committed))

    async def projections(self, chat_id: str) -> Projections:
        """The chat's projections; empty where there are none, and where they cannot be read: the
        chat's context is then planned anew."""

        def work(transaction: Transaction) -> Projections:
            chat_rows.require(transaction, chat_id)
            return projection_rows.read(transaction, chat_id)

        return await self.read(chat_id, work)

    async def allow_tool(self, chat_id: str, tool_name: str) -> None:
        """Let this tool run without asking in this chat."""

        def work(transaction: Transaction) -> None:
            chat = chat_rows.require(transaction, chat_id)
            chat_rows.set_allowed_tools(transaction, chat_id, (*chat.allowed_tools, tool_name))

        await self.write(chat_id, work)

    async def _read_path(
        self, chat_id: str, look: Callable[[Transaction, str], FoundChat]
    ) -> tuple[FoundChat, ReadPath]:
        known = self._cache.rows(check_chat_id(chat_id))
        last = self._cache.path(chat_id)

        def work(transaction: Transaction) -> tuple[FoundChat, Newer]:
            chat = look(transaction, chat_id)
            if chat is None:
                return chat, Newer()
            return chat, read_newer(transaction, chat_id, chat.head_row, known, last)

        chat, found = await self.read(chat_id, work)
        path = found.path()
        if chat is not None:
            # A path with rows that are gone is looked at as a whole next time.
            read = path if found.complete else NOT_READ
            self._cache.keep(chat_id, found.rows, read, found.before)
        return chat, path

    def _add(
        self,
        transaction: Transaction,
        chat: Chat,
        messages: Sequence[Message],
        parent: Parent,
        now: datetime,
    ) -> Added:
        row = paths.parent_row(transaction, chat.id, chat.head_row, parent)
        added = chat_log.add_rows(transaction, chat.id, messages, row, now)
        self.check_room(chat, added.chars)
        if messages:
            chat_rows.set_head(transaction, chat.id, added.rows[-1], added.chars, now)
        return added
