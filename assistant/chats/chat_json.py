"""A chat as JSON, without its messages: in lists, answers and events. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from .chat import Chat, ChatSummary


def entry_json(chat: ChatSummary, compacting: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A chat in a list. `workflow` is there only when the chat has one, and `damaged` only when its
    row is. `compacting` is the compaction that goes on in the chat; it is not stored."""
    body: dict[str, Any] = {
        "id": chat.id,
        "title": chat.title,
        "created": time_json(chat.created),
        "updated": time_json(chat.updated),
        "messages": chat.messages,
        "state": chat.state,
        "compacting": compacting,
        "pinned": chat.pinned,
        "unread": chat.unread,
    }
    if chat.workflow is not None:
        body["workflow"] = asdict(chat.workflow)
    if chat.damaged:
        body["damaged"] = True
    return body


def chat_json(chat: Chat, compacting: Mapping[str, str] | None = None) -> dict[str, Any]:
    """One chat: its entry, its parameters, what is left of its budget for runs, if it has one, and,
    where it was branched off, `branched_from`."""
    permissions = chat.permissions
    params = {**chat.params.to_json(), **permissions.params_json()}
    body = {**entry_json(chat, compacting), "params": params}
    if permissions.ends is not None:
        left = {"runs": permissions.runs_left, "until": time_json(permissions.ends)}
        body["budget_left"] = left
    if chat.branched_from is not None:
        body["branched_from"] = asdict(chat.branched_from)
    return body


def time_json(moment: datetime) -> str:
    """A UTC time as ISO 8601."""
    return moment.isoformat().replace("+00:00", "Z")
