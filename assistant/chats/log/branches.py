"""The paths of a chat: another version, a shorter path, a changed message, a new chat.

    branches = Branches(store)
    await branches.versions("c1", ids)                 the versions of these messages
    await branches.switch_version("c1", message_id)
    await branches.branch("c1", message_id, "c2")      a new chat up to that message

Nothing is changed or removed in the log: the rows of a new path are added, and the old path stays
as other versions of its messages. While the chat is being answered, only reading and branching into
another chat are allowed. A change of the path also sets the chat's state, by the last message of
the new path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from ...database import Transaction
from ...errors import InvalidRequest, NotFound
from ...messages.origin import is_event
from ...messages.outside import asked_again
from ...messages.parts import Message
from .. import chat_rows, titles
from ..chat import BranchPoint, Chat, Versions
from ..identity import chat_id as check_chat_id
from ..reconcile import state_after
from ..transactions import ChatTransactions
from . import chat_log, edit_rows, graph_rows, paths, projection_rows, versions

BRANCH_TITLE: Final = "{} (branch)"
APPROVED: Final = '"approval-responded"'
"""Stands in the text of each row that has a decision which is not carried out."""


class Branches:
    """The paths of one ComfyUI user's chats. For one event loop; every method may raise StoreError,
    NotFound for an unknown chat or message and, where it changes the path, Conflict
    (`turn_running`)."""

    def __init__(self, store: ChatTransactions) -> None:
        self._store = store

    async def versions(self, chat_id: str, message_ids: Sequence[str]) -> dict[str, Versions]:
        """The versions of these messages of the current path, without messages that have only one
        version. The cost grows with the branches at these messages, not with the length of the
        chat."""

        def work(transaction: Transaction) -> dict[str, Versions]:
            head = chat_rows.require(transaction, chat_id).head_row
            return versions.of_messages(transaction, chat_id, head, message_ids)

        return await self._store.read(chat_id, work)

    async def answers_to(self, chat_id: str, message_id: str) -> tuple[str, ...]:
        """The ids of the answers that a message ever had, in the order in which they came."""
        return await self._store.read(
            chat_id, lambda transaction: versions.answers_to(transaction, chat_id, message_id)
        )

    async def switch_version(self, chat_id: str, message_id: str) -> Chat:
        """The current path goes through this message, and on to the newest end of its branch; a
        path that goes through it already stays."""

        def move(transaction: Transaction, chat: Chat, now: datetime) -> None:
            if paths.rows_on_path(transaction, chat.id, chat.head_row, [message_id]):
                return
            row = versions.row_of(transaction, chat.id, chat.head_row, message_id)
            end = versions.newest_end(transaction, chat.id, row)
            chat_rows.set_head(transaction, chat.id, end, 0, now)

        return await self._move(chat_id, move)

    async def truncate(self, chat_id: str, after: str | None) -> Chat:
        """The current path ends with the message `after` of it, or is empty (None)."""

        def move(transaction: Transaction, chat: Chat, now: datetime) -> None:
            row = None if after is None else _row_on_path(transaction, chat, after)
            chat_rows.set_head(transaction, chat.id, row, 0, now)

        return await self._move(chat_id, move)

    async def rewrite(self, chat_id: str, message_id: str, new: Message | None) -> Chat:
        """`new` in the place of a message of the current path, or nothing (None); the messages
        after it follow, as rows of the new path.

        Raises NotFound for an event, InvalidRequest when `new` has another id or role."""

        def move(transaction: Transaction, chat: Chat, now: datetime) -> None:
            row = _row_on_path(transaction, chat, message_id)
            old = chat_log.read_rows(transaction, chat.id, [row])[row].message
            if is_event(old):
                raise _not_on_path(message_id)
            if new is not None and (new.id, new.role) != (old.id, old.role):
                raise InvalidRequest("a changed message keeps its id and role", where="message")
            end = paths.parent_of(transaction, chat.id, row)
            chars = 0
            if new is not None:
                added = chat_log.add_rows(transaction, chat.id, (new,), end, now)
                end, chars = added.rows[-1], added.chars
            later = paths.ranges_after(transaction, chat.id, chat.head_row, row)
            copied = chat_log.copy_rows(transaction, chat.id, later, chat.id, end)
            self._store.check_room(chat, chars + copied.chars)
            end = copied.rows[-1] if copied.rows else end
            chat_rows.set_head(transaction, chat.id, end, chars + copied.chars, now)

        return await self._move(chat_id, move)

    async def restore(
        self, chat_id: str, messages: Sequence[Message], times: Sequence[datetime | None] = ()
    ) -> Chat:
        """The current path becomes these messages, each with its time where `times` has one;
        messages that it begins with already keep their rows. No tool is allowed in advance any
        more, and the approval mode is that of a new chat."""

        def move(transaction: Transaction, chat: Chat, now: datetime) -> None:
            rows = paths.path(transaction, chat.id, chat.head_row)
            stored = chat_log.read_rows(transaction, chat.id, rows)
            same = 0
            while (
                same < min(len(rows), len(messages))
                and stored[rows[same]].message == messages[same]
            ):
                same += 1
            end = rows[same - 1] if same else None
            added = chat_log.add_rows(transaction, chat.id, messages[same:], end, now, times[same:])
            self._store.check_room(chat, added.chars)
            end = added.rows[-1] if added.rows else end
            chat_rows.set_head(transaction, chat.id, end, added.chars, now)
            # What was allowed was allowed for the calls of this server's models.
            chat_rows.set_allowed_tools(transaction, chat.id, ())
            chat_rows.set_params(transaction, chat.id, chat.params)

        return await self._move(chat_id, move)

    async def branch(self, chat_id: str, message_id: str, new_id: str) -> Chat:
        """A new chat with copies of the messages up to this message, and of the graphs that its
        messages may name; its list of allowed tools is empty, its approval mode that of a new chat,
        and a call that was approved and has not run is asked about again. Raises Conflict when
        there is a chat `new_id`."""

        check_chat_id(new_id)
        now = self._store.now()

        def work(transaction: Transaction) -> Chat:
            chat = chat_rows.require(transaction, chat_id)
            row = paths.parent_row(transaction, chat.id, chat.head_row, message_id)
            title = titles.clean_title(BRANCH_TITLE.format(chat.title))
            chat_rows.insert_chat(transaction, new_id, title, chat.workflow, now)
            chat_rows.set_title(transaction, new_id, title, chat.title_source)
            chat_rows.set_params(transaction, new_id, chat.params)
            chat_rows.set_branched_from(transaction, new_id, BranchPoint(chat_id, message_id))
            ranges = paths.ranges_after(transaction, chat.id, row)
            copied = chat_log.copy_rows(transaction, chat.id, ranges, new_id, None)
            chat_log.change_rows(transaction, new_id, APPROVED, asked_again)
            chat_rows.set_head(transaction, new_id, copied.rows[-1], copied.chars, now)
            graph_rows.copy(transaction, chat_id, new_id)
            projection_rows.copy_core(transaction, chat_id, new_id)
            edit_rows.copy(transaction, chat_id, new_id)
            _set_state(transaction, new_id)
            return chat_rows.require(transaction, new_id)

        return await self._store.write(chat_id, work)

    async def _move(
        self, chat_id: str, move: Callable[[Transaction, Chat, datetime], None]
    ) -> Chat:
        def work(transaction: Transaction, chat: Chat, now: datetime) -> Chat:
            move(transaction, chat, now)
            _set_state(transaction, chat.id)
            return chat_rows.require(transaction, chat.id)

        return await self._store.extend(chat_id, work)


def _row_on_path(transaction: Transaction, chat: Chat, message_id: str) -> int:
    """Raises NotFound when the message is not on the chat's current path."""
    found = paths.rows_on_path(transaction, chat.id, chat.head_row, [message_id])
    if message_id not in found:
        raise _not_on_path(message_id)
    return found[message_id]


def _not_on_path(message_id: str) -> NotFound:
    return NotFound(f"There is no message {message_id!r} on this chat's current path.")


def _set_state(transaction: Transaction, chat_id: str) -> None:
    """Set the chat's state by the last message of its path: it waits, or it is idle."""
    row = chat_rows.require(transaction, chat_id).head_row
    stored = chat_log.read_rows(transaction, chat_id, [] if row is None else [row])
    state = "idle" if row is None else state_after(stored[row].message)
    chat_rows.set_state(transaction, chat_id, state)
