"""The table of the chats themselves: one row per chat, which unlike the log's rows changes.

Functions over a connection, to be called inside one transaction of `store`.
"""

from __future__ import annotations

import json
from collections import namedtuple
from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, get_args

from sqlalchemy import Connection, Select, func, insert, select, update

from ..database import driver_of
from ..errors import Conflict, NotFound
from .chat import (
    BUSY_STATES,
    BranchPoint,
    Chat,
    ChatParams,
    ChatState,
    ChatSummary,
    TitleSource,
    WorkflowName,
)
from .log.record import canonical, parse_time, time_text
from .schema import chats, messages, running

_Found: Final = namedtuple("_Found", [*chats.c.keys(), "depth"])  # type: ignore[misc]
# Constant SQL, since every message that is added has to do with these.
_FIND: Final = (
    f"SELECT {', '.join(f'chat.{column.name}' for column in chats.c)}, coalesce(head.depth, 0)"
    " FROM chats AS chat"
    ' LEFT JOIN messages AS head ON head.chat_id = chat.id AND head."row" = chat.head_row'
    " WHERE chat.id = ? AND chat.deleted IS NULL"
)
_SET_HEAD: Final = (
    "UPDATE chats SET head_row = ?, log_chars = log_chars + ?, updated = ? WHERE id = ?"
)
# Not where it is the last already: that would cost another page of the file for each message.
_SET_ACTIVITY: Final = (
    "UPDATE chats SET activity = (SELECT max(activity) + 1 FROM chats)"
    " WHERE id = ? AND activity < (SELECT max(activity) FROM chats)"
)
_SUMMARY = (
    chats.c.id,
    chats.c.title,
    chats.c.created,
    chats.c.updated,
    chats.c.state,
    chats.c.pinned,
    chats.c.unread,
    chats.c.workflow,
)


def insert_chat(
    connection: Connection,
    chat_id: str,
    title: str,
    workflow: WorkflowName | None,
    now: datetime,
    source: TitleSource = "rule",
) -> None:
    """Raises Conflict when the chat exists (`chat_exists`), or was deleted a moment ago
    (`chat_deleted`)."""
    if find(connection, chat_id) is not None:
        raise Conflict(f"The chat {chat_id!r} exists already.", code="chat_exists")
    if is_taken(connection, chat_id):
        raise Conflict(
            "This chat was deleted. Bring it back, or go on in a new chat.", code="chat_deleted"
        )
    named = None if workflow is None else canonical({"id": workflow.id, "name": workflow.name})
    connection.execute(
        insert(chats).values(
            id=chat_id,
            title=title,
            title_source=source,
            created=time_text(now),
            updated=time_text(now),
            activity=next_activity(),
            state="idle",
            allowed_tools="[]",
            workflow=named,
            log_chars=0,
        )
    )


def is_taken(connection: Connection, chat_id: str) -> bool:
    """Whether a chat has this id, be it deleted."""
    found = connection.execute(select(chats.c.id).where(chats.c.id == chat_id))
    return found.one_or_none() is not None


def find(connection: Connection, chat_id: str) -> Chat | None:
    """The chat; None where there is none, or it is deleted."""
    row = driver_of(connection).execute(_FIND, (chat_id,)).fetchone()
    if row is None:
        return None
    found: Any = _Found._make(row)
    return Chat(
        **_summary_fields(found),
        title_source=found.title_source,
        head_row=found.head_row,
        allowed_tools=_tools(found.allowed_tools),
        log_chars=found.log_chars,
        params=_params(found.params),
        draft=found.draft,
        branched_from=_branch_point(found.branched_from),
    )


def require(connection: Connection, chat_id: str) -> Chat:
    """Raises NotFound when there is no such chat."""
    chat = find(connection, chat_id)
    if chat is None:
        raise NotFound(f"There is no chat {chat_id!r}.")
    return chat


def newest(
    connection: Connection,
    limit: int,
    before: str | None,
    hidden: Collection[str] = (),
    only_pinned: bool = False,
) -> tuple[ChatSummary, ...]:
    """Chats by their last change, newest first, but for the hidden ones. Raises NotFound for an
    unknown `before`."""
    query = _with_depth(*_SUMMARY).where(chats.c.deleted.is_(None))
    if only_pinned:
        query = query.where(chats.c.pinned.is_(True))
    if hidden:
        query = query.where(chats.c.id.not_in(sorted(hidden)))
    if before is not None:
        require(connection, before)
        reached = select(chats.c.activity).where(chats.c.id == before).scalar_subquery()
        query = query.where(chats.c.activity < reached)
    found = connection.execute(query.order_by(chats.c.activity.desc()).limit(limit))
    return tuple(ChatSummary(**_summary_fields(row)) for row in found)


