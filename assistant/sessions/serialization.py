"""Versions and the queue as JSON, the same in snapshots and events. Pure.

A message stays as it is: `messages.json_pieces` writes it, in a thread where it is large.

`chats.chat_json` has the JSON of a chat itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..chats import Queued, Versions
from ..chats.chat_json import time_json

Json = dict[str, Any]


def entry_of(chat: Mapping[str, Any]) -> Json:
    """The entry of the list of chats, from a chat's own JSON."""
    return {name: chat[name] for name in chat if name not in ("params", "branched_from")}


def version_json(versions: Versions) -> Json:
    return {"index": versions.index, "ids": list(versions.ids)}


def versions_json(versions: Mapping[str, Versions]) -> Json:
    return {identity: version_json(found) for identity, found in versions.items()}


def queue_json(queue: Iterable[Queued]) -> list[Json]:
    return [_queued_json(entry) for entry in queue]


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
