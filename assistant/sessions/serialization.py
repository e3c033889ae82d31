"""Versions, the queue and the calls that wait as JSON, the same in snapshots and events. Pure.

A message stays as it is: `messages.json_pieces` writes it, in a thread where it is large.

`chats.chat_json` has the JSON of a chat itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..chats import Queued, Versions
from ..chats.chat_json import time_json
from ..messages.parts import Message, ToolPart
from ..messages.waiting import WaitsFor, decision_data, handed_data

Json = dict[str, Any]

NOT_IN_LISTS: Final = frozenset(("params", "budget_left", "branched_from"))
"""Fields of a chat that its entry in a list does not have."""


def entry_of(chat: Mapping[str, Any]) -> Json:
    """The entry of the list of chats, from a chat's own JSON."""
    return {name: chat[name] for name in chat if name not in NOT_IN_LISTS}


def version_json(versions: Versions) -> Json:
    return {"index": versions.index, "ids": list(versions.ids)}


def versions_json(versions: Mapping[str, Versions]) -> Json:
    return {identity: version_json(found) for identity, found in versions.items()}


def queue_json(queue: Iterable[Queued]) -> list[Json]:
    return [_queued_json(entry) for entry in queue]


def call_json(message: Message, part: ToolPart) -> Json:
    """A call that a person has to decide about. `text` says in one sentence what it will do,
    `remember` whether its tool may be allowed for the whole chat, and `change` what an edit would
    change; a question of another server's chat has none of them."""
    about = decision_data(message, part)
    return {
        "id": part.tool_call_id,
        "approval_id": part.approval.id if part.approval else "",
        "name": part.tool_name,
        "title": part.title or part.tool_name,
        "input": part.input,
        **{name: about[name] for name in ("text", "remember", "change") if name in about},
    }


def waiting_json(message: Message, part: ToolPart, kind: WaitsFor) -> Json:
    """The call that a chat waits for: what its `data-waiting` part says, its tool and its title;
    for a panel its arguments, too."""
    body: Json = {
        "tool_call_id": part.tool_call_id,
        "for": kind,
        "tool": part.tool_name,
        "title": part.title or part.tool_name,
    }
    if kind == "decision":
        asked = {"approval_id": part.approval.id if part.approval else ""}
        return {**body, **asked, **decision_data(message, part)}
    if kind == "panel":
        body["input"] = part.input
    return {**body, **handed_data(message, part)}


def _queued_json(entry: Queued) -> Json:
    body: Json = {
        "id": entry.id,
        "type": entry.type,
        "priority": entry.priority,
        "created": time_json(entry.created),
    }
    if entry.message is not None:
        body["message"] = entry.message
    return body
