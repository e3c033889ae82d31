"""Applies a batch of operations to a workflow or an API prompt: all of them, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...garbage import without_collecting
from ..graph import ROOT
from ..node_definitions import NodeDefinitions
from ..parts import BYPASSED, MUTED, RUN, Node
from .draft import Draft, Unsettled
from .joining import connect, disconnect
from .laying import arrange, group, move, place, ungroup, unwrap, wrap
from .lookup import Lookup
from .making import add, insert, remove
from .operations import (
    Add,
    Arrange,
    Connect,
    Disconnect,
    Group,
    Insert,
    Move,
    Operation,
    Remove,
    Replace,
    SetMode,
    SetTitle,
    SetValues,
    Ungroup,
    Unwrap,
    Wrap,
)
from .reading import read_operations
from .refused import EditRefused
from .replacing import replace
from .values import set_values

MODES: Final = {"run": RUN, "mute": MUTED, "bypass": BYPASSED}


@dataclass(frozen=True)
class Applied:
    """A workflow with the batch applied. `content` shares nothing with what was given."""

    content: dict[str, Any]
    """The JSON in the format that was given: UI workflow or API prompt."""
    ids: Mapping[str, str]
    """For each `id` that the batch gave a new node its real address."""
    touched: frozenset[str]
    """The addresses, after the batch, of the nodes that it made, changed or read."""
    removed: tuple[str, ...]
    """The nodes that the batch took away and did not make itself, by the addresses that they had
    then: those in a subgraph, too, where its last instance went."""
    instances: int | None
    """How many instances of shared subgraphs changed by an edit of what is in them; else None."""
    base: Mapping[str, Mapping[str, Any]]
    """`{address: {"type", "mode", "values": {widget: value}, "links": {input: "8.LATENT"}}}` of the
    nodes that the batch read or wrote, by the addresses and with the state from before it."""


def apply(content: Mapping[str, Any], operations: object, definitions: NodeDefinitions) -> Applied:
    """The workflow after the operations (see `read_operations` for their form), in order.

    `content` is the decoded JSON of a UI workflow or an API prompt, and is not changed. Raises
    `EditRefused`, and `NotAWorkflow` where the content is none.
    """
    listed = read_operations(operations)
    unsettled: list[str] = []
    while True:
        try:
            with without_collecting():
                return _applied(Draft(content, definitions, unsettled), listed)
        except Unsettled as found:
            if found.key in unsettled:
                raise
            unsettled.append(found.key)


def _applied(draft: Draft, operations: tuple[Operation, ...]) -> Applied:
    for operation in operations:
        try:
            carry_out(draft, operation)
            draft.write()
        except EditRefused as refused:
            refused.operation = operation.number
            raise
    place(draft)
    return applied(draft)


def applied(draft: Draft) -> Applied:
    """What a draft has become."""
    instances = [draft.instances(key) for key in draft.changed_scopes if key != ROOT]
    several = [count for count in instances if count > 1]
    return Applied(
        content=draft.content,
        ids={
            name: draft.addresses(*key)
            for name, key in draft.names.items()
            if _is_there(draft, key)
        },
        touched=frozenset(draft.addresses(*key) for key in draft.touched if _is_there(draft, key)),
        removed=tuple(draft.removed),
        instances=max(several, default=None),
        base={
            entry["address"]: {key: value for key, value in entry.items() if key != "address"}
            for entry in draft.base.values()
        },
    )


def _is_there(draft: Draft, key: tuple[str, str]) -> bool:
    scope = draft.live.root if key[0] == ROOT else draft.live.subgraphs.get(key[0])
    return scope is not None and key[1] in scope.nodes


def carry_out(draft: Draft, operation: Operation) -> None:
    """Carry one operation out. Raises `EditRefused`; the draft is of no use then."""
    lookup = Lookup(draft, operation.number)
    _ACTS[type(operation)](draft, operation, lookup)


def _set(draft: Draft, operation: SetValues, lookup: Lookup) -> None:
    set_values(draft, lookup.node(operation.node), operation.values, operation.number)


def _title(draft: Draft, operation: SetTitle, lookup: Lookup) -> None:
    spot = lookup.node(operation.node)
    draft.touch(spot.scope, spot.node)
    draft.changed(spot.scope)
    raw = draft.raw_node(spot.node)
    title = operation.title.strip()
    if draft.is_prompt:
        meta = raw.get("_meta")
        raw["_meta"] = {**(meta if isinstance(meta, dict) else {}), "title": title}
    elif title:
        raw["title"] = title
    else:
        raw.pop("title", None)
    spot.node.node = type(spot.node.node)(spot.node.id, raw)


def _mode(draft: Draft, operation: SetMode, lookup: Lookup) -> None:
    spot = lookup.node(operation.node)
    if draft.is_prompt:
        if operation.mode == "run":
            return
        message = "An API prompt has no modes. Remove the node, with bridge where it passes on."
        raise lookup.refused("not_possible", message)
    draft.touch(spot.scope, spot.node)
    draft.changed(spot.scope)
    raw = draft.raw_node(spot.node)
    raw["mode"] = MODES[operation.mode]
    spot.node.node = Node(spot.node.id, raw)


_ACTS: Final[Mapping[type[Operation], Callable[[Draft, Any, Lookup], object]]] = {
    Add: add,
    Remove: remove,
    Replace: replace,
    Insert: insert,
    Connect: lambda draft, one, lookup: connect(draft, one.source, one.target, lookup),
    Disconnect: lambda draft, one, lookup: disconnect(draft, one.target, lookup),
    SetValues: _set,
    SetTitle: _title,
    SetMode: _mode,
    Move: move,
    Arrange: arrange,
    Group: group,
    Ungroup: ungroup,
    Wrap: wrap,
    Unwrap: unwrap,
}
