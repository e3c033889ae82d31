"""Messages whose memories the user deleted or corrected: nothing is learned from them again.

Only their ids are kept. Functions over a transaction. The source of a chat's summary has no message
id, and stands for the summary.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import ColumnElement, delete, insert, select

from ..database import Transaction
from .memory import Memory, Source
from .tables import withdrawn


def of_chat(transaction: Transaction, chat_id: str) -> frozenset[str]:
    """The ids of a chat's messages that are withdrawn."""
    wanted = select(withdrawn.c.message_id).where(withdrawn.c.chat_id == chat_id)
    return frozenset(row.message_id for row in transaction.execute(wanted).all())


def withdraw(transaction: Transaction, memories: Iterable[Memory]) -> None:
    """The user deleted these memories, or gave them other words."""
    give_back(transaction, memories := tuple(memories))
    for source in _sources(memories):
        row = {"chat_id": source.chat_id, "message_id": source.message_id}
        transaction.execute(insert(withdrawn).values(**row))


def give_back(transaction: Transaction, memories: Iterable[Memory]) -> None:
    """The user restored these memories."""
    for source in _sources(memories):
        transaction.execute(delete(withdrawn).where(_is_of(source)))


def _sources(memories: Iterable[Memory]) -> list[Source]:
    """The sources of memories, each message once."""
    found = (memory.source for memory in memories)
    return list({(one.chat_id, one.message_id): one for one in found if one is not None}.values())


def _is_of(source: Source) -> ColumnElement[bool]:
    in_chat = withdrawn.c.chat_id == source.chat_id
    return in_chat & (withdrawn.c.message_id == source.message_id)
