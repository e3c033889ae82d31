"""The edits of answers: what they were made from, and what they made of it (`log.edit_rows`).

edits = ChatEdits(store)
await edits.keep("c1", Edit(message_id, workflow_id, name), before, after)    durable
await edits.of_message("c1", message_id)                                      with the graphs
await edits.of_chat("c1")                                                     without
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final

from ..database import Transaction
from ..messages.parts import Message
from . import chat_rows
from .log import chat_log, edit_rows
from .log.edit_rows import Edit
from .log.record import canonical
from .transactions import ChatTransactions


@dataclass(frozen=True, slots=True)
class StoredEdit:
    """An edit with its graphs, as JSON."""

    edit: Edit
    before: Mapping[str, Any]
    after: Mapping[str, Any]


MOST_KNOWN: Final = 1_000
"""Chats of which it is known in memory which edits people took back."""


class ChatEdits:
    """For one event loop; all changes of one user's chats come from one of these. Every method may
    raise StoreError, and NotFound for a chat that does not exist."""

    def __init__(self, store: ChatTransactions) -> None:
        self._store = store
        self._taken_back: dict[str, frozenset[str]] = {}
        self._changes = 0

    async def keep(
        self, chat_id: str, edit: Edit, before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        """Keep an edit of an answer."""
        packed = await asyncio.to_thread(
            lambda: (edit_rows.packed(before), edit_rows.packed(after))
        )
        now = self._store.now()
        await self._change(chat_id, lambda t: edit_rows.add(t, chat_id, edit, *packed, now))

    async def of_chat(self, chat_id: str) -> tuple[Edit, ...]:
        """All edits, the oldest first."""
        return await self._store.read(chat_id, lambda t: edit_rows.of_chat(t, chat_id))

    async def taken_back_by_people(self, chat_id: str) -> frozenset[str]:
        """The answers whose edits a person took back. What a later answer took back is not among
        them: the calls of that answer say so. Each turn asks: it is read after a change only."""
        known, changes = self._taken_back.get(chat_id), self._changes
        if known is not None:
            return known
        found = await self.of_chat(chat_id)
        by_answers = {one.takes_back for one in found if not one.undone}
        taken_back = frozenset(undone_answers(found)) - by_answers
        if self._changes == changes:
            self._taken_back[chat_id] = taken_back
            if len(self._taken_back) > MOST_KNOWN:
                del self._taken_back[next(iter(self._taken_back))]
        return taken_back

    async def of_message(self, chat_id: str, message_id: str) -> tuple[StoredEdit, ...]:
        """The edits of an answer, the oldest first; those whose graphs are damaged are left out."""

        def work(transaction: Transaction) -> tuple[StoredEdit, ...]:
            chat_rows.require(transaction, chat_id)
            found = []
            for one in edit_rows.of_message(transaction, chat_id, message_id):
                before = edit_rows.graph(transaction, chat_id, one.before)
                after = edit_rows.graph(transaction, chat_id, one.after)
                if before is not None and after is not None:
                    found.append(StoredEdit(one, before, after))
            return tuple(found)

        return await self._store.read(chat_id, work)

    async def answer_with(self, chat_id: str, call_id: str) -> Message | None:
        """The answer that has this call, on any path; of several the one that came last."""
        words = canonical(call_id)

        def work(transaction: Transaction) -> Message | None:
            chat_rows.require(transaction, chat_id)
            rows = sorted(chat_log.read_containing(transaction, chat_id, words), key=itemgetter(0))
            found = (message for _, message in reversed(rows))
            has_call = (
                one for one in found if any(call_id == p.tool_call_id for p in one.tool_parts)
            )
            return next(has_call, None)

        return await self._store.read(chat_id, work)

    async def mark(
        self, chat_id: str, message_id: str, undone: bool, workflow_id: str | None = None
    ) -> None:
        """Note that the edits of an answer are taken back, or made again: those of one workflow, or
        all."""
        mine = (chat_id, message_id, undone, workflow_id)
        await self._change(chat_id, lambda t: edit_rows.mark(t, *mine))

    async def mark_taking_back(
        self, chat_id: str, message_id: str, workflow_id: str | None = None
    ) -> None:
        """Note that the edits of an answer are there again, which a later answer had taken back."""
        mine = (chat_id, message_id, workflow_id)
        await self._change(chat_id, lambda t: edit_rows.mark_taking_back(t, *mine))

    async def _change(self, chat_id: str, work: Callable[[Transaction], None]) -> None:
        try:
            await self._store.change_row(chat_id, work)
        finally:
            self._changes += 1
            self._taken_back.pop(chat_id, None)


def undone_answers(found: Iterable[Edit]) -> tuple[str, ...]:
    """The answers all of whose edits are taken back, in the order of their first edits."""
    answers: dict[str, bool] = {}
    for one in found:
        answers[one.message_id] = one.undone and answers.get(one.message_id, True)
    return tuple(answer for answer, undone in answers.items() if undone)