def untouched_since(connection: Connection, moment: datetime) -> tuple[ChatSummary, ...]:
    """The chats that nobody has pinned and that did not change since, last changed first; none
    that is being answered."""
    query = _with_depth(*_SUMMARY).where(
        chats.c.deleted.is_(None),
        chats.c.pinned.is_(False),
        chats.c.state.not_in(BUSY_STATES),
        chats.c.updated <= time_text(moment),
    )
    found = connection.execute(query.order_by(chats.c.activity.desc()))
    return tuple(ChatSummary(**_summary_fields(row)) for row in found)


def set_head(
    connection: Connection, chat_id: str, row: int | None, added_chars: int, now: datetime
) -> None:
    """The current path ends at `row` from now on; `added_chars` more are in the log."""
    driver = driver_of(connection)
    driver.execute(_SET_HEAD, (row, added_chars, time_text(now), chat_id))
    driver.execute(_SET_ACTIVITY, (chat_id,))


def set_state(connection: Connection, chat_id: str, state: ChatState) -> None:
    driver_of(connection).execute("UPDATE chats SET state = ? WHERE id = ?", (state, chat_id))


def set_title(connection: Connection, chat_id: str, title: str, source: TitleSource) -> None:
    values = {"title": title, "title_source": source}
    connection.execute(update(chats).where(chats.c.id == chat_id).values(values))


def retitle(connection: Connection, chat_id: str, title: str, source: TitleSource) -> bool:
    """`set_title`, unless the chat has a title that counts for more; says which."""
    order = get_args(TitleSource)
    chat = require(connection, chat_id)
    if order.index(chat.title_source) > order.index(source):
        return False
    set_title(connection, chat_id, title, source)
    return True


def set_created(connection: Connection, chat_id: str, created: datetime) -> None:
    """For a chat that was made elsewhere."""
    values = {"created": time_text(created)}
    connection.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_pinned(connection: Connection, chat_id: str, pinned: bool) -> None:
    connection.execute(update(chats).where(chats.c.id == chat_id).values(pinned=pinned))


def set_unread(connection: Connection, chat_id: str, unread: bool) -> None:
    connection.execute(update(chats).where(chats.c.id == chat_id).values(unread=unread))


def set_params(connection: Connection, chat_id: str, params: ChatParams) -> None:
    values = {"params": canonical(params.to_json())}
    connection.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_draft(connection: Connection, chat_id: str, draft: str | None) -> None:
    connection.execute(update(chats).where(chats.c.id == chat_id).values(draft=draft))


def set_branched_from(connection: Connection, chat_id: str, point: BranchPoint) -> None:
    values = {"branched_from": canonical(asdict(point))}
    connection.execute(update(chats).where(chats.c.id == chat_id).values(values))


def set_allowed_tools(connection: Connection, chat_id: str, tools: tuple[str, ...]) -> None:
    values = {"allowed_tools": canonical(sorted(set(tools)))}
    connection.execute(update(chats).where(chats.c.id == chat_id).values(values))


def end_active(connection: Connection) -> None:
    """Whatever ran when the last process died does not run now (R35); what is in `running` does."""
    here = select(running.c.chat_id)
    left = chats.c.state.in_(BUSY_STATES) & chats.c.id.not_in(here)
    connection.execute(update(chats).where(left).values(state="idle"))


def _with_depth(*columns: Any) -> Select[Any]:
    """A chat's columns and the number of messages on its current path."""
    head = (messages.c.chat_id == chats.c.id) & (messages.c.row == chats.c.head_row)
    depth = func.coalesce(messages.c.depth, 0).label("depth")
    return select(*columns, depth).select_from(chats.outerjoin(messages, head))


def _summary_fields(row: Any) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "created": parse_time(row.created),
        "updated": parse_time(row.updated),
        "messages": row.depth,
        "state": row.state,
        "pinned": bool(row.pinned),
        "unread": bool(row.unread),
        "workflow": _workflow(row.workflow),
    }


# The same few texts stand in most chats.


@lru_cache
def _tools(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache
def _params(text: str) -> ChatParams:
    return ChatParams(**json.loads(text))


@lru_cache
def _workflow(text: str | None) -> WorkflowName | None:
    found = json.loads(text) if text else None
    return WorkflowName(found["id"], found["name"]) if found else None


@lru_cache
def _branch_point(text: str | None) -> BranchPoint | None:
    return BranchPoint(**json.loads(text)) if text else None


def next_activity() -> Any:
    """As an expression: the chat is the last that was changed."""
    counted = chats.alias()
    return select(func.coalesce(func.max(counted.c.activity), 0) + 1).scalar_subquery()
