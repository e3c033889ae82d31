"""Events -> what a client shows: the state of a chat after any event, from a snapshot on. Pure.

    state = fold_event(None, snapshot)
    for event in events:
        state = fold_event(state, event)

This is the law that the panel's own fold obeys, too: after the event `seq`, the state is the
server's at that `seq`. A client has the end of the path only (`messages`, with `has_more` saying
that older ones are left); after a change before that end it gets a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from plugin.assistant.messages.fold import fold
from plugin.assistant.messages.merged_chunks import MergedChunks
from plugin.assistant.messages.ui import message_from_ui, message_to_ui

State = Mapping[str, Any]
"""A snapshot's body: chat, messages, has_more, versions, stream, queue, held, draft, runtime and
context."""

FIELDS: Final = (
    "chat",
    "messages",
    "has_more",
    "versions",
    "stream",
    "queue",
    "held",
    "draft",
    "runtime",
    "context",
)
CONTEXT: Final = "data-context"


def fold_event(state: State | None, event: Mapping[str, Any]) -> State:
    """The state after one more event; the first event has to be a snapshot.

    Raises ValueError for an event of an unknown type: its sender is newer than this code."""
    kind = event["type"]
    if kind == "snapshot":
        return {name: event[name] for name in FIELDS}
    if state is None or kind not in _FOLDS:
        raise ValueError(f"nothing can be made of the event {kind!r}")
    return {**state, **_FOLDS[kind](state, event)}


def shown(state: State) -> list[dict[str, Any]]:
    """The messages with the streaming answer at their end, as far as it is."""
    stream = state["stream"]
    if stream is None:
        return list(state["messages"])
    return [*state["messages"], _folded(stream)]


def _folded(stream: Mapping[str, Any]) -> dict[str, Any]:
    return message_to_ui(fold(message_from_ui(stream["message"]), stream["chunks"]))


def _stream_started(state: State, event: Mapping[str, Any]) -> State:
    message = event["message"]
    return {
        "messages": _without(state["messages"], message["id"]),
        "versions": _with_version(state["versions"], message["id"], event.get("version")),
        "stream": {"message": message, "chunks": []},
    }


def _stream_delta(state: State, event: Mapping[str, Any]) -> State:
    chunk, stream = event["chunk"], state["stream"]
    if chunk["type"] == CONTEXT:
        return {"context": chunk["data"]}
    return {"stream": {**stream, "chunks": MergedChunks((*stream["chunks"], chunk)).chunks}}


def _stream_finished(state: State, event: Mapping[str, Any]) -> State:
    return {"messages": shown(state), "stream": None}


def _message_added(state: State, event: Mapping[str, Any]) -> State:
    message, after = event["message"], event["after"]
    others = _without(state["messages"], message["id"])
    ids = [other["id"] for other in others]
    place = ids.index(after) + 1 if after in ids else (0 if after is None else len(ids))
    return {
        "messages": [*others[:place], message, *others[place:]],
        "versions": _with_version(state["versions"], message["id"], event.get("version")),
    }


def _message_updated(state: State, event: Mapping[str, Any]) -> State:
    new = event["message"]
    return {"messages": [new if old["id"] == new["id"] else old for old in state["messages"]]}


def _message_removed(state: State, event: Mapping[str, Any]) -> State:
    identity = event["message_id"]
    return {
        "messages": _without(state["messages"], identity),
        "versions": _with_version(state["versions"], identity, None),
    }


def _messages_truncated(state: State, event: Mapping[str, Any]) -> State:
    after = event["after"]
    if after is None:
        return {"messages": [], "versions": {}, "has_more": False}
    ids = [message["id"] for message in state["messages"]]
    kept = state["messages"][: ids.index(after) + 1] if after in ids else []
    known = {message["id"] for message in kept}
    versions = {name: value for name, value in state["versions"].items() if name in known}
    return {"messages": list(kept), "versions": versions}


def _thread_updated(state: State, event: Mapping[str, Any]) -> State:
    changed: dict[str, Any] = {"chat": {**state["chat"], **event["chat"]}}
    if "draft" in event:
        changed["draft"] = event["draft"]
    return changed


def _queue_updated(state: State, event: Mapping[str, Any]) -> State:
    return {"queue": event["queue"], "held": event["held"]}


def _runtime_updated(state: State, event: Mapping[str, Any]) -> State:
    return {"runtime": event["runtime"]}


def _pause_required(state: State, event: Mapping[str, Any]) -> State:
    return {}  # The calls stand in the answer, and their ids in the runtime.


def _context_compacted(state: State, event: Mapping[str, Any]) -> State:
    return {"context": event["report"]}


_FOLDS: Final[Mapping[str, Callable[[State, Mapping[str, Any]], State]]] = {
    "stream_started": _stream_started,
    "stream_delta": _stream_delta,
    "stream_finished": _stream_finished,
    "message_added": _message_added,
    "message_updated": _message_updated,
    "message_removed": _message_removed,
    "messages_truncated": _messages_truncated,
    "thread_updated": _thread_updated,
    "queue_updated": _queue_updated,
    "runtime_updated": _runtime_updated,
    "pause_required": _pause_required,
    "context_compacted": _context_compacted,
}
EVENT_TYPES: Final = frozenset((*_FOLDS, "snapshot"))


def _without(messages: Sequence[Mapping[str, Any]], identity: str) -> list[Any]:
    return [message for message in messages if message["id"] != identity]


def _with_version(versions: State, identity: str, version: Mapping[str, Any] | None) -> State:
    """A message with only one version has no entry."""
    others = {name: value for name, value in versions.items() if name != identity}
    return others if version is None else {**others, identity: version}
